/* SPDX-License-Identifier: MIT */
/*
 * Trap: under mlockall(MCL_FUTURE) every page of a map is resident at once, so memory taken ahead
 * costs real memory. Prints what is locked and resident after malloc and mmap grew.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *grow(void *arg)
{
	static void *held[2][8000];
	size_t which = (size_t)arg;

	for (size_t i = 0; i < V_COUNT(held[0]); i++) {
		held[which][i] = malloc(1500);
		v_wrong_if(!held[which][i], "malloc failed");
		v_stamp(held[which][i], 1500, i);
	}
	for (size_t i = 0; i < V_COUNT(held[0]); i++)
		v_wrong_if(!v_stamped(held[which][i], 1500, i), "contents");
	return NULL;
}

static void maps(void)
{
	static const size_t size[] = { 2097152, 3000000, 5004096, 8388608, 1048576 };

	for (size_t i = 0; i < 4 * V_COUNT(size); i++) {
		char *p = v_map(size[i % V_COUNT(size)]);

		v_wrong_if(!p || p[size[i % V_COUNT(size)] - 1], "map");
	}
}

int main(int argc, char **argv)
{
	bool late = argc > 1 && strcmp(argv[1], "late") == 0;
	pthread_t thread;

	/* "late": the heap has grown, and perhaps run ahead, before. */
	if (late)
		grow((void *)0);
	v_outcome("mlockall", mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
	pthread_create(&thread, NULL, grow, (void *)1);
	pthread_join(thread, NULL);
	if (!late)
		grow((void *)0);
	maps();
	v_figure("VmLck", v_status_kb("VmLck"));
	v_figure("VmRSS", v_status_kb("VmRSS"));
	v_ok(true, "grew while locked");
	v_outcome("munlockall", munlockall() == 0);
	maps();
	return v_done();
}
