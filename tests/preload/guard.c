/* SPDX-License-Identifier: MIT */
/*
 * Trap: pages inside large maps that are guarded, unmapped, dropped or replaced 4K at a time.
 * Each access must fault, or not, at exactly the addresses it did on small pages.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BIG (20 * V_MIB)

static bool faults(char *p, bool write)
{
	void *at = NULL;

	return v_fault(p, write, &at) == SIGSEGV && at == (void *)p;
}

static void guards(void)
{
	char *p = v_map(BIG);
	bool good = true;

	v_stamp(p, BIG, 1);
	for (size_t at = 0; at < BIG; at += 37 * V_PAGE)
		good &= mprotect(p + at, V_PAGE, (at / V_PAGE) % 2 ? PROT_NONE : PROT_READ) == 0;
	for (size_t at = 0; at < BIG; at += V_PAGE) {
		bool guarded = at % (37 * V_PAGE) == 0, closed = guarded && (at / V_PAGE) % 2;

		good &= faults(p + at, true) == guarded &&
			faults(p + at + V_PAGE - 1, true) == guarded;
		good &= faults(p + at, false) == closed;
	}
	v_ok(good, "guard pages at every 37th page");
	v_ok(mprotect(p, BIG, PROT_READ | PROT_WRITE) == 0 && v_stamped(p, BIG, 1), "opened again");
	v_ok(munmap(p, BIG) == 0, "munmap");
}

static void holes(void)
{
	char *p = v_map(BIG);
	bool good = true;

	v_stamp(p, BIG, 2);
	v_ok(munmap(p + 5 * V_PAGE, V_PAGE) == 0, "munmap of one page");
	v_ok(munmap(p + 3 * V_MIB + V_PAGE, 4 * V_MIB) == 0, "munmap of 4M off the large page");
	v_ok(munmap(p, V_PAGE) == 0 && munmap(p + BIG - V_PAGE, V_PAGE) == 0,
	     "munmap of both ends");
	for (size_t at = 0; at < BIG; at += V_PAGE) {
		bool gone = at == 0 || at == BIG - V_PAGE || at == 5 * V_PAGE ||
			    (at >= 3 * V_MIB + V_PAGE && at < 7 * V_MIB + V_PAGE);

		good &= faults(p + at, false) == gone;
		if (!gone)
			good &= *(uint64_t *)(p + at) == 3 * 0x9e3779b97f4a7c15u + at / 8;
	}
	v_ok(good, "the holes fault, the rest holds");
	v_outcome("mprotect over a hole", mprotect(p + 4 * V_PAGE, 4 * V_PAGE, PROT_READ) == 0);
	v_outcome("madvise over a hole", madvise(p + 4 * V_PAGE, 4 * V_PAGE, MADV_NORMAL) == 0);
	v_outcome("munmap over the holes", munmap(p, BIG) == 0);
	for (size_t at = 0; at < BIG; at += 61 * V_PAGE)
		v_wrong_if(!faults(p + at, false), "still mapped");
}

static void dropped(void)
{
	char *p = v_map(BIG);
	bool good = true;

	v_fill(p, 3, BIG);
	for (size_t at = 0; at < BIG; at += 19 * V_PAGE)
		good &= madvise(p + at, V_PAGE, MADV_DONTNEED) == 0;
	for (size_t at = 0; at < BIG; at += V_PAGE)
		good &= v_holds(p + at, V_PAGE, at % (19 * V_PAGE) ? 3 : 0);
	v_ok(good, "MADV_DONTNEED of every 19th page");
	v_ok(madvise(p + V_PAGE, 5 * V_MIB, MADV_DONTNEED) == 0, "MADV_DONTNEED of 5M");
	v_ok(v_holds(p + V_PAGE, 5 * V_MIB, 0), "which reads zero");
	v_ok(madvise(p, BIG, MADV_FREE) == 0, "MADV_FREE");
	v_fill(p, 4, BIG);
	v_ok(v_holds(p, BIG, 4), "written after MADV_FREE");
	v_outcome("MADV_HUGEPAGE", madvise(p + V_PAGE, 3 * V_MIB, MADV_HUGEPAGE) == 0);
	v_outcome("MADV_NOHUGEPAGE", madvise(p + V_PAGE, 3 * V_MIB, MADV_NOHUGEPAGE) == 0);
	v_outcome("MADV_WIPEONFORK", madvise(p, 3 * V_PAGE, MADV_WIPEONFORK) == 0);
	v_outcome("MADV_DONTDUMP", madvise(p, 3 * V_PAGE, MADV_DONTDUMP) == 0);
	v_outcome("MADV_REMOVE", madvise(p, V_PAGE, MADV_REMOVE) == 0);
	v_outcome("madvise 12345", madvise(p, V_PAGE, 12345) == 0);
	v_outcome("madvise unaligned", madvise(p + 1, V_PAGE, MADV_DONTNEED) == 0);
	v_ok(v_holds(p, BIG, 4), "advice leaves the contents");
	munmap(p, BIG);
}

/* A file over the middle, and anonymous memory over the file. */
static void replaced(void)
{
	char *p = v_map(BIG), *middle = p + 7 * V_MIB + 3 * V_PAGE;
	int fd = memfd_create("victim", MFD_CLOEXEC);
	char byte = 9;

	v_fill(p, 6, BIG);
	v_wrong_if(ftruncate(fd, 3 << 20) != 0 || pwrite(fd, &byte, 1, 5000) != 1, "memfd");
	v_ok(mmap(middle, 3 * V_MIB, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == middle,
	     "file over it");
	v_ok(middle[5000] == 9 && middle[0] == 0 && middle[-1] == 6 && middle[3 * V_MIB] == 6,
	     "contents");
	v_ok(faults(middle, true) && !faults(middle - 1, true) && !faults(middle + 3 * V_MIB, true),
	     "edges");
	v_ok(mmap(middle, V_MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		  -1, 0) == middle,
	     "anonymous over the file");
	v_ok(v_holds(middle, V_MIB, 0) && !faults(middle, true), "is fresh");
	v_outcome("NOREPLACE over it",
		  mmap(middle, V_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		       -1, 0) != MAP_FAILED);
	v_ok(munmap(p, BIG) == 0, "munmap of it all");
	v_ok(faults(middle + 2 * V_MIB, false), "the file is gone as well");
	close(fd);
}

int main(void)
{
	guards();
	holes();
	dropped();
	replaced();
	return v_done();
}
