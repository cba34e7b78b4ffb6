/* SPDX-License-Identifier: MIT */
#include "report/collect.h"

#include "registry/registry.h"

static pl_kind_usage_t closed[PL_KINDS];

static void add(uint64_t *total, uint64_t value)
{
	__atomic_fetch_add(total, value, __ATOMIC_RELAXED);
}

void pl_collect_closing(pl_range_t range, uintptr_t large_page)
{
	pl_segment_t segment;

	while (!pl_range_empty(range) && pl_registry_find(range, &segment)) {
		pl_range_t part = pl_range_clip(segment.range, range);
		pl_kind_usage_t *total = &closed[segment.kind];
		pl_usage_t usage = { 0 };

		/* Without PAGEMAP_SCAN: pages of the pools are all there from the start. */
		if (pl_measure(part, large_page, &usage) && segment.hugetlb_page)
			usage.resident = usage.large = pl_range_length(part);
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
