/* SPDX-License-Identifier: MIT */
#include "placement/advice.h"

#include <sys/mman.h>

#include "backend/ops.h"
#include "placement/arena.h"
#include "placement/break.h"
#include "placement/map.h"
#include "registry/registry.h"

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

long pl_advise(pl_origin_t origin, uintptr_t addr, size_t length, int advice)
{
	pl_range_t range = pl_map_range(addr, length);

	pl_break_yield(range);
	if (is_sticky(advice))
		pl_break_yield_attributes(range);
	/* libc advises only under its own hugetlb tunable, which then says the same as we do. */
	if (origin == PL_ORIGIN_PROGRAM && (advice == MADV_HUGEPAGE || advice == MADV_NOHUGEPAGE)) {
		pl_arena_leave_advice(range);
		pl_break_leave_advice(range);
		pl_registry_set_reason(range, PL_REASON_APPLICATION_ADVICE);
	}
	return pl_ops->madvise(addr, length, advice);
}
