/* SPDX-License-Identifier: MIT */
#include "placement/arena.h"

#include <sys/mman.h>

#include "backend/ops.h"
#include "backend/thp.h"
#include "base/lock.h"
#include "placement/context.h"
#include "placement/map.h"
#include "placement/promote.h"
#include "report/counters.h"

/* HEAP_MAX_SIZE on 64-bit: 2 * DEFAULT_MMAP_THRESHOLD_MAX, unchanged from glibc 2.4 to 2.43. */
static const uintptr_t heap_size = 64 * PL_MIB;

enum { SLOTS = 4096, PROBES = 16 };

typedef struct {
	uintptr_t base; /* 0 = never used, FORGOTTEN = free again */
	uintptr_t grown;
	uintptr_t writable;
	pl_lock_t lock; /* between growth and retraction */
	bool advised;
	bool leave; /* the program advises it itself */
} heap_t;

static const uintptr_t forgotten = 1;

static heap_t heaps[SLOTS];
static uint64_t heaps_noted; /* 0 = the table need not be looked at */
static bool retracting;      /* some heap's lock may be held by pl_arena_retract */

static heap_t *slot_at(uintptr_t base, unsigned int probe)
{
	return &heaps[(base / heap_size + probe) % SLOTS];
}

static heap_t *find(uintptr_t addr)
{
	uintptr_t base = pl_round_down(addr, heap_size);

	if (!__atomic_load_n(&heaps_noted, __ATOMIC_RELAXED) || !base)
		return NULL;
	for (unsigned int i = 0; i < PROBES; i++) {
		heap_t *heap = slot_at(base, i);
		uintptr_t found = __atomic_load_n(&heap->base, __ATOMIC_ACQUIRE);

		if (found == base)
			return heap;
		if (!found)
			return NULL;
	}
	return NULL;
}

