/* SPDX-License-Identifier: MIT */
#include "placement/tmpfs.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "backend/ops.h"
#include "backend/thp.h"
#include "base/sys.h"
#include "facts/tmpfs.h"
#include "placement/context.h"
#include "placement/map.h"
#include "placement/pools.h"
#include "placement/promote.h"
#include "policy/shared.h"
#include "registry/registry.h"
#include "report/counters.h"

/* Lifted when at least one page in two is in use. st_blocks counts 512 bytes (stat(2)). */
enum { DENSE_SHARE = 2, ROOM_SHARE = 4, BLOCK_BYTES = 512 };

typedef struct {
	struct stat status;
	off_t room; /* bytes that the mount has left */
} file_t;

/* A regular file on tmpfs. Devices in /dev may lie on one as well, and are none. */
static bool read_file(int fd, file_t *ret_file)
{
	struct statfs mount;

	if (pl_sys_fstat(fd, &ret_file->status) || !S_ISREG(ret_file->status.st_mode) ||
	    pl_syscall6(SYS_fstatfs, fd, (long)&mount, 0, 0, 0, 0) || mount.f_type != TMPFS_MAGIC)
		return false;
	/* Without size= the mount reports no blocks. */
	ret_file->room = mount.f_blocks ? (off_t)(mount.f_bfree * (uint64_t)mount.f_bsize)
					: INT64_MAX;
	return true;
}

/* At an address of the program's choice only where it is in step with the file already (ZGC commits
 * its heap so, piece by piece). */
static bool is_candidate(const pl_request_t *request, off_t offset, uintptr_t page)
{
	int type = request->flags & MAP_TYPE;
	int known = MAP_TYPE | MAP_NORESERVE | MAP_POPULATE;

	if (request->addr)
		known |= MAP_FIXED;
	return pl_round_up(request->length, pl_base_page) > request->length - 1 &&
	       (type == MAP_SHARED || type == MAP_SHARED_VALIDATE) && !(request->flags & ~known) &&
	       page && request->length >= page &&
	       (!request->addr ||
		(request->flags & MAP_FIXED && (request->addr - (uintptr_t)offset) % page == 0));
}

/* Puts file offset and address in step, without which no large page of the file can be mapped. */
static long map_in_step(const pl_request_t *request, int fd, off_t offset, uintptr_t page)
{
	size_t lead = (size_t)offset % page;
	size_t whole = pl_round_up(request->length, pl_base_page);
	long start = pl_thp_reserve(lead + whole, page);
	long result;

	if (pl_sys_failed(start))
		return start;
	result = pl_ops->mmap((uintptr_t)start + lead, request->length, request->prot,
			      request->flags | MAP_FIXED, fd, offset);
	if (pl_sys_failed(result))
		pl_ops->munmap((uintptr_t)start, lead + whole);
	else if (lead)
		pl_ops->munmap((uintptr_t)start, lead);
	return result;
}

static long map_there(const pl_request_t *request, int fd, off_t offset)
{
	pl_map_forget(pl_map_range(request->addr, request->length));
	return pl_ops->mmap(request->addr, request->length, request->prot, request->flags, fd,
			    offset);
}

/* Whether most of the file up to `end` has memory already (written, or allocated by fallocate, as
 * far as a count of blocks can tell: nothing says where they are). Lifting fills the holes, which
 * st_blocks would show to others: so no sparse file is lifted, and none whose holes would take
 * much of what the mount has left for others. */
static bool is_dense(const file_t *file, off_t end)
{
	off_t allocated = file->status.st_blocks * BLOCK_BYTES;

	if (end - allocated > file->room / ROOM_SHARE)
		return false;
	return pl_context.config.populate == PL_POPULATE_EAGER || allocated * DENSE_SHARE >= end;
}

/* The part of the map that lies within the file; beyond its end a touch is a SIGBUS. */
static pl_range_t inside_of(pl_range_t range, const file_t *file, off_t offset)
{
	off_t inside = file->status.st_size - offset;

	if (inside <= 0)
		return pl_range(0, 0);
	if ((size_t)inside < pl_range_length(range))
		range.end = range.start + (size_t)inside;
	return range;
}

static pl_shmem_mode_t mode_of(const file_t *file, pl_shmem_mode_t machine)
{
	static uint64_t last; /* device asked about last: its number, and the mode plus one */
	uint64_t known = __atomic_load_n(&last, __ATOMIC_RELAXED);
	pl_shmem_mode_t mode;

	if (known >> 8 == file->status.st_dev && known & 0xff)
		return (pl_shmem_mode_t)((known & 0xff) - 1);
	mode = pl_tmpfs_mode("", file->status.st_dev, machine);
	__atomic_store_n(&last, (uint64_t)file->status.st_dev << 8 | (mode + 1), __ATOMIC_RELAXED);
	return mode;
}

static pl_reason_t improve(pl_range_t range, const file_t *file, off_t offset)
{
	pl_shared_request_t request = { .kind = PL_KIND_TMPFS };
	pl_range_t inside = inside_of(range, file, offset);
	bool dense = is_dense(file, offset + (off_t)pl_range_length(inside));
	pl_facts_t facts = *pl_context_facts();
	pl_reason_t reason;

	if (dense && !pl_range_empty(inside))
		request.memory = pl_memory_now();
	facts.shmem_mode = mode_of(file, facts.shmem_mode);
	switch (pl_policy_shmem(&request, pl_range_length(range), &pl_context.config, &facts,
				&reason)) {
	case PL_SHMEM_ADVICE:
		return pl_thp_advise(range) ? PL_REASON_ADVICE_REFUSED : reason;
	case PL_SHMEM_LIFT:
		return pl_promote_shared(inside);
	case PL_SHMEM_LEAVE:
		break;
	}
	return reason == PL_REASON_SHMEM_TOO_LARGE && !request.memory ? PL_REASON_SHMEM_SPARSE
								      : reason;
}

bool pl_tmpfs_map(const pl_request_t *request, int fd, off_t offset, long *ret_start)
{
	const pl_facts_t *facts = pl_context_facts_for(request->length);
	pl_range_t range;
	pl_reason_t reason;
	file_t file;

	if (!is_candidate(request, offset, facts->large_page) || pl_context.locks_future ||
	    !pl_policy_in_place(PL_KIND_TMPFS, &pl_context.config, facts).advise ||
	    !read_file(fd, &file))
		return false;
	*ret_start = request->addr ? map_there(request, fd, offset)
				   : map_in_step(request, fd, offset, facts->large_page);
	if (pl_sys_failed(*ret_start))
		return false;
	range = pl_map_range((uintptr_t)*ret_start, request->length);
	reason = improve(range, &file, offset);
	pl_count(PL_COUNTER_MAP_DECIDED);
	if (reason == PL_REASON_LIFTED || reason == PL_REASON_LIFTED_PART ||
	    reason == PL_REASON_SHMEM_ADVISED)
		pl_count(PL_COUNTER_PLACED);
	pl_count_reason(reason);
	pl_map_enlist(&(pl_segment_t){ .range = range,
				      .asked = request->length,
				      .kind = PL_KIND_TMPFS,
				      .reason = reason });
	return true;
}
