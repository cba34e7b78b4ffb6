/* SPDX-License-Identifier: MIT */
#include "placement/parts.h"

#include "base/lock.h"
#include "report/counters.h"

enum { PARTS_MAX = 64 };

/* In no order, disjoint; adjacent ones are joined. Empty ones are free. */
static pl_range_t parts[PARTS_MAX];
static unsigned int used; /* a filter, read without the lock */
static pl_lock_t lock = PL_LOCK_INIT(PL_RANK_PARTS);

static void clear(pl_range_t *part)
{
	*part = pl_range(0, 0);
	__atomic_fetch_sub(&used, 1, __ATOMIC_RELAXED);
}

static bool put(pl_range_t part)
{
	for (size_t i = 0; i < PARTS_MAX; i++) {
		if (!pl_range_empty(parts[i]))
			continue;
		parts[i] = part;
		__atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

/* The part grown by all that overlap or touch it, within its page; those are taken out. */
static pl_range_t join(pl_range_t page, pl_range_t part)
{
	for (size_t i = 0; i < PARTS_MAX; i++) {
		pl_range_t other = pl_range_clip(parts[i], page);

		if (pl_range_empty(other) || other.end < part.start || other.start > part.end)
			continue;
		part = pl_range(other.start < part.start ? other.start : part.start,
				other.end > part.end ? other.end : part.end);
		clear(&parts[i]);
		i = (size_t)-1; /* it may touch others now */
	}
	return part;
}

bool pl_parts_add(pl_range_t page, pl_range_t part)
{
	bool whole = false;
	bool noted = false;

	if (pl_lock_take(&lock)) {
		part = join(page, pl_range_clip(part, page));
		whole = pl_range_length(part) == pl_range_length(page);
		noted = whole || put(part);
		pl_lock_release(&lock);
	}
	if (!noted)
		pl_count(PL_COUNTER_CUTS_KEPT);
	return whole;
}

void pl_parts_forget(pl_range_t range)
{
	if (!__atomic_load_n(&used, __ATOMIC_RELAXED) || !pl_lock_take(&lock))
		return;
	for (size_t i = 0; i < PARTS_MAX; i++) {
		pl_range_t part = parts[i];

		if (!pl_range_meets(part, range))
			continue;
		clear(&parts[i]);
		if (part.start < range.start)
			put(pl_range(part.start, range.start));
		if (part.end > range.end)
			put(pl_range(range.end, part.end));
	}
	pl_lock_release(&lock);
}

pl_range_t pl_parts_find(pl_range_t range)
{
	pl_range_t found = pl_range(0, 0);

	if (!__atomic_load_n(&used, __ATOMIC_RELAXED) || !pl_lock_take(&lock))
		return found;
	for (size_t i = 0; i < PARTS_MAX && pl_range_empty(found); i++)
		found = pl_range_clip(parts[i], range);
	pl_lock_release(&lock);
	return found;
}

void pl_parts_after_fork(void)
{
	pl_lock_after_fork(&lock);
}
