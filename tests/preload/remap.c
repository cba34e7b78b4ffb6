/* SPDX-License-Identifier: MIT */
/* Trap: mremap of large maps: growth, shrinking, moving, parts, fixed targets, contents and
 * faults. */
#define _GNU_SOURCE
#include "victim.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

static void grow_and_shrink(size_t from, size_t to)
{
	char *p = v_map(from), *q;
	size_t less = from < to ? from : to;

	v_stamp(p, from, from);
	q = mremap(p, from, to, MREMAP_MAYMOVE);
	if (!v_ok(q != MAP_FAILED, "mremap %zu to %zu", from, to))
		return;
	v_ok(v_stamped(q, less, from), "contents");
	if (to > from) {
		size_t rounded = (from + V_PAGE - 1) & ~(V_PAGE - 1);

		v_ok(v_holds(q + rounded, to - rounded, 0), "the new part is zero");
	} else {
		v_ok(v_fault((char *)v_page_up(q + to), false, NULL) == SIGSEGV,
		     "the rest is gone");
	}
	v_ok(munmap(q, to) == 0, "munmap");
}

static void in_place(void)
{
	size_t n = 8 * V_MIB;
	char *p = v_map(2 * n);

	v_ok(munmap(p + n, n) == 0, "room behind");
	v_ok(mremap(p, n, n + 5 * V_PAGE, 0) == p, "grows in place by 5 pages");
	v_ok(mremap(p, n + 5 * V_PAGE, n / 2 + V_PAGE, 0) == p, "shrinks in place");
	v_ok(v_fault(p + n / 2 + V_PAGE, true, NULL) == SIGSEGV, "the tail is gone");
	v_ok(v_fault(p + n / 2, true, NULL) == 0, "the rest is there");
	munmap(p, n);
	p = v_map(n);
	v_ok(mmap(p + n / 2, V_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
		     MAP_FAILED,
	     "an obstacle");
	v_outcome("mremap into the obstacle", mremap(p, n / 2, n / 2 + V_PAGE, 0) != MAP_FAILED);
	munmap(p, n);
}

static void fixed(void)
{
	size_t n = 6 * V_MIB;
	char *p = v_map(n), *target = v_map(2 * n);
	char *at = target + 7 * V_PAGE;

	v_stamp(p, n, 5);
	v_fill(target, 1, 2 * n);
	v_ok(mremap(p, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at, "moved over another map");
	v_ok(v_stamped(at, n, 5) && at[-1] == 1 && at[n] == 1, "contents");
	v_ok(v_fault(p, false, NULL) == SIGSEGV, "the old place is gone");
	v_ok(mremap(at + V_PAGE, V_PAGE, V_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target,
	     "one page moved out of the middle");
	v_ok(v_fault(at + V_PAGE, false, NULL) == SIGSEGV && v_fault(at, true, NULL) == 0,
	     "leaves a hole");
	v_ok(((uint64_t *)target)[0] == ((uint64_t *)at)[0] + V_PAGE / 8, "with its contents");
	munmap(target, 2 * n);
}

static void dont_unmap(void)
{
	size_t n = 4 * V_MIB + V_PAGE;
	char *p = v_map(n), *q;

	v_stamp(p, n, 8);
	q = mremap(p, n, n, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
	v_outcome("DONTUNMAP", q != MAP_FAILED);
	if (q == MAP_FAILED)
		return;
	v_ok(v_stamped(q, n, 8) && v_holds(p, n, 0), "the old place reads zero");
	p[0] = 1;
	v_ok(munmap(q, n) == 0 && munmap(p, n) == 0, "munmap of both");
}

static void errors(void)
{
	char *p = v_map(4 * V_MIB);

	v_outcome("unaligned old", mremap(p + 8, V_PAGE, V_PAGE, MREMAP_MAYMOVE) != MAP_FAILED);
	v_outcome("new length 0", mremap(p, V_PAGE, 0, MREMAP_MAYMOVE) != MAP_FAILED);
	v_outcome("bad flags", mremap(p, V_PAGE, V_PAGE, 64) != MAP_FAILED);
	v_outcome("fixed without maymove",
		  mremap(p, V_PAGE, V_PAGE, MREMAP_FIXED, p) != MAP_FAILED);
	v_outcome("overlap", mremap(p, 3 * V_MIB, 3 * V_MIB, MREMAP_MAYMOVE | MREMAP_FIXED,
				    p + V_MIB) != MAP_FAILED);
	v_outcome("huge", mremap(p, V_PAGE, (size_t)1 << 60, MREMAP_MAYMOVE) != MAP_FAILED);
	v_outcome("nothing there",
		  mremap((void *)V_MIB, V_PAGE, 2 * V_PAGE, MREMAP_MAYMOVE) != MAP_FAILED);
	v_outcome("private, old length 0", mremap(p, 0, V_PAGE, MREMAP_MAYMOVE) != MAP_FAILED);
	munmap(p, 4 * V_MIB);
}

/* realloc of large blocks is malloc's own mremap. */
static void by_realloc(void)
{
	static const size_t size[] = { 200000,  3000001, 70000000, 9000,
				       5000000, 5004096, 40000000, 2500000 };
	char *p = NULL;
	size_t before = 0;

	for (size_t i = 0; i < V_COUNT(size); i++) {
		p = realloc(p, size[i]);
		v_ok(p && (!i || v_stamped(p, before < size[i] ? before : size[i], i - 1)),
		     "realloc to %zu", size[i]);
		v_stamp(p, size[i], i);
		before = size[i];
	}
	free(p);
}

int main(void)
{
	static const size_t size[] = {
		4096, 1048585, 1990656, 2097152, 2097153, 8388608, 16781312
	};

	for (size_t i = 0; i < V_COUNT(size); i++)
		for (size_t k = 0; k < V_COUNT(size); k++)
			if (i != k)
				grow_and_shrink(size[i], size[k]);
	grow_and_shrink(1990656, 109734912);
	grow_and_shrink(109734912, 1048585);
	in_place();
	fixed();
	dont_unmap();
	errors();
	by_realloc();
	return v_done();
}