static bool claim(heap_t *heap, uintptr_t base)
{
	uintptr_t found = __atomic_load_n(&heap->base, __ATOMIC_RELAXED);

	return found <= forgotten &&
	       __atomic_compare_exchange_n(&heap->base, &found, base, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static heap_t *free_slot(uintptr_t base)
{
	for (unsigned int i = 0; i < PROBES; i++)
		if (claim(slot_at(base, i), base))
			return slot_at(base, i);
	return NULL;
}

static void note(uintptr_t base)
{
	heap_t *heap = find(base);

	if (!heap)
		heap = free_slot(base);
	if (!heap) {
		pl_count(PL_COUNTER_ARENAS_UNTRACKED);
		return;
	}
	heap->grown = base;
	heap->writable = base;
	heap->lock = (pl_lock_t)PL_LOCK_INIT(PL_RANK_ARENA);
	heap->advised = false;
	heap->leave = false;
	__atomic_fetch_add(&heaps_noted, 1, __ATOMIC_RELAXED);
}

/* alloc_new_heap reserves twice the size and trims, or tries once with the size itself. */
void pl_arena_note_reservation(const pl_request_t *request, uintptr_t start)
{
	uintptr_t base = pl_round_up(start, heap_size);

	/* MAP_HUGETLB: glibc.malloc.hugetlb=2 puts the arena on the pool itself. */
	if (request->prot != PROT_NONE || request->flags & (MAP_STACK | MAP_HUGETLB))
		return;
	if (request->length != heap_size && request->length != 2 * heap_size)
		return;
	if (base + heap_size <= start + request->length)
		note(base);
}

static pl_range_t range_of(const heap_t *heap)
{
	return pl_range(heap->base, heap->base + heap_size);
}

/* The whole reservation at once: one call, and later growth merges into one map. */
static void advise(heap_t *heap, uintptr_t touched, pl_reason_t reason)
{
	uintptr_t page = pl_context_facts()->large_page;
	int result;

	heap->advised = true;
	result = pl_thp_advise(range_of(heap));
	if (result) {
		pl_context_note_advice(result);
		return;
	}
	pl_promote_resident(pl_range(heap->base, pl_round_up(touched, page)));
	pl_map_enlist(&(pl_segment_t){ .range = range_of(heap),
				       .asked = heap_size,
				       .kind = PL_KIND_ARENA,
				       .reason = reason });
}

static uintptr_t growth_end(const heap_t *heap, uintptr_t end, const pl_facts_t *facts)
{
	if (pl_context.locks_future || !pl_policy_may_run_ahead(&pl_context.config, facts))
		return end;
	end = pl_round_up(end, facts->large_page);
	return end < heap->base + heap_size ? end : heap->base + heap_size;
}

static long grow(heap_t *heap, pl_range_t range)
{
	const pl_facts_t *facts = pl_context_facts_for(range.end - heap->base);
	pl_verdict_t verdict = pl_policy_in_place(PL_KIND_ARENA, &pl_context.config, facts);
	bool large_enough = verdict.advise && range.end - heap->base > facts->large_page;
	uintptr_t touched = heap->grown;
	uintptr_t end = large_enough ? growth_end(heap, range.end, facts) : range.end;
	long result =
		pl_ops->mprotect(heap->writable, end - heap->writable, PROT_READ | PROT_WRITE);

	if (result && (heap->writable != range.start || end != range.end)) {
		end = range.end;
		result = pl_ops->mprotect(range.start, pl_range_length(range),
					  PROT_READ | PROT_WRITE);
	}
	if (result)
		return result;
	heap->writable = end;
	heap->grown = range.end;
	if (large_enough && !heap->advised && !heap->leave)
		advise(heap, touched, verdict.reason);
	return 0;
}

static long grow_if_needed(heap_t *heap, pl_range_t range)
{
	if (range.end > heap->writable)
		return grow(heap, range);
	pl_count(PL_COUNTER_ARENA_SAVED);
	heap->grown = range.end;
	return 0;
}

static bool grow_locked(heap_t *heap, pl_range_t range, long *ret_result)
{
	if (!pl_lock_take(&heap->lock))
		return false;
	pl_count(PL_COUNTER_ARENA_CALLS);
	*ret_result = grow_if_needed(heap, range);
	pl_lock_release(&heap->lock);
	return true;
}

bool pl_arena_protect(pl_origin_t origin, pl_range_t range, int prot, long *ret_result)
{
	heap_t *heap = find(range.start);

	if (!heap || range.end > heap->base + heap_size)
		return false;
	if (origin == PL_ORIGIN_LIBC && prot == (PROT_READ | PROT_WRITE) &&
	    range.start == heap->grown && range.end > range.start)
		return grow_locked(heap, range, ret_result);
	/* Beyond glibc's growth nothing is known to be writable after somebody else's call. */
	if (range.end > heap->grown)
		heap->writable = heap->grown;
	return false;
}

bool pl_arena_shrunk(pl_range_t range)
{
	heap_t *heap = find(range.start);

	if (!heap || range.start == heap->base || range.end > heap->base + heap_size)
		return false;
	if (heap->writable > range.end)
		pl_ops->mprotect(range.end, heap->writable - range.end, PROT_NONE);
	heap->grown = range.start;
	heap->writable = range.start;
	if (heap->advised && !heap->leave && !pl_context_facts()->confined)
		pl_thp_advise(range_of(heap)); /* the new map has lost it */
	return true;
}

static void for_each_in(pl_range_t range, void (*act)(heap_t *heap))
{
	if (!__atomic_load_n(&heaps_noted, __ATOMIC_RELAXED))
		return;
	if (pl_range_length(range) <= heap_size) {
		heap_t *first = find(range.start);
		heap_t *last = find(range.end - 1);

		if (first)
			act(first);
		if (last && last != first)
			act(last);
		return;
	}
	for (size_t i = 0; i < SLOTS; i++)
		if (heaps[i].base > forgotten && pl_range_meets(range, range_of(&heaps[i])))
			act(&heaps[i]);
}

static void forget(heap_t *heap)
{
	__atomic_store_n(&heap->base, forgotten, __ATOMIC_RELEASE);
}

void pl_arena_forget(pl_range_t range)
{
	for_each_in(range, forget);
}

static void leave_advice(heap_t *heap)
{
	heap->leave = true;
}

void pl_arena_leave_advice(pl_range_t range)
{
	for_each_in(range, leave_advice);
}

static void take_back(heap_t *heap)
{
	if (!pl_lock_take(&heap->lock))
		return;
	if (heap->writable > heap->grown)
		pl_ops->mprotect(heap->grown, heap->writable - heap->grown, PROT_NONE);
	heap->writable = heap->grown;
	pl_lock_release(&heap->lock);
}

void pl_arena_retract(void)
{
	__atomic_store_n(&retracting, true, __ATOMIC_RELEASE);
	for_each_in(pl_range(0, UINTPTR_MAX), take_back);
	__atomic_store_n(&retracting, false, __ATOMIC_RELEASE);
}

static void free_lock(heap_t *heap)
{
	pl_lock_after_fork(&heap->lock);
}

/* Growth happens under the arena's lock, which fork holds: only retraction can have been cut. */
void pl_arena_after_fork(void)
{
	if (retracting)
		for_each_in(pl_range(0, UINTPTR_MAX), free_lock);
	retracting = false;
}
