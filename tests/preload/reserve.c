/* SPDX-License-Identifier: MIT */
/*
 * Trap: a run time that reserves address space PROT_NONE, commits parts of it by mprotect or
 * MAP_FIXED and gives them back: JVM, V8, jemalloc. Also one that over-reserves, trims to an
 * alignment, and keeps the rest.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RW       (PROT_READ | PROT_WRITE)
#define RESERVED (512 * V_MIB)
#define CHUNK    (V_MIB + 3 * V_PAGE)
#define CHUNKS   100

enum state { NONE, IN, OUT };

static char *base;
static enum state state[CHUNKS];

static bool commit(size_t i, bool by_map)
{
	char *at = base + i * CHUNK;
	bool good;

	if (by_map)
		good = mmap(at, CHUNK, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at;
	else
		good = mprotect(at, CHUNK, RW) == 0;
	/* A chunk that was only protected away keeps its contents; all others are zero. */
	good &= state[i] == OUT && !by_map ? v_stamped(at, CHUNK, i) : v_holds(at, CHUNK, 0);
	v_stamp(at, CHUNK, i);
	state[i] = IN;
	return good;
}

static bool release(size_t i, unsigned how)
{
	char *at = base + i * CHUNK;
	bool good = v_stamped(at, CHUNK, i);

	switch (how % 3) {
	case 0: /* gone: reserved anew */
		good &= mmap(at, CHUNK, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == at;
		state[i] = NONE;
		break;
	case 1: /* dropped, then closed */
		good &= madvise(at, CHUNK, MADV_DONTNEED) == 0 &&
			mprotect(at, CHUNK, PROT_NONE) == 0;
		state[i] = NONE;
		break;
	default: /* closed only */
		good &= mprotect(at, CHUNK, PROT_NONE) == 0;
		state[i] = OUT;
	}
	return good && v_fault(at + CHUNK / 2, true, NULL) == SIGSEGV;
}

static void reservation(int flags)
{
	unsigned random = 12345;
	bool good = true;

	memset(state, 0, sizeof(state));
	base = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
	v_ok(base != MAP_FAILED, "reserved");
	for (int step = 0; step < 400; step++) {
		size_t i = (random = random * 1103515245 + 12345) / 65536 % CHUNKS;

		if (state[i] != IN)
			good &= commit(i, random & 32768);
		else
			good &= release(i, random >> 20);
	}
	for (size_t i = 0; i < CHUNKS; i++)
		if (state[i] == IN)
			good &= v_stamped(base + i * CHUNK, CHUNK, i);
	v_ok(good, "400 commits and releases");
	v_ok(munmap(base, RESERVED) == 0, "given back");
}

static void aligned_by_trimming(void)
{
	static char *kept[30];
	size_t n = 4 * V_MIB;
	bool good = true;

	for (size_t i = 0; i < V_COUNT(kept); i++) {
		char *p = v_map(2 * n), *at = (char *)(((uintptr_t)p + n - 1) & ~(n - 1));

		if (at > p)
			good &= munmap(p, (size_t)(at - p)) == 0;
		good &= munmap(at + n, (size_t)(p + n - at)) == 0;
		v_stamp(at, n, i);
		kept[i] = at;
	}
	for (size_t i = 0; i < V_COUNT(kept); i++) {
		good &= v_stamped(kept[i], n, i);
		good &= munmap(kept[i], n) == 0;
	}
	v_ok(good, "30 chunks aligned by trimming");
}

int main(void)
{
	reservation(MAP_NORESERVE);
	reservation(0);
	aligned_by_trimming();
	return v_done();
}
