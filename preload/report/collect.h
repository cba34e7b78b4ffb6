/* SPDX-License-Identifier: MIT */
/* Usage per kind of memory, also of segments that are gone by the time of the report. */
#ifndef PL_REPORT_COLLECT_H
#define PL_REPORT_COLLECT_H

#include <stdbool.h>

#include "backend/measure.h"
#include "base/types.h"
#include "policy/policy.h"

typedef struct {
	uint64_t segments;
	uint64_t length;
	pl_usage_t usage;
} pl_kind_usage_t;

/* What of the whole large pages inside the range is resident, and on large pages. By PAGEMAP_SCAN;
 * where that cannot be had (before Linux 6.7, or after the program gave up root) by a walk over
 * smaps, which is worth it a limited number of times. Returns whether it could be told. */
bool pl_collect_measure(pl_range_t range, uintptr_t large_page, pl_usage_t *ret_usage);

/* Measures what of `range` belongs to segments, just before it is unmapped or mapped over, and adds
 * it to the closed totals. */
void pl_collect_closing(pl_range_t range, uintptr_t large_page);

/* Closed totals of a kind so far. */
pl_kind_usage_t pl_collect_closed(pl_kind_t kind);

#endif
