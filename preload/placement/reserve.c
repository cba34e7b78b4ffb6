/* SPDX-License-Identifier: MIT */
#include "placement/reserve.h"

#include <sys/mman.h>

#include "backend/ops.h"
#include "backend/thp.h"
#include "base/sys.h"
#include "placement/context.h"
#include "placement/promote.h"
#include "registry/registry.h"
#include "report/counters.h"

static bool is_private_anonymous(int flags)
{
	return (flags & MAP_TYPE) == MAP_PRIVATE && flags & MAP_ANONYMOUS &&
	       !(flags & (MAP_HUGETLB | MAP_LOCKED | MAP_STACK | MAP_GROWSDOWN));
}

/* A commit that completes a block whose first part came before, and may be in use on small pages,
 * would leave the block so for good: it is lifted here. */
static void lift_completed_block(pl_range_t commit, pl_range_t reservation, uintptr_t page)
{
	uintptr_t block = pl_round_down(commit.start, page);

	if (block < commit.start && block >= reservation.start && block + page <= commit.end)
		pl_promote_resident(pl_range(block, block + page));
}

bool pl_reserve_commit(const pl_request_t *request, pl_range_t range, int fd, off_t offset,
		       long *ret_result)
{
	uintptr_t page;
	pl_segment_t segment;
	pl_range_t cover;

	if (!is_private_anonymous(request->flags) || !pl_registry_find(range, &segment) ||
	    segment.kind != PL_KIND_RESERVE || range.start < segment.range.start ||
	    range.end > segment.range.end)
		return false;
	*ret_result = pl_ops->mmap(request->addr, request->length, request->prot, request->flags,
				   fd, offset);
	pl_count(PL_COUNTER_MAP_PASSED);
	if (pl_sys_failed(*ret_result) || request->prot == PROT_NONE ||
	    segment.reason == PL_REASON_APPLICATION_ADVICE)
		return true;
	pl_count(PL_COUNTER_COMMITS);
	if (!pl_policy_in_place(PL_KIND_RESERVE, &pl_context.config, pl_context_facts()).advise)
		return true;
	page = pl_context_facts()->large_page;
	cover = pl_range(pl_round_down(range.start, page), pl_round_up(range.end, page));
	pl_thp_advise(pl_range_clip(cover, segment.range));
	lift_completed_block(range, segment.range, page);
	return true;
}
