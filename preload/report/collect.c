/* SPDX-License-Identifier: MIT */
#include "report/collect.h"

#include "registry/registry.h"
#include "report/counters.h"
#include "report/smaps.h"

enum { SMAPS_WALKS_MAX = 128 };

static pl_kind_usage_t closed[PL_KINDS];

static void add(uint64_t *total, uint64_t value)
{
	__atomic_fetch_add(total, value, __ATOMIC_RELAXED);
}

static bool walk_smaps(pl_range_t range, pl_usage_t *ret_usage)
{
	static unsigned int walks;

	return __atomic_load_n(&walks, __ATOMIC_RELAXED) < SMAPS_WALKS_MAX &&
	       __atomic_fetch_add(&walks, 1, __ATOMIC_RELAXED) < SMAPS_WALKS_MAX &&
	       pl_smaps_range("", range, ret_usage) == 0;
}

bool pl_collect_measure(pl_range_t range, uintptr_t large_page, pl_usage_t *ret_usage)
{
	*ret_usage = (pl_usage_t){ 0 };
	if (pl_measure(range, large_page, ret_usage) == 0)
		return true;
	*ret_usage = (pl_usage_t){ 0 };
	return walk_smaps(range, ret_usage);
}

void pl_collect_closing(pl_range_t range, uintptr_t large_page)
{
	pl_segment_t segment;

	while (!pl_range_empty(range) && pl_registry_find(range, &segment)) {
		pl_range_t part = pl_range_clip(segment.range, range);
		pl_kind_usage_t *total = &closed[segment.kind];
		pl_usage_t usage;

		if (!pl_collect_measure(part, large_page, &usage))
			pl_count(PL_COUNTER_UNMEASURED);
		add(&total->segments, 1);
		add(&total->length, pl_range_length(part));
		add(&total->usage.resident, usage.resident);
		add(&total->usage.large, usage.large);
		range.start = segment.range.end;
	}
}

pl_kind_usage_t pl_collect_closed(pl_kind_t kind)
{
	return closed[kind];
}
