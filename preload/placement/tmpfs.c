/* SPDX-License-Identifier: MIT */
#include "placement/tmpfs.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "backend/ops.h"
#include "backend/thp.h"
#include "base/sys.h"
#include "placement/context.h"
#include "placement/map.h"
#include "placement/pools.h"
#include "policy/shared.h"
#include "registry/registry.h"
#include "report/counters.h"

/* Lifted when at least one page in two is in use. st_blocks counts 512 bytes (stat(2)). */
enum { DENSE_SHARE = 2, BLOCK_BYTES = 512 };

static bool is_on_tmpfs(int fd)
{
	struct statfs status;

	return pl_syscall6(SYS_fstatfs, fd, (long)&status, 0, 0, 0, 0) == 0 &&
	       status.f_type == TMPFS_MAGIC;
}

static bool is_candidate(const pl_request_t *request, uintptr_t page)
{
	int type = request->flags & MAP_TYPE;

	return (type == MAP_SHARED || type == MAP_SHARED_VALIDATE) &&
	       !(request->flags & ~(MAP_TYPE | MAP_NORESERVE | MAP_POPULATE)) && !request->addr &&
	       page && request->length >= page;
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

/* Whether most of the file has memory already (written or allocated by fallocate). Lifting fills
 * the holes of the rest, which st_blocks would show to others: so no sparse file is lifted. */
static bool is_dense(const struct stat *status)
{
	return status->st_blocks * BLOCK_BYTES * DENSE_SHARE >= status->st_size;
}

/* The part of the map that lies within the file; beyond its end a touch is a SIGBUS. */
static pl_reason_t lift(pl_range_t range, int fd, off_t offset, uintptr_t page)
{
	struct stat status;
	size_t inside;

	if (pl_sys_fstat(fd, &status) || status.st_size <= offset || !is_dense(&status))
		return PL_REASON_SHMEM_SPARSE;
	inside = pl_round_down((uintptr_t)(status.st_size - offset), page);
	if (inside < pl_range_length(range))
		range.end = range.start + inside;
	return pl_thp_lift_shared(range, page) ? PL_REASON_LIFTED : PL_REASON_SHMEM_FAILED;
}

static pl_reason_t improve(pl_range_t range, int fd, off_t offset)
{
	const pl_facts_t *facts = pl_context_facts();
	pl_shared_request_t request = { .kind = PL_KIND_TMPFS, .memory = pl_memory_now() };
	pl_reason_t reason;

	switch (pl_policy_shmem(&request, pl_range_length(range), &pl_context.config, facts,
				&reason)) {
	case PL_SHMEM_ADVICE:
		return pl_thp_advise(range) ? PL_REASON_ADVICE_REFUSED : reason;
	case PL_SHMEM_LIFT:
		return lift(range, fd, offset, facts->large_page);
	case PL_SHMEM_LEAVE:
		break;
	}
	return reason;
}

bool pl_tmpfs_map(const pl_request_t *request, int fd, off_t offset, long *ret_start)
{
	const pl_facts_t *facts = pl_context_facts_for(request->length);
	pl_range_t range;
	pl_reason_t reason;

	if (!is_candidate(request, facts->large_page) || pl_context.locks_future ||
	    !pl_policy_in_place(PL_KIND_TMPFS, &pl_context.config, facts).advise ||
	    !is_on_tmpfs(fd))
		return false;
	*ret_start = map_in_step(request, fd, offset, facts->large_page);
	if (pl_sys_failed(*ret_start))
		return false;
	range = pl_map_range((uintptr_t)*ret_start, request->length);
	reason = improve(range, fd, offset);
	pl_count(PL_COUNTER_MAP_DECIDED);
	pl_count(PL_COUNTER_PLACED);
	pl_count_reason(reason);
	pl_map_enlist(&(pl_segment_t){ .range = range,
				      .asked = request->length,
				      .kind = PL_KIND_TMPFS,
				      .reason = reason });
	return true;
}
