/* SPDX-License-Identifier: MIT */
#include "placement/map.h"

#include <errno.h>
#include <sys/mman.h>

#include "backend/ops.h"
#include "backend/thp.h"
#include "base/sys.h"
#include "placement/arena.h"
#include "placement/break.h"
#include "placement/context.h"
#include "placement/contract.h"
#include "placement/parts.h"
#include "placement/pools.h"
#include "placement/reserve.h"
#include "placement/shared.h"
#include "placement/tmpfs.h"
#include "registry/registry.h"
#include "report/collect.h"
#include "report/counters.h"

pl_range_t pl_map_range(uintptr_t addr, size_t length)
{
	uintptr_t end = pl_round_up(addr + length, pl_base_page);

	return end < addr ? pl_range(0, 0) : pl_range(pl_round_down(addr, pl_base_page), end);
}

/* What munmap, mprotect and MAP_FIXED refuse is no range. */
static pl_range_t exact_range(uintptr_t addr, size_t length)
{
	return addr % pl_base_page || !length ? pl_range(0, 0) : pl_map_range(addr, length);
}

void pl_map_forget(pl_range_t range)
{
	pl_arena_forget(range);
	if (!pl_registry_may_meet(range))
		return;
	pl_parts_forget(range);
	if (pl_context_measures())
		pl_collect_closing(range, pl_context_facts()->large_page);
	if (pl_pools_in_use())
		pl_pools_give_back(pl_registry_hugetlb_bytes(range));
	pl_registry_remove(range);
}

bool pl_map_enlist(const pl_segment_t *segment)
{
	if (pl_registry_add(segment))
		return true;
	pl_count(PL_COUNTER_UNREGISTERED);
	return false;
}

static void enlist(pl_range_t range, size_t asked, pl_kind_t kind, pl_reason_t reason)
{
	pl_count(PL_COUNTER_PLACED);
	pl_map_enlist(
		&(pl_segment_t){ .range = range, .asked = asked, .kind = kind, .reason = reason });
}

static long original(const pl_request_t *request, int fd, off_t offset)
{
	return pl_ops->mmap(request->addr, request->length, request->prot, request->flags, fd,
			    offset);
}

/* The map where the kernel or the program puts it, with our advice. */
static long map_in_place(const pl_request_t *request, pl_reason_t *reason, int fd, off_t offset)
{
	long start = original(request, fd, offset);
	int advised;

	if (pl_sys_failed(start))
		return start;
	advised = pl_thp_advise(pl_map_range((uintptr_t)start, request->length));
	pl_context_note_advice(advised);
	if (advised)
		*reason = PL_REASON_ADVICE_REFUSED;
	return start;
}

static long map_aligned(const pl_request_t *request, pl_reason_t *reason, int fd, off_t offset)
{
	long start = pl_thp_map(request->length, request->prot, request->flags,
				pl_context_facts()->large_page);

	if (!pl_sys_failed(start)) {
		pl_count(PL_COUNTER_ALIGNED);
		return start;
	}
	pl_context_note_advice((int)start);
	pl_count(PL_COUNTER_PLACE_FAILED);
	*reason = PL_REASON_PLACE_FAILED;
	return original(request, fd, offset);
}

static bool is_placed(pl_reason_t reason)
{
	return reason != PL_REASON_CALL_FAILED && reason != PL_REASON_PLACE_FAILED &&
	       reason != PL_REASON_ADVICE_REFUSED;
}

static long map_decided(const pl_request_t *request, int fd, off_t offset)
{
	pl_verdict_t verdict =
		pl_policy_map(request, &pl_context.config, pl_context_facts_for(request->length),
			      pl_registry_count());
	long start;

	pl_count(PL_COUNTER_MAP_DECIDED);
	if (verdict.advise && pl_context.locks_future)
		verdict = (pl_verdict_t){ .reason = PL_REASON_LOCKED };
	if (!verdict.advise)
		start = original(request, fd, offset);
	else if (verdict.align)
		start = map_aligned(request, &verdict.reason, fd, offset);
	else
		start = map_in_place(request, &verdict.reason, fd, offset);
	if (pl_sys_failed(start))
		verdict.reason = PL_REASON_CALL_FAILED;
	pl_count_reason(verdict.reason);
	if (verdict.advise && is_placed(verdict.reason))
		enlist(pl_map_range((uintptr_t)start, request->length), request->length,
		       pl_policy_kind(request), verdict.reason);
	return start;
}

