/* SPDX-License-Identifier: MIT */
#include "placement/remap.h"

#include <errno.h>
#include <sys/mman.h>

#include "backend/ops.h"
#include "backend/thp.h"
#include "base/sys.h"
#include "placement/break.h"
#include "placement/context.h"
#include "placement/contract.h"
#include "placement/map.h"
#include "placement/pools.h"
#include "placement/promote.h"
#include "registry/registry.h"
#include "report/counters.h"

static long original(const pl_remap_request_t *request)
{
	return pl_ops->mremap(request->old, request->old_length, request->new_length,
			      request->flags, request->target);
}

/* Grows in place if there is room, else to a target of our choice, else as the kernel likes. */
static long grow_aligned(const pl_remap_request_t *request)
{
	long result = pl_ops->mremap(request->old, request->old_length, request->new_length, 0, 0);

	if (!pl_sys_failed(result))
		return result;
	if (result != -ENOMEM)
		return original(request);
	result = pl_thp_remap(request->old, request->old_length, request->new_length,
			      pl_context_facts()->large_page);
	if (!pl_sys_failed(result)) {
		pl_count(PL_COUNTER_REMAP_ALIGNED);
		return result;
	}
	pl_count(PL_COUNTER_PLACE_FAILED);
	return original(request);
}

/* The verdict on the map as it will be. Its nature is known in two cases: libc's own calls resize
 * malloc's private chunks, and a segment of ours is private and anonymous. */
static pl_verdict_t decide(pl_kind_t kind, const pl_remap_request_t *request)
{
	pl_request_t as_map = {
		.origin = kind == PL_KIND_CHUNK ? PL_ORIGIN_LIBC : PL_ORIGIN_PROGRAM,
		.length = request->new_length,
		.prot = PROT_READ | PROT_WRITE,
		.flags = MAP_PRIVATE | MAP_ANONYMOUS,
	};

	if (request->flags != MREMAP_MAYMOVE || request->new_length <= request->old_length ||
	    pl_context.locks_future)
		return (pl_verdict_t){ 0 };
	return pl_policy_map(&as_map, &pl_context.config, pl_context_facts_for(request->new_length),
			     pl_registry_count());
}

/* Where the blocks end that the old map had whole and that are whole still: the kernel moves a
 * large page as one only between equal offsets within a block (mm/mremap.c, move_page_tables). */
static uintptr_t end_of_whole(const pl_remap_request_t *request, uintptr_t start, uintptr_t page)
{
	pl_range_t before = pl_range_whole_blocks(pl_map_range(start, request->old_length), page);

	return (start - request->old) % page || pl_range_empty(before) ? start : before.end;
}

/* What was in use outside of blocks that are whole still (the former end of the map, all of one
 * that was too short or moved out of step) is on small pages and would keep its blocks small:
 * lifted. */
static void lift_small_part(const pl_remap_request_t *request, uintptr_t start)
{
	uintptr_t page = pl_context_facts()->large_page;
	pl_range_t used = pl_range(end_of_whole(request, start, page),
				   pl_round_up(start + request->old_length, page));

	pl_promote_resident(pl_range_clip(used, pl_map_range(start, request->new_length)));
}

/* Puts the books right after a call that succeeded. */
static void enlist(pl_segment_t *segment, uintptr_t start, size_t length, bool known)
{
	segment->range = pl_map_range(start, length);
	segment->asked = length;
	if (!known && pl_thp_advise(segment->range))
		return;
	if (!known)
		pl_count(PL_COUNTER_PLACED);
	pl_map_enlist(segment);
}

/* Resizes or moves one whole map of known nature. */
static long remap_segment(const pl_remap_request_t *request, pl_segment_t *segment, bool known)
{
	pl_verdict_t verdict = decide(segment->kind, request);
	long result;

	pl_registry_remove(segment->range);
	result = verdict.align ? grow_aligned(request) : original(request);
	if (!known)
		segment->reason = verdict.reason;
	if (pl_sys_failed(result)) {
		if (known)
			pl_registry_add(segment);
	} else if (known || verdict.advise) {
		enlist(segment, (uintptr_t)result, request->new_length, known);
		if (verdict.advise)
			lift_small_part(request, (uintptr_t)result);
	}
	return result;
}

static bool is_whole_segment(pl_range_t range, pl_segment_t *ret_segment)
{
	return pl_registry_find(range, ret_segment) &&
	       (ret_segment->kind == PL_KIND_CHUNK || ret_segment->kind == PL_KIND_MAP) &&
	       ret_segment->range.start == range.start && ret_segment->range.end == range.end;
}

/* A call that shrinks hugetlb memory of ours gives up its end, as munmap does. */
static bool shrinks_pages(const pl_remap_request_t *request, pl_range_t old)
{
	pl_segment_t segment;

	return request->new_length && request->new_length < request->old_length &&
	       request->old % pl_base_page == 0 && !(request->flags & ~MREMAP_MAYMOVE) &&
	       pl_pools_in_use() && pl_registry_find_hugetlb(old, &segment) &&
	       segment.range.start <= old.start;
}

static long shrink_pages(const pl_remap_request_t *request, pl_range_t old)
{
	uintptr_t end = old.start + pl_round_up(request->new_length, pl_base_page);
	long result = end < old.end ? pl_unmap(end, old.end - end) : 0;

	return result ? result : (long)request->old;
}

/* Hugetlb memory that has to stay is the kernel's to move (Linux 5.16) or to refuse. */
static long remap_pages(const pl_remap_request_t *request, pl_range_t old)
{
	long result = original(request);
	pl_segment_t segment;

	if (pl_sys_failed(result) || !pl_registry_find_hugetlb(old, &segment))
		return result;
	if (request->old_length)
		pl_map_forget(old);
	segment.range = pl_map_range((uintptr_t)result, request->new_length);
	segment.whole = segment.range;
	segment.asked = request->new_length;
	pl_pools_take(pl_range_length(segment.range));
	pl_map_enlist(&segment);
	return result;
}

long pl_remap(pl_origin_t origin, const pl_remap_request_t *request)
{
	pl_range_t old = pl_map_range(request->old, request->old_length);
	pl_range_t target = pl_map_range(request->target, request->new_length);
	pl_segment_t segment = { .range = old, .kind = PL_KIND_CHUNK };
	bool known;

	pl_break_yield_attributes(old);
	if (shrinks_pages(request, old))
		return shrink_pages(request, old);
	if (request->flags & MREMAP_FIXED && pl_contract_cuts(target) &&
	    !pl_contract_make_plain(target))
		return original(request);
	if (!pl_contract_make_whole_plain(
		    request->old_length ? old : pl_map_range(request->old, request->new_length)))
		return remap_pages(request, old);
	if (request->flags & MREMAP_FIXED) {
		pl_break_yield_attributes(target);
		pl_map_forget(target);
	}
	if (!request->old_length || request->flags & ~MREMAP_MAYMOVE) {
		if (request->flags & MREMAP_FIXED)
			pl_map_forget(old);
		return original(request);
	}
	known = is_whole_segment(old, &segment);
	if (known || origin == PL_ORIGIN_LIBC)
		return remap_segment(request, &segment, known);
	pl_map_forget(old);
	return original(request);
}
