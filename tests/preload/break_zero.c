/* SPDX-License-Identifier: MIT */
/*
 * Trap: calloc trusts memory that the break has just given to be zero. When the break falls and
 * grows back, nothing of what was there may be seen again.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 20
#define SMALL  8000
#define FRESH  44

static void *held[SMALL];

static void dirty_heap(size_t size)
{
	for (size_t i = 0; i < SMALL; i++) {
		held[i] = malloc(size);
		v_fill(held[i], 0xaa, size);
	}
	for (size_t i = 0; i < SMALL; i++)
		free(held[i]);
}

static void calloc_is_zero(int round, size_t first)
{
	void *block[FRESH];
	size_t size = first;

	for (size_t i = 0; i < FRESH; i++) {
		block[i] = calloc(1, size);
		v_wrong_if(!block[i] || !v_holds(block[i], size, 0),
			   "round %d: calloc(%zu) is not zero", round, size);
		v_fill(block[i], 0xaa, size);
		size += size / 9 + 8;
	}
	for (size_t i = 0; i < FRESH; i++)
		free(block[i]);
}

static void trim_then_calloc(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		dirty_heap(500 + 37 * (size_t)round);
		malloc_trim(0);
		calloc_is_zero(round, 24);
		malloc_trim((size_t)round * 100000);
		calloc_is_zero(round, 5000);
	}
	v_ok(true, "calloc after malloc_trim, %d rounds", ROUNDS);
}

static void sbrk_is_zero(size_t whole, size_t back)
{
	char *start, *low;

	sbrk((char *)v_page_up(sbrk(0)) - (char *)sbrk(0));
	start = sbrk((intptr_t)whole);
	v_wrong_if(start == (void *)-1 || !v_holds(start, whole, 0), "fresh sbrk(%zu) is not zero",
		   whole);
	v_fill(start, 0xaa, whole);
	sbrk(-(intptr_t)back);
	low = sbrk((intptr_t)back);
	v_wrong_if(low != start + whole - back, "sbrk gave back another address");
	v_wrong_if(!v_holds(start, whole - back, 0xaa), "sbrk(-%zu) lost what lies below", back);
	v_wrong_if(!v_holds(low, back, 0), "sbrk(-%zu), sbrk(+%zu) is not zero", back, back);
	sbrk(-(intptr_t)whole);
}

int main(void)
{
	static const size_t size[][2] = { { 5, 4 }, { 1, 1 }, { 6, 6 }, { 9, 2 }, { 3, 1 } };

	/* The dynamic threshold would send the larger blocks to mmap. */
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 128 << 10);
	trim_then_calloc();
	for (int round = 0; round < ROUNDS / 2; round++)
		for (size_t i = 0; i < V_COUNT(size); i++)
			sbrk_is_zero(size[i][0] * V_MIB + V_PAGE * (size_t)round,
				     size[i][1] * V_MIB + V_PAGE * (size_t)(round / 2));
	v_ok(true, "sbrk down and up, %d rounds", ROUNDS / 2);
	trim_then_calloc();
	return v_done();
}
