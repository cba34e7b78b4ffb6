/* SPDX-License-Identifier: MIT */
#include "backend/hugetlb.h"

#include <sys/mman.h>
#include <sys/shm.h>

#include "backend/hugetlbfs.h"
#include "backend/ops.h"
#include "backend/thp.h"
#include "base/sys.h"

enum { PAGE_SHIFT_AT = 26 }; /* MAP_HUGE_SHIFT, SHM_HUGE_SHIFT */

static int size_bits(uintptr_t page)
{
	return __builtin_ctzl(page) << PAGE_SHIFT_AT;
}

int pl_hugetlb_map_flags(uintptr_t page)
{
	return MAP_HUGETLB | size_bits(page);
}

int pl_hugetlb_shm_flags(uintptr_t page)
{
	return SHM_HUGETLB | size_bits(page);
}

static long map_anonymous(pl_range_t range, int prot, uintptr_t page)
{
	return pl_ops->mmap(
		range.start, pl_range_length(range), prot,
		MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | pl_hugetlb_map_flags(page), -1, 0);
}

static long map_file(pl_range_t range, int prot, uintptr_t page)
{
	int fd = pl_hugetlbfs_open(page);
	long result;

	if (fd < 0)
		return fd;
	/* A writable map extends the file by itself, without RLIMIT_FSIZE having a say
	 * (fs/hugetlbfs/inode.c, hugetlbfs_file_mmap). */
	result = pl_ops->mmap(range.start, pl_range_length(range), prot, MAP_SHARED | MAP_FIXED, fd,
			      0);
	pl_sys_close(fd);
	return result;
}

int pl_hugetlb_put(pl_range_t range, int prot, uintptr_t page, bool on_mount)
{
	const int writable = prot | PROT_READ | PROT_WRITE;
	size_t length = pl_range_length(range);
	long result = on_mount ? map_file(range, writable, page)
			       : map_anonymous(range, writable, page);

	if (pl_sys_failed(result))
		return (int)result;
	result = pl_thp_populate(range, writable);
	if (!result && prot != writable)
		result = pl_ops->mprotect(range.start, length, prot);
	return (int)result;
}

int pl_hugetlb_prove(size_t length, uintptr_t page)
{
	size_t whole = pl_round_up(length, page);
	long start = pl_ops->mmap(0, whole, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS | pl_hugetlb_map_flags(page), -1, 0);
	int result;

	if (pl_sys_failed(start))
		return (int)start;
	result = pl_thp_populate(pl_range((uintptr_t)start, (uintptr_t)start + whole), PROT_WRITE);
	pl_ops->munmap((uintptr_t)start, whole);
	return result;
}
