/* SPDX-License-Identifier: MIT */
#include "registry/registry.h"

#include <string.h>
#include <sys/mman.h>

#include "base/lock.h"
#include "base/sys.h"

static pl_segment_t first_segments[64];

static struct {
	pl_lock_t lock;
	pl_segment_t *segments;
	size_t count;
	size_t capacity;
	uintptr_t lowest; /* bounds of all that was ever added: a filter, read without the lock */
	uintptr_t highest;
} registry = {
	.lock = PL_LOCK_INIT(PL_RANK_REGISTRY),
	.segments = first_segments,
	.capacity = PL_ARRAY_LEN(first_segments),
	.lowest = UINTPTR_MAX,
};

/* For readers outside, who cannot take the lock. */
pl_registry_view_t pl_registry_view = { .segments = first_segments };

static bool begin_change(void)
{
	if (!pl_lock_take(&registry.lock))
		return false;
	__atomic_fetch_add(&pl_registry_view.changes, 1, __ATOMIC_SEQ_CST);
	return true;
}

static void end_change(void)
{
	pl_registry_view.segments = registry.segments;
	pl_registry_view.count = registry.count;
	__atomic_fetch_add(&pl_registry_view.changes, 1, __ATOMIC_SEQ_CST);
	pl_lock_release(&registry.lock);
}

/* Index of the first segment that ends behind addr. */
static size_t index_behind(uintptr_t addr)
{
	size_t low = 0;
	size_t high = registry.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (registry.segments[middle].range.end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(void)
{
	size_t bytes = registry.capacity * sizeof(pl_segment_t);
	long more;

	if (registry.count < registry.capacity)
		return true;
	more = pl_sys_mmap(0, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
	if (pl_sys_failed(more))
		return false;
	memcpy((void *)more, registry.segments, bytes);
	if (registry.segments != first_segments)
		pl_sys_munmap((uintptr_t)registry.segments, bytes);
	registry.segments = (pl_segment_t *)more;
	registry.capacity *= 2;
	return true;
}

static bool insert(size_t at, const pl_segment_t *segment)
{
	if (!make_room())
		return false;
	memmove(&registry.segments[at + 1], &registry.segments[at],
		(registry.count - at) * sizeof(*segment));
	registry.segments[at] = *segment;
	registry.count++;
	return true;
}

static void erase(size_t from, size_t to)
{
	memmove(&registry.segments[from], &registry.segments[to],
		(registry.count - to) * sizeof(pl_segment_t));
	registry.count -= to - from;
}

static void cut(pl_segment_t *segment, pl_range_t rest)
{
	segment->range = rest;
	segment->asked = pl_range_length(rest);
}

static void take_out(pl_range_t range)
{
	size_t at = index_behind(range.start);
	size_t end;

	if (pl_range_empty(range))
		return;
	if (at < registry.count && registry.segments[at].range.start < range.start) {
		pl_segment_t tail = registry.segments[at];

		cut(&registry.segments[at], pl_range(tail.range.start, range.start));
		at++;
		if (tail.range.end > range.end) {
			cut(&tail, pl_range(range.end, tail.range.end));
			insert(at, &tail);
			return;
		}
	}
	for (end = at; end < registry.count && registry.segments[end].range.end <= range.end;)
		end++;
	erase(at, end);
	if (at < registry.count && registry.segments[at].range.start < range.end)
		cut(&registry.segments[at], pl_range(range.end, registry.segments[at].range.end));
}

static void widen_bounds(pl_range_t range)
{
	if (range.start < registry.lowest)
		__atomic_store_n(&registry.lowest, range.start, __ATOMIC_RELAXED);
	if (range.end > registry.highest)
		__atomic_store_n(&registry.highest, range.end, __ATOMIC_RELAXED);
}

bool pl_registry_add(const pl_segment_t *segment)
{
	bool added;

	if (pl_range_empty(segment->range) || !begin_change())
		return false;
	take_out(segment->range);
	widen_bounds(segment->range);
	added = insert(index_behind(segment->range.start), segment);
	end_change();
	return added;
}

bool pl_registry_may_meet(pl_range_t range)
{
	return range.end > __atomic_load_n(&registry.lowest, __ATOMIC_RELAXED) &&
	       range.start < __atomic_load_n(&registry.highest, __ATOMIC_RELAXED);
}

void pl_registry_remove(pl_range_t range)
{
	if (!pl_registry_may_meet(range) || !begin_change())
		return;
	take_out(range);
	end_change();
}

bool pl_registry_find(pl_range_t range, pl_segment_t *ret_segment)
{
	bool found;
	size_t at;

	if (!pl_registry_may_meet(range) || !pl_lock_take(&registry.lock))
		return false;
	at = index_behind(range.start);
	found = at < registry.count && registry.segments[at].range.start < range.end;
	if (found)
		*ret_segment = registry.segments[at];
	pl_lock_release(&registry.lock);
	return found;
}

bool pl_registry_find_hugetlb(pl_range_t range, pl_segment_t *ret_segment)
{
	bool found = false;

	if (!pl_registry_may_meet(range) || !pl_lock_take(&registry.lock))
		return false;
	for (size_t at = index_behind(range.start);
	     !found && at < registry.count && registry.segments[at].range.start < range.end; at++) {
		found = registry.segments[at].hugetlb_page != 0;
		if (found)
			*ret_segment = registry.segments[at];
	}
	pl_lock_release(&registry.lock);
	return found;
}

void pl_registry_resize(uintptr_t start, uintptr_t new_end)
{
	size_t at;

	if (new_end <= start || !begin_change())
		return;
	at = index_behind(start);
	if (at < registry.count && registry.segments[at].range.start == start) {
		cut(&registry.segments[at], pl_range(start, new_end));
		widen_bounds(registry.segments[at].range);
	}
	end_change();
}

void pl_registry_set_reason(pl_range_t range, pl_reason_t reason)
{
	if (!pl_registry_may_meet(range) || !begin_change())
		return;
	for (size_t at = index_behind(range.start);
	     at < registry.count && registry.segments[at].range.start < range.end; at++)
		if (!registry.segments[at].hugetlb_page) /* which no advice changes */
			registry.segments[at].reason = reason;
	end_change();
}

size_t pl_registry_count(void)
{
	return __atomic_load_n(&registry.count, __ATOMIC_RELAXED);
}

size_t pl_registry_hugetlb_bytes(pl_range_t range)
{
	size_t bytes = 0;

	if (!pl_registry_may_meet(range) || !pl_lock_take(&registry.lock))
		return 0;
	for (size_t at = index_behind(range.start);
	     at < registry.count && registry.segments[at].range.start < range.end; at++)
		if (registry.segments[at].hugetlb_page &&
		    registry.segments[at].kind == PL_KIND_SHARED)
			bytes += pl_range_length(pl_range_clip(registry.segments[at].range, range));
	pl_lock_release(&registry.lock);
	return bytes;
}

bool pl_registry_after_fork(void)
{
	bool torn = pl_lock_after_fork(&registry.lock);

	if (torn) {
		registry.count = 0;
		pl_registry_view.count = 0;
		pl_registry_view.changes += pl_registry_view.changes & 1;
	}
	return torn;
}
