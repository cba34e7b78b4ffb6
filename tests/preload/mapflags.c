/* SPDX-License-Identifier: MIT */
/* Trap: every kind of mmap, odd lengths, and exact errors. */
#define _GNU_SOURCE
#include "victim.h"

#ifndef MAP_32BIT
#define MAP_32BIT 0 /* x86-64 alone has it */
#endif

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RW      (PROT_READ | PROT_WRITE)
#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)

struct kind {
	const char *name;
	int prot, flags;
};

static const struct kind kinds[] = {
	{ "private", RW, PRIVATE },
	{ "shared", RW, MAP_SHARED | MAP_ANONYMOUS },
	{ "noreserve", RW, PRIVATE | MAP_NORESERVE },
	{ "populate", RW, PRIVATE | MAP_POPULATE },
	{ "locked", RW, PRIVATE | MAP_LOCKED },
	{ "stack", RW, PRIVATE | MAP_STACK },
	{ "growsdown", RW, PRIVATE | MAP_GROWSDOWN },
	{ "exec", RW | PROT_EXEC, PRIVATE },
	{ "32bit", RW, PRIVATE | MAP_32BIT },
	{ "read", PROT_READ, PRIVATE },
	{ "none", PROT_NONE, PRIVATE },
	{ "none noreserve", PROT_NONE, PRIVATE | MAP_NORESERVE },
};

static const size_t lengths[] = { 1,       4095,    4096,    1048585,  1990656,
				  2097152, 2097153, 4194304, 10000000, 20000000 };

static void one(const struct kind *kind, size_t n)
{
	char *p = mmap(NULL, n, kind->prot, kind->flags, -1, 0);
	size_t whole = (size_t)((char *)v_page_up((char *)0 + n) - (char *)0);

	if (v_wrong_if(p == MAP_FAILED, "%s %zu: not mapped", kind->name, n))
		return;
	v_wrong_if((uintptr_t)p % V_PAGE, "%s %zu: not aligned", kind->name, n);
	v_wrong_if((kind->flags & MAP_32BIT) && (uintptr_t)p + n > (uintptr_t)1 << 32,
		   "not in 32 bits");
	if (kind->prot & PROT_WRITE) {
		v_wrong_if(!v_holds(p, whole, 0), "%s %zu: not zero", kind->name, n);
		v_stamp(p, whole, n);
		v_wrong_if(!v_stamped(p, whole, n), "%s %zu: contents", kind->name, n);
	} else {
		v_wrong_if(v_fault(p + n - 1, true, NULL) == 0, "%s %zu: writable", kind->name, n);
		v_wrong_if(!v_fault(p, false, NULL) != !!kind->prot, "%s %zu: readable", kind->name,
			   n);
	}
	v_wrong_if(munmap(p, n) != 0, "%s %zu: munmap", kind->name, n);
	v_wrong_if(v_fault(p + n - 1, false, NULL) == 0, "%s %zu: still mapped", kind->name, n);
}

static bool maps(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	void *p = mmap(at, n, prot, flags, fd, offset);

	if (p != MAP_FAILED)
		munmap(p, n);
	return p != MAP_FAILED;
}

