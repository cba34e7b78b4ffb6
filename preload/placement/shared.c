/* SPDX-License-Identifier: MIT */
#include "placement/shared.h"

#include <sys/mman.h>

#include "backend/hugetlb.h"
#include "backend/ops.h"
#include "backend/thp.h"
#include "base/sys.h"
#include "placement/context.h"
#include "placement/map.h"
#include "placement/pools.h"
#include "placement/promote.h"
#include "policy/shared.h"
#include "registry/registry.h"
#include "report/counters.h"

static const int known_flags = MAP_TYPE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE;

/* Memory mapped without access will be cut up by mprotect, which hugetlb pages would refuse. */
bool pl_shared_takes(const pl_request_t *request)
{
	return pl_round_up(request->length, pl_base_page) > request->length - 1 &&
	       (request->flags & MAP_TYPE) == MAP_SHARED && request->flags & MAP_ANONYMOUS &&
	       !(request->flags & ~known_flags) && !request->addr && request->prot != PROT_NONE;
}

static bool enlist(pl_range_t range, pl_reason_t reason, size_t hugetlb_page,
		   pl_range_t whole)
{
	if (hugetlb_page)
		pl_pools_take(pl_range_length(range));
	if (pl_map_enlist(&(pl_segment_t){ .range = range,
					   .asked = pl_range_length(range),
					   .kind = PL_KIND_SHARED,
					   .reason = reason,
					   .hugetlb_page = hugetlb_page,
					   .whole = whole }))
		return true;
	if (hugetlb_page)
		pl_pools_give_back(pl_range_length(range));
	return false;
}

/* Puts the body on the pools. Returns where it ends: short of the plan where the kernel refused, or
 * where the books have no room for what the contract has to know. */
static uintptr_t put_body(pl_range_t all, const pl_request_t *request,
			  const pl_shared_request_t *described, pl_shared_plan_t *plan)
{
	uintptr_t start = all.start;

	for (int i = 0; i < PL_POOLS; i++) {
		pl_range_t part = pl_range(start, start + plan->bytes[i]);

		if (pl_range_empty(part))
			continue;
		if (pl_hugetlb_put(part, request->prot, described->pools[i].page,
				   pl_pools_are_on_mount()) ||
		    !enlist(part, plan->reason, described->pools[i].page, all)) {
			plan->reason = PL_REASON_POOL_REFUSED;
			pl_pools_note(false);
			return start;
		}
		pl_pools_note(true);
		start = part.end;
	}
	return start;
}

/* The plain map behind the body, and what can be done for it. Returns 0 or a negative errno. */
static long put_rest(pl_range_t rest, const pl_request_t *request,
		     const pl_shared_request_t *described)
{
	const pl_facts_t *facts = pl_context_facts();
	pl_reason_t reason;
	pl_shmem_action_t action = pl_policy_shmem(described, pl_range_length(rest),
						   &pl_context.config, facts, &reason);
	long result;

	if (pl_range_empty(rest))
		return 0;
	result = pl_ops->mmap(rest.start, pl_range_length(rest), request->prot,
			      (request->flags & ~MAP_POPULATE) | MAP_FIXED, -1, 0);
	if (pl_sys_failed(result))
		return result;
	if (action == PL_SHMEM_ADVICE && pl_thp_advise(rest))
		reason = PL_REASON_ADVICE_REFUSED;
	if (action == PL_SHMEM_LIFT)
		reason = pl_promote_shared(rest);
	if (request->flags & MAP_POPULATE)
		pl_thp_populate(rest, request->prot);
	if (pl_range_length(rest) >= facts->large_page)
		enlist(rest, reason, 0, rest);
	return 0;
}

/* Everything of ours goes; the caller makes the original call. */
static void take_back(pl_range_t all, uintptr_t body_end)
{
	pl_registry_remove(all);
	pl_ops->munmap(all.start, pl_range_length(all));
	pl_pools_give_back(body_end - all.start);
	pl_count(PL_COUNTER_PLACE_FAILED);
}

/* Returns the address, or a negative errno after which nothing of ours is left. */
static long place(const pl_request_t *request, const pl_shared_request_t *described,
		  pl_shared_plan_t *plan)
{
	size_t whole = pl_round_up(request->length, pl_base_page);
	uintptr_t alignment =
		plan->bytes[0] ? described->pools[0].page : pl_context_facts()->large_page;
	long start = pl_thp_reserve(whole, alignment);
	uintptr_t body_end;
	pl_range_t all;
	long result;

	if (pl_sys_failed(start))
		return start;
	all = pl_range((uintptr_t)start, (uintptr_t)start + whole);
	body_end = put_body(all, request, described, plan);
	result = put_rest(pl_range(body_end, all.end), request, described);
	if (!result)
		return start;
	take_back(all, body_end);
	return result;
}

static long original(const pl_request_t *request)
{
	return pl_ops->mmap(request->addr, request->length, request->prot, request->flags, -1, 0);
}

long pl_shared_map(const pl_request_t *request)
{
	pl_shared_request_t described = { .kind = PL_KIND_SHARED,
					  .length = request->length,
					  .sparse = request->flags & MAP_NORESERVE };
	const pl_facts_t *facts = pl_context_facts_for(request->length);
	pl_shared_plan_t plan;
	long start;

	pl_pools_describe(&described);
	plan = pl_policy_shared(&described, &pl_context.config, facts);
	if (plan.reason == PL_REASON_POOL_EMPTY || plan.reason == PL_REASON_POOL_SHORT)
		pl_pools_note(false);
	if (pl_context.locks_future)
		plan = (pl_shared_plan_t){ .reason = PL_REASON_LOCKED };
	pl_count(PL_COUNTER_MAP_DECIDED);
	if (!plan.bytes[0] && !plan.bytes[1] && plan.rest == PL_SHMEM_LEAVE) {
		pl_count_reason(plan.reason);
		return original(request);
	}
	start = place(request, &described, &plan);
	pl_count_reason(pl_sys_failed(start) ? PL_REASON_PLACE_FAILED : plan.reason);
	if (pl_sys_failed(start))
		return original(request);
	pl_count(PL_COUNTER_PLACED);
	return start;
}
