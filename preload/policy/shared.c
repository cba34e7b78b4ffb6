/* SPDX-License-Identifier: MIT */
#include "policy/shared.h"

#include "base/types.h"

/* Lifting commits a whole segment: no more than this share of what is available. */
enum { COMMIT_SHARE = 4 };

static pl_shmem_action_t lift_or_leave(size_t length, uint64_t memory, const pl_config_t *config,
				       pl_reason_t *ret_reason)
{
	uint64_t most = config->populate == PL_POPULATE_EAGER ? memory : memory / COMMIT_SHARE;

	if (config->populate == PL_POPULATE_LAZY)
		*ret_reason = PL_REASON_SHMEM_NEVER;
	else
		*ret_reason = length <= most ? PL_REASON_LIFTED : PL_REASON_SHMEM_TOO_LARGE;
	return *ret_reason == PL_REASON_LIFTED ? PL_SHMEM_LIFT : PL_SHMEM_LEAVE;
}

/* Nothing is committed for memory that announces itself as sparse, unless that is asked for. */
static bool commits_nothing(const pl_shared_request_t *request, const pl_config_t *config)
{
	return request->sparse && config->populate != PL_POPULATE_EAGER;
}

pl_shmem_action_t pl_policy_shmem(const pl_shared_request_t *request, size_t length,
				  const pl_config_t *config, const pl_facts_t *facts,
				  pl_reason_t *ret_reason)
{
	pl_verdict_t verdict = pl_policy_in_place(request->kind, config, facts);

	if (!verdict.advise) {
		*ret_reason = verdict.reason;
		return PL_SHMEM_LEAVE;
	}
	if (config->backend == PL_BACKEND_HUGETLB) {
		*ret_reason = PL_REASON_POOL_EMPTY;
		return PL_SHMEM_LEAVE;
	}
	if (length < config->min_size || length < facts->large_page) {
		*ret_reason = PL_REASON_TOO_SMALL;
		return PL_SHMEM_LEAVE;
	}
	if (facts->thp_disabled == 1 || facts->shmem_mode == PL_SHMEM_DENY) {
		*ret_reason =
			facts->thp_disabled == 1 ? PL_REASON_THP_DISABLED : PL_REASON_SHMEM_FAILED;
		return PL_SHMEM_LEAVE;
	}
	if (facts->shmem_mode == PL_SHMEM_ALWAYS || facts->shmem_mode == PL_SHMEM_ADVISE) {
		*ret_reason = PL_REASON_SHMEM_ADVISED;
		return PL_SHMEM_ADVICE;
	}
	if (commits_nothing(request, config)) {
		*ret_reason = PL_REASON_SPARSE;
		return PL_SHMEM_LEAVE;
	}
	return lift_or_leave(length, request->memory, config, ret_reason);
}

static bool size_is_wanted(const pl_config_t *config, uint64_t page)
{
	if (config->page_size == PL_PAGE_2M)
		return page == 2 * PL_MIB;
	if (config->page_size == PL_PAGE_1G)
		return page == PL_GIB;
	return true;
}

/* Whole pages of one pool for `left` bytes, within the quota. */
static size_t take(const pl_pool_t *pool, size_t left, uint64_t quota, const pl_config_t *config)
{
	uint64_t usable =
		pool->available > config->keep_free ? pool->available - config->keep_free : 0;
	uint64_t wanted;

	if (!pool->page || !size_is_wanted(config, pool->page))
		return 0;
	wanted = left / pool->page;
	if (wanted > quota / pool->page)
		wanted = quota / pool->page;
	return (size_t)((wanted < usable ? wanted : usable) * pool->page);
}

static pl_reason_t reason_for(const pl_shared_request_t *request, const pl_config_t *config,
			      uint64_t quota, size_t taken, uint64_t smallest)
{
	if (request->backing_off)
		return PL_REASON_BACKING_OFF;
	if (taken + smallest > request->length)
		return PL_REASON_POOL;
	if (config->max_bytes && quota < taken + smallest)
		return PL_REASON_POOL_QUOTA;
	return taken ? PL_REASON_POOL_SHORT : PL_REASON_POOL_EMPTY;
}

static uint64_t quota_left(const pl_shared_request_t *request, const pl_config_t *config)
{
	if (!config->max_bytes)
		return UINT64_MAX;
	return config->max_bytes > request->taken ? config->max_bytes - request->taken : 0;
}