static void errors(void)
{
	char *p = v_map(4 * V_MIB);

	v_outcome("length 0", maps(NULL, 0, RW, PRIVATE, -1, 0));
	v_outcome("length 1<<62", maps(NULL, (size_t)1 << 62, RW, PRIVATE, -1, 0));
	v_outcome("length -1", maps(NULL, (size_t)-1, RW, PRIVATE, -1, 0));
	v_outcome("length -4096", maps(NULL, (size_t)-4096, RW, PRIVATE, -1, 0));
	v_outcome("length 128T", maps(NULL, (size_t)1 << 47, RW, PRIVATE | MAP_NORESERVE, -1, 0));
	v_outcome("fixed unaligned", maps(p + 100, V_PAGE, RW, PRIVATE | MAP_FIXED, -1, 0));
	v_outcome("fixed at 0", maps(NULL, V_PAGE, RW, PRIVATE | MAP_FIXED_NOREPLACE, -1, 0));
	v_outcome("fixed too high", maps((void *)-V_PAGE, V_PAGE, RW, PRIVATE | MAP_FIXED, -1, 0));
	v_outcome("no type", maps(NULL, 4 * V_MIB, RW, MAP_ANONYMOUS, -1, 0));
	v_outcome("bad fd", maps(NULL, 4 * V_MIB, RW, MAP_PRIVATE, -1, 0));
	v_outcome("offset unaligned", maps(NULL, 4 * V_MIB, RW, MAP_PRIVATE, 0, 100));
	v_outcome("anonymous with offset", maps(NULL, 4 * V_MIB, RW, PRIVATE, -1, 4096));
	v_outcome("anonymous with fd", maps(NULL, 4 * V_MIB, RW, PRIVATE, 0, 0));
	v_outcome("strange prot", maps(NULL, 4 * V_MIB, RW | 0x40000000, PRIVATE, -1, 0));
	v_outcome("strange flags", maps(NULL, 4 * V_MIB, RW, PRIVATE | 0x10000000, -1, 0));
	v_outcome("munmap unaligned", munmap(p + 1, V_PAGE) == 0);
	v_outcome("munmap length 0", munmap(p, 0) == 0);
	v_outcome("munmap huge", munmap(p, (size_t)1 << 63) == 0);
	v_outcome("munmap wraps", munmap(p, (size_t)-4096) == 0);
	v_outcome("munmap of nothing", munmap((void *)V_MIB, V_PAGE) == 0);
	v_outcome("mprotect unaligned", mprotect(p + 1, V_PAGE, PROT_READ) == 0);
	v_outcome("mprotect length 0", mprotect(p, 0, PROT_NONE) == 0);
	v_outcome("mprotect of nothing", mprotect((void *)V_MIB, V_PAGE, PROT_READ) == 0);
	v_outcome("mprotect strange", mprotect(p, V_PAGE, 0x40000000) == 0);
	v_outcome("madvise length 0", madvise(p, 0, MADV_DONTNEED) == 0);
	v_outcome("madvise of nothing", madvise((void *)V_MIB, V_PAGE, MADV_DONTNEED) == 0);
	v_outcome("munmap", munmap(p, 4 * V_MIB) == 0);
}

/* A hint in free memory is followed, 4K-aligned as it is; one in the way of something is not. */
static void hints(void)
{
	char *p = v_map(64 * V_MIB), *at = p + 3 * V_MIB + 5 * V_PAGE, *got;

	munmap(p + V_MIB, 62 * V_MIB);
	got = mmap(at, 5 * V_MIB, RW, PRIVATE, -1, 0);
	v_ok(got == at, "a hint in a hole is followed");
	got = mmap(at + V_MIB, 5 * V_MIB, RW, PRIVATE, -1, 0);
	v_ok(got != MAP_FAILED && (got + 5 * V_MIB <= at || got >= at + 5 * V_MIB),
	     "one on a map is not");
	munmap(p, 64 * V_MIB);
}

/* Files are never touched. */
static void files(void)
{
	int fd = memfd_create("victim", MFD_CLOEXEC),
	    exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *a, *b;

	v_wrong_if(ftruncate(fd, 8 << 20) != 0, "ftruncate");
	a = mmap(NULL, 8 * V_MIB, RW, MAP_SHARED, fd, 0);
	b = mmap(NULL, 4 * V_MIB, RW, MAP_PRIVATE, fd, 4 << 20);
	v_stamp(a, 8 * V_MIB, 4);
	v_ok(((uint64_t *)b)[1] == ((uint64_t *)(a + 4 * V_MIB))[1],
	     "private file map sees the file");
	b[0] ^= 1;
	v_ok(v_stamped(a, 8 * V_MIB, 4), "and does not change it");
	v_ok(mmap(NULL, 4 * V_MIB, PROT_READ, MAP_PRIVATE, exe, 0) != MAP_FAILED, "executable");
	munmap(a, 8 * V_MIB);
	munmap(b, 4 * V_MIB);
	close(fd);
	close(exe);
}

int main(void)
{
	for (size_t i = 0; i < V_COUNT(kinds); i++) {
		for (size_t k = 0; k < V_COUNT(lengths); k++)
			one(&kinds[i], lengths[k]);
		v_ok(true, "%s", kinds[i].name);
	}
	errors();
	one(&kinds[0], 109734912);
	one(&kinds[0], 128180224);
	one(&kinds[0], 277853184);
	v_ok(true, "large odd lengths");
	hints();
	files();
	return v_done();
}
