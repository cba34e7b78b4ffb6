/* SPDX-License-Identifier: MIT */
/*
 * How much of a program's memory is on large pages: --threads N threads and the main thread malloc
 * --per-thread MB each in blocks below 2K, then --big MB are malloc'ed in blocks of 64 MB; all is
 * touched.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <pthread.h>
#include <stdlib.h>

#define BIG_BLOCK (64 * V_MIB)

static size_t per_thread;
static pthread_barrier_t full, checked;

static void *fill(void *arg)
{
	size_t i = 0, bad = 0, done = 0, most = per_thread / 64;
	void **held = v_map(most * sizeof(*held));

	for (; done < per_thread && i < most; i++) {
		size_t n = 100 + (i * 7919) % 1900;

		held[i] = malloc(n);
		v_stamp(held[i], n, i);
		done += n;
	}
	pthread_barrier_wait(&full);
	pthread_barrier_wait(&checked);
	while (i-- > 0) {
		size_t n = 100 + (i * 7919) % 1900;

		bad += !v_stamped(held[i], n, i);
		free(held[i]);
	}
	v_wrong_if(bad, "%zu small blocks changed", bad);
	return arg;
}

static void *watch(void *arg)
{
	size_t count = *(size_t *)arg;
	void *block[256];

	for (size_t i = 0; i < count; i++) {
		block[i] = malloc(BIG_BLOCK);
		v_stamp(block[i], BIG_BLOCK, i);
	}
	pthread_barrier_wait(&full);
	v_figure("Anonymous", v_rollup_kb("Anonymous"));
	v_figure("AnonHugePages", v_rollup_kb("AnonHugePages"));
	v_figure("HugetlbPages", v_status_kb("HugetlbPages"));
	pthread_barrier_wait(&checked);
	for (size_t i = 0; i < count; i++) {
		v_wrong_if(!v_stamped(block[i], BIG_BLOCK, i), "large block %zu changed", i);
		free(block[i]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	size_t threads = (size_t)v_arg(argc, argv, "threads", 8);
	size_t big = (size_t)v_arg(argc, argv, "big", 1024) * V_MIB / BIG_BLOCK;
	pthread_t thread[256];

	per_thread = (size_t)v_arg(argc, argv, "per-thread", 200) * V_MIB;
	if (threads > 255 || big > 256)
		return 2;
	pthread_barrier_init(&full, NULL, (unsigned)threads + 2);
	pthread_barrier_init(&checked, NULL, (unsigned)threads + 2);
	for (size_t i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, fill, NULL);
	pthread_create(&thread[threads], NULL, watch, &big);
	fill(NULL);
	for (size_t i = 0; i <= threads; i++)
		pthread_join(thread[i], NULL);
	v_ok(true, "%zu threads", threads);
	return v_done();
}