static void plan_pools(const pl_shared_request_t *request, const pl_config_t *config,
		       pl_shared_plan_t *plan)
{
	uint64_t quota = quota_left(request, config);
	uint64_t smallest = UINT64_MAX / 2;
	size_t taken = 0;

	for (int i = 0; i < PL_POOLS; i++) {
		const pl_pool_t *pool = &request->pools[i];

		if (!request->backing_off)
			plan->bytes[i] = take(pool, request->length - taken, quota - taken, config);
		taken += plan->bytes[i];
		if (pool->page && size_is_wanted(config, pool->page))
			smallest = pool->page;
	}
	plan->reason = reason_for(request, config, quota, taken, smallest);
}

static bool fits(const pl_pool_t *pool, size_t length, uint64_t most_waste, uint64_t quota,
		 const pl_config_t *config)
{
	uint64_t whole;

	if (!pool->page || !size_is_wanted(config, pool->page))
		return false;
	whole = pl_round_up(length, pool->page);
	return whole - length < most_waste && whole <= quota &&
	       whole / pool->page + config->keep_free <= pool->available;
}

/* Whether a pool could give all pages, of which the last would be mostly waste. */
static bool would_waste(const pl_shared_request_t *request, const pl_config_t *config)
{
	for (int i = 0; i < PL_POOLS; i++) {
		const pl_pool_t *pool = &request->pools[i];

		if (pool->page && size_is_wanted(config, pool->page) &&
		    pl_round_up(request->length, pool->page) / pool->page + config->keep_free <=
			    pool->available)
			return true;
	}
	return false;
}

static pl_reason_t why_no_pool(const pl_shared_request_t *request, uint64_t quota,
			       const pl_config_t *config)
{
	const pl_pool_t *smallest = &request->pools[PL_POOLS - 1];

	if (request->backing_off)
		return PL_REASON_BACKING_OFF;
	if (smallest->page && quota < pl_round_up(request->length, smallest->page))
		return PL_REASON_POOL_QUOTA;
	return would_waste(request, config) ? PL_REASON_POOL_WASTE : PL_REASON_POOL_EMPTY;
}

size_t pl_policy_one_pool(const pl_shared_request_t *request, const pl_config_t *config,
			  const pl_facts_t *facts, pl_reason_t *ret_reason)
{
	pl_verdict_t verdict = pl_policy_in_place(request->kind, config, facts);
	uint64_t quota = quota_left(request, config);

	*ret_reason = verdict.reason;
	if (!verdict.advise || config->backend == PL_BACKEND_THP)
		return 0;
	*ret_reason = PL_REASON_TOO_SMALL;
	if (request->length < config->min_size || request->length < facts->large_page)
		return 0;
	*ret_reason = PL_REASON_POOL_MOUNT;
	if (*config->hugetlbfs)
		return 0;
	for (int i = 0; i < PL_POOLS && !request->backing_off; i++) {
		bool last = i + 1 == PL_POOLS;

		*ret_reason = PL_REASON_POOL;
		if (fits(&request->pools[i], request->length,
			 last ? UINT64_MAX : request->pools[i + 1].page, quota, config))
			return request->pools[i].page;
	}
	*ret_reason = why_no_pool(request, quota, config);
	return 0;
}

pl_shared_plan_t pl_policy_shared(const pl_shared_request_t *request, const pl_config_t *config,
				  const pl_facts_t *facts)
{
	pl_shared_plan_t plan = { .rest = PL_SHMEM_LEAVE };
	pl_verdict_t verdict = pl_policy_in_place(request->kind, config, facts);
	size_t taken;

	if (!verdict.advise) {
		plan.reason = verdict.reason;
		return plan;
	}
	if (request->length < config->min_size || request->length < facts->large_page) {
		plan.reason = PL_REASON_TOO_SMALL;
		return plan;
	}
	if (config->backend != PL_BACKEND_THP && !commits_nothing(request, config))
		plan_pools(request, config, &plan);
	taken = plan.bytes[0] + plan.bytes[1];
	plan.rest = pl_policy_shmem(request, request->length - taken, config, facts,
				    &plan.rest_reason);
	if (!taken && (plan.rest != PL_SHMEM_LEAVE || config->backend == PL_BACKEND_THP ||
		       commits_nothing(request, config)))
		plan.reason = plan.rest_reason;
	return plan;
}
