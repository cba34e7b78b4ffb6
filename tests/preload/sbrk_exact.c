/* SPDX-License-Identifier: MIT */
/*
 * Trap: sbrk and brk as the program sees them: the old break is returned, the reported break is
 * exact, the errors are ENOMEM, a program's own bump allocator lives between malloc's pieces, and
 * a raw brk works.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *now(void)
{
	return sbrk(0);
}

static void steps(const char *name)
{
	static const intptr_t step[] = { 1,          4095,       4096,    100000, -50000,
					 3 << 20,    -(1 << 20), 5 << 20, -7,     7,
					 -(3 << 20), 2 << 20,    32,      -4096 };
	bool good = true;

	for (size_t i = 0; i < V_COUNT(step); i++) {
		char *before = now();
		char *got = sbrk(step[i]);

		good &= got == before && now() == before + step[i];
		if (good && step[i] > 0)
			v_fill(got, (int)i, (size_t)step[i]);
	}
	v_ok(good, "%s: sbrk returns the old break", name);
}

static void errors(void)
{
	char *before = now();

	errno = 0;
	v_outcome("sbrk(+1T)", sbrk((intptr_t)1 << 40) != (void *)-1);
	v_outcome("sbrk(+max)", sbrk(INTPTR_MAX) != (void *)-1);
	v_outcome("sbrk(min)", sbrk(INTPTR_MIN) != (void *)-1);
	v_outcome("sbrk(-1T)", sbrk(-((intptr_t)1 << 40)) != (void *)-1);
	v_outcome("brk(1)", brk((void *)1) == 0);
	v_outcome("brk(-1)", brk((void *)-1) == 0);
	v_ok(now() == before, "failures leave the break");
}

static void direct(void)
{
	char *before = now();

	v_ok(brk(before + 12345) == 0 && now() == before + 12345, "brk up");
	v_fill(before, 5, 12345);
	v_ok(brk(before + 9 * V_MIB) == 0 && now() == before + 9 * V_MIB, "brk up by 9M");
	v_ok(v_holds(before, 12345, 5) && v_holds(before + 12345, 9 * V_MIB - 12345, 0),
	     "contents");
	v_ok(brk(before) == 0 && now() == before, "brk down");
	v_ok(brk(before) == 0, "brk to the same place");
	v_ok(sbrk(0) == before, "sbrk(0)");
}

static void bump_allocator(void)
{
	static char *own[500], *block[500][8];
	bool good = true;

	for (size_t i = 0; i < V_COUNT(own); i++) {
		size_t n = 8 + (i * 7919) % 60000 / 8 * 8;
		char *fresh;

		own[i] = sbrk((intptr_t)n);
		if (v_wrong_if(own[i] == (void *)-1, "own piece %zu", i))
			return;
		/* The kernel clears whole pages; what is left of the last one may be old. */
		fresh = v_page_up(own[i]);
		v_wrong_if(fresh < own[i] + n && !v_holds(fresh, (size_t)(own[i] + n - fresh), 0),
			   "own piece %zu not fresh", i);
		own[i] = (char *)(((uintptr_t)own[i] + 7) & ~(uintptr_t)7);
		v_stamp(own[i], n - 8, i);
		for (size_t k = 0; k < 8; k++) {
			block[i][k] = malloc(4000 + 100 * k);
			v_stamp(block[i][k], 4000, i + k);
		}
	}
	for (size_t i = 0; i < V_COUNT(own); i++) {
		good &= v_stamped(own[i], (8 + (i * 7919) % 60000 / 8 * 8) - 8, i);
		for (size_t k = 0; k < 8; k++) {
			good &= v_stamped(block[i][k], 4000, i + k);
			free(block[i][k]);
		}
	}
	v_ok(good, "own pieces and malloc's, interleaved");
}

/* The kernel's brk behind libc's back, put back before libc looks. */
static void raw(void)
{
	static char *block[3000];
	char *before = now();
	char *above = v_page_up(before);
	bool good = true;

	good &= (char *)syscall(SYS_brk, above + V_MIB) == above + V_MIB;
	good &= v_holds(above, V_MIB, 0);
	v_fill(above, 0xaa, V_MIB);
	good &= (char *)syscall(SYS_brk, before) == before;
	v_ok(good, "raw brk up and down");
	for (size_t i = 0; i < V_COUNT(block); i++) {
		block[i] = calloc(1, 3000);
		good &= v_holds(block[i], 3000, 0);
		v_stamp(block[i], 3000, i);
		if (i % 500 == 0)
			syscall(SYS_brk, now());
	}
	for (size_t i = 0; i < V_COUNT(block); i++) {
		good &= v_stamped(block[i], 3000, i);
		free(block[i]);
	}
	v_ok(good, "malloc after a raw brk");
}

int main(int argc, char **argv)
{
	bool first = argc > 1 && strcmp(argv[1], "first") == 0;
	void *p;

	/* "first": the program's own sbrk comes before malloc has grown much; else after. */
	if (!first) {
		for (size_t i = 0; i < 4000; i++) {
			p = malloc(1500);
			v_stamp(p, 1500, i);
		}
		/* From several places between two large pages. */
		for (size_t i = 0; i < 8 && argc > 1 && strcmp(argv[1], "raw") == 0; i++) {
			raw();
			v_stamp(malloc(120000), 120000, i);
			v_stamp(malloc(120000), 120000, i);
		}
	}
	steps(first ? "first" : "after malloc");
	errors();
	direct();
	bump_allocator();
	steps("at last");
	return v_done();
}
