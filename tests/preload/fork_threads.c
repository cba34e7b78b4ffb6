/* SPDX-License-Identifier: MIT */
/*
 * Trap: fork while other threads map and malloc: a lock of ours held at that moment would hang
 * the child, and a registry caught half-way would mislead it.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS 200

static atomic_bool stop;
static char *inherited;

static void *busy(void *arg)
{
	size_t seed = (size_t)arg;

	for (size_t i = 0; !stop; i++) {
		size_t n = (i * 7919 + seed) % 5 * V_MIB + 4096;
		char *map = v_map(n), *block = malloc(n / 3 + 100), *small = malloc(i % 3000);

		if (v_wrong_if(!map || !block || !small, "no memory"))
			break;
		map[0] = map[n - 1] = block[0] = 1;
		munmap(map, n);
		free(block);
		free(small);
	}
	return NULL;
}

static int child(int round)
{
	size_t n = 256 * V_KIB;
	char *map = v_map(5 * V_MIB), *block = malloc(5 * V_MIB), *small;
	bool good = map && block && v_stamped(inherited, 4 * V_MIB, 9);

	for (size_t i = 0; good && i < 200; i++) {
		small = malloc(2000);
		good = small != NULL;
		v_fill(small, 1, 2000);
	}
	if (good) {
		v_stamp(map, n, 1);
		v_stamp(block, n, 2);
		v_stamp(inherited, n, 3);
		good = v_stamped(map, n, 1) && v_stamped(block, n, 2) && v_stamped(inherited, n, 3);
		good &= munmap(inherited + V_PAGE, V_PAGE) == 0 && munmap(map, 5 * V_MIB) == 0;
		free(block);
	}
	/* Every tenth leaves through exit handlers, where a report would be written. */
	if (round % 10 == 0)
		exit(good ? 0 : 1);
	_exit(good ? 0 : 1);
}

int main(void)
{
	pthread_t thread[2];
	int bad = 0, status;

	v_watchdog(200);
	inherited = v_map(4 * V_MIB);
	v_stamp(inherited, 4 * V_MIB, 9);
	for (size_t i = 0; i < V_COUNT(thread); i++)
		pthread_create(&thread[i], NULL, busy, (void *)i);
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			alarm(60);
			return child(i);
		}
		bad += pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
	}
	stop = true;
	for (size_t i = 0; i < V_COUNT(thread); i++)
		pthread_join(thread[i], NULL);
	v_ok(bad == 0, "%d of %d children failed", bad, FORKS);
	v_ok(v_stamped(inherited, 4 * V_MIB, 9), "the parent's memory");
	return v_done();
}
