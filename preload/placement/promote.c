/* SPDX-License-Identifier: MIT */
#include "placement/promote.h"

#include "backend/thp.h"
#include "placement/context.h"
#include "report/counters.h"

static bool allowed(const pl_facts_t *facts)
{
	return facts->large_page && !facts->advice_unknown && !facts->confined &&
	       facts->thp_disabled != 1 &&
	       (facts->thp_mode == PL_THP_MADVISE || facts->thp_mode == PL_THP_ALWAYS);
}

void pl_promote_resident(pl_range_t range)
{
	const pl_facts_t *facts = pl_context_facts();
	pl_range_t blocks = pl_range_whole_blocks(range, facts->large_page);

	if (!allowed(facts))
		return;
	for (; !pl_range_empty(blocks); blocks.start += facts->large_page) {
		pl_range_t block = pl_range(blocks.start, blocks.start + facts->large_page);

		pl_count(pl_thp_collapse(block, facts->large_page) ? PL_COUNTER_COLLAPSE_FAILED
								   : PL_COUNTER_COLLAPSED);
	}
}

pl_reason_t pl_promote_shared(pl_range_t range)
{
	uintptr_t page = pl_context_facts()->large_page;
	size_t lifted = pl_thp_lift_shared(range, page);

	if (!lifted)
		return PL_REASON_SHMEM_FAILED;
	return lifted < pl_range_length(pl_range_whole_blocks(range, page)) ? PL_REASON_LIFTED_PART
									  : PL_REASON_LIFTED;
}
