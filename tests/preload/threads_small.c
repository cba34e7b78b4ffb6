/* SPDX-License-Identifier: MIT */
/* Trap: 200 threads that malloc 100 bytes each must not cost 200 large pages. Prints resident
 * memory. */
#define _GNU_SOURCE
#include "victim.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 200

static pthread_barrier_t barrier;

static void *one(void *arg)
{
	char *p = malloc(100);

	v_fill(p, 1, 100);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	v_wrong_if(!v_holds(p, 100, 1), "contents");
	free(p);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (size_t i = 0; i < THREADS; i++)
		v_wrong_if(pthread_create(&thread[i], NULL, one, NULL) != 0, "pthread_create");
	pthread_barrier_wait(&barrier);
	/* Time for khugepaged to fill what was advised without need. */
	sleep((unsigned)v_arg(argc, argv, "sleep", 0));
	v_figure("VmRSS", v_status_kb("VmRSS"));
	v_figure("AnonHugePages", v_rollup_kb("AnonHugePages"));
	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	v_ok(true, "%d threads", THREADS);
	return v_done();
}
