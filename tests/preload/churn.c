/* SPDX-License-Identifier: MIT */
/* Trap: threads that malloc and free growing sizes, through mmap and through arenas, and
 * realloc them. */
#define _GNU_SOURCE
#include "victim.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#define SLOTS 24

static size_t rounds = 150;

static void *churn(void *arg)
{
	struct {
		char *p;
		size_t n;
		uint64_t seed;
	} slot[SLOTS] = { 0 };
	unsigned random = (unsigned)(uintptr_t)arg * 77 + 1;

	for (size_t i = 0; i < rounds; i++) {
		size_t k = (random = random * 1103515245 + 12345) / 65536 % SLOTS;
		size_t n = 1000 + i * (random / 65536 % 9000);
		size_t less = n < slot[k].n ? n : slot[k].n;

		v_wrong_if(!v_stamped(slot[k].p, slot[k].n, slot[k].seed), "contents, round %zu",
			   i);
		if (random & (1 << 20)) {
			slot[k].p = realloc(slot[k].p, n);
			v_wrong_if(!v_stamped(slot[k].p, less, slot[k].seed), "realloc, round %zu",
				   i);
		} else {
			free(slot[k].p);
			slot[k].p = i % 2 ? calloc(1, n) : malloc(n);
			v_wrong_if(i % 2 && !v_holds(slot[k].p, n, 0), "calloc, round %zu", i);
		}
		slot[k].n = n;
		slot[k].seed = i;
		v_stamp(slot[k].p, n, i);
	}
	for (size_t k = 0; k < SLOTS; k++) {
		v_wrong_if(!v_stamped(slot[k].p, slot[k].n, slot[k].seed), "contents at last");
		free(slot[k].p);
	}
	return NULL;
}

static void in_threads(const char *name)
{
	pthread_t thread[4];

	for (size_t i = 0; i < V_COUNT(thread); i++)
		pthread_create(&thread[i], NULL, churn, (void *)i);
	for (size_t i = 0; i < V_COUNT(thread); i++)
		pthread_join(thread[i], NULL);
	v_ok(true, "%s", name);
}

int main(int argc, char **argv)
{
	rounds = (size_t)v_arg(argc, argv, "rounds", 150);
	in_threads("threshold as it moves");
	mallopt(M_MMAP_THRESHOLD, 64 << 10);
	in_threads("all large blocks through mmap");
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	in_threads("all through arenas");
	return v_done();
}