/* A map that replaces what is there. */
static long map_fixed(const pl_request_t *request, pl_range_t range, int fd, off_t offset)
{
	long start;

	if (request->origin == PL_ORIGIN_LIBC && request->prot == PROT_NONE) {
		start = original(request, fd, offset);
		pl_count(PL_COUNTER_MAP_PASSED);
		if (pl_sys_failed(start) || !pl_arena_shrunk(range))
			pl_map_forget(range);
		return start;
	}
	if (pl_reserve_commit(request, range, fd, offset, &start))
		return start;
	pl_map_forget(range);
	return map_decided(request, fd, offset);
}

/* Address space that libc reserves: a thread's stack, or room for an arena, which is advised when
 * it has grown. */
static long map_for_libc(const pl_request_t *request, int fd, off_t offset)
{
	long start = original(request, fd, offset);

	pl_count(PL_COUNTER_MAP_PASSED);
	if (pl_sys_failed(start))
		return start;
	/* New memory where a heap was noted: that heap went by a call that we could not see. */
	pl_arena_forget(pl_map_range((uintptr_t)start, request->length));
	pl_arena_note_reservation(request, (uintptr_t)start);
	return start;
}

long pl_map(const pl_request_t *request, int fd, off_t offset)
{
	pl_range_t range = exact_range(request->addr, request->length);
	long start;

	pl_count(request->origin == PL_ORIGIN_LIBC ? PL_COUNTER_MMAP_LIBC
						   : PL_COUNTER_MMAP_PROGRAM);
	if ((uintptr_t)offset % pl_base_page) { /* EINVAL, whatever the rest says */
		pl_count(PL_COUNTER_MAP_PASSED);
		return original(request, fd, offset);
	}
	if (request->flags & MAP_FIXED && !pl_range_empty(range)) {
		pl_break_yield_attributes(range);
		if (pl_contract_cuts(range) && !pl_contract_make_plain(range))
			return original(request, fd, offset);
		if (!(request->flags & MAP_ANONYMOUS) && pl_tmpfs_map(request, fd, offset, &start))
			return start;
		return map_fixed(request, range, fd, offset);
	}
	if (request->addr)
		pl_break_yield(range);
	if (request->origin == PL_ORIGIN_LIBC && request->prot == PROT_NONE)
		return map_for_libc(request, fd, offset);
	if (pl_shared_takes(request))
		return pl_shared_map(request);
	if (!(request->flags & MAP_ANONYMOUS) && pl_tmpfs_map(request, fd, offset, &start))
		return start;
	return map_decided(request, fd, offset);
}

long pl_unmap(uintptr_t addr, size_t length)
{
	pl_range_t range = exact_range(addr, length);

	if (!pl_range_empty(range)) {
		pl_break_yield_attributes(range);
		if (pl_contract_cuts(range))
			return pl_contract_unmap(range);
		pl_map_forget(range);
	}
	return pl_ops->munmap(addr, length);
}

long pl_protect(pl_origin_t origin, uintptr_t addr, size_t length, int prot, int pkey)
{
	pl_range_t range = exact_range(addr, length);
	long result;

	if (!pl_range_empty(range)) {
		pl_break_yield_attributes(range);
		if (pl_arena_protect(pkey == -1 ? origin : PL_ORIGIN_PROGRAM, range, prot, &result))
			return result;
		if (pl_contract_cuts(range))
			pl_contract_make_plain(range);
	}
	if (pkey != -1)
		return pl_syscall6(SYS_pkey_mprotect, (long)addr, (long)length, prot, pkey, 0, 0);
	return pl_ops->mprotect(addr, length, prot);
}
