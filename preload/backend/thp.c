/* SPDX-License-Identifier: MIT */
#include "backend/thp.h"

#include <errno.h>
#include <sys/mman.h>

#include "backend/ops.h"
#include "base/sys.h"

enum { LIFT_TRIES = 4 };

int pl_thp_advise(pl_range_t range)
{
	long result = pl_ops->madvise(range.start, pl_range_length(range), MADV_HUGEPAGE);

	return result == -ENOMEM ? 0 : (int)result;
}

int pl_thp_collapse(pl_range_t range, uintptr_t large_page)
{
	pl_range_t blocks = pl_range_whole_blocks(range, large_page);

	if (pl_range_empty(blocks))
		return 0;
	return (int)pl_ops->madvise(blocks.start, pl_range_length(blocks), MADV_COLLAPSE);
}

/* Gives back what lies around `wanted`. If the kernel cannot (a map count at its limit), all that
 * is left goes and the caller starts again without us; what went already may be others' by now. */
static int trim(pl_range_t reserved, pl_range_t wanted)
{
	long result = 0;

	if (reserved.start < wanted.start)
		result = pl_ops->munmap(reserved.start, wanted.start - reserved.start);
	if (result) {
		pl_ops->munmap(reserved.start, pl_range_length(reserved));
		return (int)result;
	}
	if (wanted.end < reserved.end)
		result = pl_ops->munmap(wanted.end, reserved.end - wanted.end);
	if (result)
		pl_ops->munmap(wanted.start, reserved.end - wanted.start);
	return (int)result;
}

static long reserve_aligned(size_t length, int prot, int flags, uintptr_t large_page)
{
	size_t whole = pl_round_up(length, pl_base_page);
	size_t more = whole + large_page - pl_base_page;
	uintptr_t start;
	long result;

	if (more < length)
		return -ENOMEM;
	result = pl_ops->mmap(0, more, prot, flags, -1, 0);
	if (pl_sys_failed(result))
		return result;
	start = pl_round_up((uintptr_t)result, large_page);
	result = trim(pl_range((uintptr_t)result, (uintptr_t)result + more),
		      pl_range(start, start + whole));
	return result ? result : (long)start;
}

/* The kernel aligns by itself lengths that are multiples of the large page (Linux 6.7, mm/mmap.c,
 * mm_get_unmapped_area_vmflags): one call is enough then. */
static long map_aligned(size_t length, int prot, int flags, uintptr_t large_page)
{
	long result;

	if (length % large_page == 0) {
		result = pl_ops->mmap(0, length, prot, flags, -1, 0);
		if (pl_sys_failed(result) || (uintptr_t)result % large_page == 0 ||
		    pl_ops->munmap((uintptr_t)result, length))
			return result;
	}
	return reserve_aligned(length, prot, flags, large_page);
}

int pl_thp_populate(pl_range_t range, int prot)
{
	int advice = prot & PROT_WRITE ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;

	return (int)pl_ops->madvise(range.start, pl_range_length(range), advice);
}

/* MAP_POPULATE's own failure is silent (mmap(2)); only a kernel without the advice matters here. */
static int populate(uintptr_t start, size_t length, int prot)
{
	return pl_thp_populate(pl_range(start, start + length), prot) == -EINVAL ? -EOPNOTSUPP : 0;
}

long pl_thp_reserve(size_t length, uintptr_t alignment)
{
	return reserve_aligned(length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			       alignment);
}

/* A collapse wants something resident; reading a hole of shmem allocates it. Pages that another
 * process is just touching are refused for a moment (mm/khugepaged.c: SCAN_PAGE_LRU and its
 * like). */
static int lift_block(pl_range_t block)
{
	int result = -EAGAIN;

	for (int i = 0; i < LIFT_TRIES && (result == -EAGAIN || result == -EBUSY); i++) {
		result = pl_thp_populate(pl_range(block.start, block.start + pl_base_page),
					 PROT_READ);
		if (!result)
			result = pl_thp_collapse(block, pl_range_length(block));
	}
	return result;
}

size_t pl_thp_lift_shared(pl_range_t range, uintptr_t large_page)
{
	pl_range_t blocks = pl_range_whole_blocks(range, large_page);
	size_t lifted = 0;

	for (; !pl_range_empty(blocks); blocks.start += large_page) {
		int result = lift_block(pl_range(blocks.start, blocks.start + large_page));

		if (!result)
			lifted += large_page;
		else if (result != -EAGAIN && result != -EBUSY)
			break;
	}
	return lifted;
}

long pl_thp_map(size_t length, int prot, int flags, uintptr_t large_page)
{
	long start = map_aligned(length, prot, flags & ~MAP_POPULATE, large_page);
	int result;

	if (pl_sys_failed(start))
		return start;
	result = pl_thp_advise(
		pl_range((uintptr_t)start, (uintptr_t)start + pl_round_up(length, pl_base_page)));
	if (!result && flags & MAP_POPULATE && !(flags & MAP_NONBLOCK))
		result = populate((uintptr_t)start, length, prot);
	if (result) {
		pl_ops->munmap((uintptr_t)start, length);
		return result;
	}
	return start;
}

long pl_thp_remap(uintptr_t old, size_t old_length, size_t new_length, uintptr_t large_page)
{
	long target = pl_thp_reserve(new_length, large_page);

	if (pl_sys_failed(target))
		return target;
	/* If this fails the reservation may be gone already, and another thread's map be there: it
	 * is not unmapped. At worst some address space without access is left over. */
	return pl_ops->mremap(old, old_length, new_length, MREMAP_MAYMOVE | MREMAP_FIXED,
			      (uintptr_t)target);
}
