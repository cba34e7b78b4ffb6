/* SPDX-License-Identifier: MIT */
#include "placement/advice.h"

#include <sys/mman.h>

#include "backend/ops.h"
#include "placement/arena.h"
#include "placement/break.h"
#include "placement/context.h"
#include "placement/contract.h"
#include "placement/map.h"
#include "registry/registry.h"
#include "report/collect.h"

/* Advice that stays on a map: memory given back and grown anew would not have it. */
static bool is_sticky(int advice)
{
	switch (advice) {
	case MADV_HUGEPAGE:
	case MADV_NOHUGEPAGE:
	case MADV_DONTFORK:
	case MADV_DONTDUMP:
	case MADV_WIPEONFORK:
	case MADV_MERGEABLE:
		return true;
	default:
		return false;
	}
}

static bool gives_back(int advice)
{
	return advice == MADV_DONTNEED || advice == MADV_REMOVE;
}

/* Some programs empty a segment before they unmap it (MariaDB's buffer pool): for the report it is
 * measured at the first of the two. Small pieces are an allocator's housekeeping. */
static void measure_before(pl_range_t range)
{
	if (!pl_context_measures() || pl_range_length(range) < pl_context_facts()->large_page)
		return;
	pl_collect_closing(range, pl_context_facts()->large_page);
}

long pl_advise(pl_origin_t origin, uintptr_t addr, size_t length, int advice)
{
	pl_range_t range = pl_map_range(addr, length);
	long result;

	if (gives_back(advice))
		measure_before(range);
	pl_break_yield(range);
	if (is_sticky(advice))
		pl_break_yield_attributes(range);
	/* libc advises only under its own hugetlb tunable, which then says the same as we do. */
	if (origin == PL_ORIGIN_PROGRAM && (advice == MADV_HUGEPAGE || advice == MADV_NOHUGEPAGE)) {
		pl_arena_leave_advice(range);
		pl_break_leave_advice(range);
		pl_registry_set_reason(range, PL_REASON_APPLICATION_ADVICE);
	}
	if (addr % pl_base_page == 0 && pl_contract_advise(range, advice, &result))
		return result;
	return pl_ops->madvise(addr, length, advice);
}
