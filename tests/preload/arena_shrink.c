/* SPDX-License-Identifier: MIT */
/*
 * Trap: thread arenas that shrink. glibc gives memory back by MADV_DONTNEED or, where it believes
 * overcommit_memory is 2 (or runs secure), by a PROT_NONE map over the heap's end; growth after
 * that must be read-write again and zero.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#define BLOCK 1800
#define MOST  45000

static void fill(void **held, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		held[i] = malloc(BLOCK);
		if (v_wrong_if(!held[i], "malloc failed"))
			return;
		v_stamp(held[i], BLOCK, i);
	}
}

static void empty(void **held, size_t n, size_t keep)
{
	for (size_t i = 0; i < n; i++)
		v_wrong_if(!v_stamped(held[i], BLOCK, i), "block %zu lost its contents", i);
	for (size_t i = n; i-- > keep;)
		free(held[i]);
}

static void fresh(void)
{
	void *block[40];

	for (size_t i = 0; i < V_COUNT(block); i++) {
		size_t n = 1000 + 2500 * i;

		block[i] = calloc(1, n);
		v_wrong_if(!block[i] || !v_holds(block[i], n, 0), "calloc(%zu) is not zero", n);
		v_fill(block[i], 0xaa, n);
	}
	for (size_t i = 0; i < V_COUNT(block); i++)
		free(block[i]);
}

static void *grow_and_shrink(void *arg)
{
	static const size_t step[] = { MOST, 500, 12000, 2000, 21000, 1200 };
	void **held = v_map(MOST * sizeof(*held));
	(void)arg;

	for (size_t i = 0; i < V_COUNT(step); i++) {
		size_t keep = step[i] / 10;

		fill(held, step[i]);
		empty(held, step[i], keep);
		malloc_trim(0);
		fresh();
		for (size_t k = 0; k < keep; k++)
			v_wrong_if(!v_stamped(held[k], BLOCK, k), "kept block %zu changed", k);
		empty(held, keep, 0);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[2];

	mallopt(M_TRIM_THRESHOLD, 64 << 10);
	for (size_t i = 0; i < V_COUNT(thread); i++)
		pthread_create(&thread[i], NULL, grow_and_shrink, NULL);
	for (size_t i = 0; i < V_COUNT(thread); i++)
		pthread_join(thread[i], NULL);
	v_ok(true, "arenas grew and shrank");
	grow_and_shrink(NULL);
	v_ok(true, "the main arena grew and shrank");
	return v_done();
}
