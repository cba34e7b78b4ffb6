/* SPDX-License-Identifier: MIT */
/*
 * Trap: a program that protects page-aligned blocks of its own inside a growing thread arena. An
 * mprotect taken for malloc's own growth, and answered without a system call, would leave the
 * block unprotected.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ROUNDS 1200
#define KEPT   256

static void protect_one(char *block, size_t n, int prot, uint64_t seed)
{
	void *at = NULL;
	char *spot = block + n / 2;

	v_stamp(block, n, seed);
	v_wrong_if(mprotect(block, n, prot) != 0, "mprotect failed");
	v_wrong_if(v_fault(spot, true, &at) != SIGSEGV || at != spot,
		   "a write did not fault there");
	v_wrong_if(v_fault(spot, false, NULL) != (prot == PROT_NONE ? SIGSEGV : 0), "a read");
	v_wrong_if(mprotect(block, n, PROT_READ | PROT_WRITE) != 0, "mprotect back failed");
	v_wrong_if(v_fault(spot, true, NULL) != 0, "a write faults after mprotect back");
	v_wrong_if(!v_stamped(block, n, seed), "contents lost by mprotect");
}

/* The last page that malloc handed out lies next to the arena's top. */
static void *grow_and_protect(void *arg)
{
	static _Thread_local void *kept[KEPT];
	size_t page = V_PAGE;
	(void)arg;

	for (size_t i = 0; i < ROUNDS; i++) {
		size_t n = page * (1 + i % 5);
		void *block = NULL, *small = malloc(3000 + 40 * (i % 400));

		v_wrong_if(posix_memalign(&block, page, n) != 0, "posix_memalign failed");
		protect_one(block, n, i % 2 ? PROT_NONE : PROT_READ, i);
		free(kept[i % KEPT]);
		kept[i % KEPT] = block;
		if (i % 3)
			free(small);
	}
	for (size_t i = 0; i < KEPT; i++)
		free(kept[i]);
	return NULL;
}

/* Left protected while the arena grows on past it. */
static void *grow_around(void *arg)
{
	char *guard[64];
	void *block = NULL, *filler;
	size_t page = V_PAGE;
	(void)arg;

	for (size_t i = 0; i < V_COUNT(guard); i++) {
		posix_memalign(&block, page, page);
		guard[i] = block;
		v_wrong_if(mprotect(guard[i], page, PROT_NONE) != 0, "mprotect failed");
		for (size_t k = 0; k < 100; k++) {
			filler = malloc(1900);
			v_stamp(filler, 1900, k);
		}
	}
	for (size_t i = 0; i < V_COUNT(guard); i++) {
		v_wrong_if(v_fault(guard[i], true, NULL) != SIGSEGV, "guard %zu is open", i);
		mprotect(guard[i], page, PROT_READ | PROT_WRITE);
		free(guard[i]);
	}
	return NULL;
}

static void in_threads(const char *name, void *(*work)(void *))
{
	pthread_t thread[4];

	for (size_t i = 0; i < V_COUNT(thread); i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (size_t i = 0; i < V_COUNT(thread); i++)
		pthread_join(thread[i], NULL);
	v_ok(true, "%s", name);
}

int main(void)
{
	in_threads("blocks protected and opened again in growing arenas", grow_and_protect);
	in_threads("blocks that stay protected while the arena grows", grow_around);
	grow_and_protect(NULL);
	grow_around(NULL);
	v_ok(true, "the same in the main arena");
	return v_done();
}
