/* SPDX-License-Identifier: MIT */
#include "policy/policy.h"

#include <sys/mman.h>

#include "base/types.h"

#ifdef MAP_32BIT
#define MAP_32BIT_OR_NONE MAP_32BIT
#else
#define MAP_32BIT_OR_NONE 0 /* x86-64 alone has it */
#endif

/* Above this a large page wastes more than it gains: with 64K base pages aarch64 has 512M. */
static const uint64_t largest_page = 32 * PL_MIB;

static const int known_flags = MAP_TYPE | MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE |
			       MAP_NORESERVE | MAP_POPULATE | MAP_NONBLOCK | MAP_DENYWRITE |
			       MAP_EXECUTABLE | MAP_32BIT_OR_NONE;

static const struct {
	const char *name;
	unsigned int set;
} kinds[] = {
#define KIND(id, name, set, meaning) { name, set },
#include "policy/kinds.def"
#undef KIND
};

static const char *const reasons[] = {
#define REASON(id, name, meaning) name,
#include "policy/reasons.def"
#undef REASON
};

const char *pl_kind_name(pl_kind_t kind)
{
	return kinds[kind].name;
}

bool pl_kind_is_shared(pl_kind_t kind)
{
	return kind == PL_KIND_SHARED || kind == PL_KIND_SHM || kind == PL_KIND_TMPFS;
}

const char *pl_reason_name(pl_reason_t reason)
{
	return reasons[reason];
}

static pl_verdict_t leave(pl_reason_t reason)
{
	return (pl_verdict_t){ .reason = reason };
}

pl_kind_t pl_policy_kind(const pl_request_t *request)
{
	if (request->prot == PROT_NONE)
		return PL_KIND_RESERVE;
	return request->origin == PL_ORIGIN_LIBC ? PL_KIND_CHUNK : PL_KIND_MAP;
}

/* What no configuration makes placeable. PLACED stands for "nothing against it". */
static pl_reason_t refuse_nature(const pl_request_t *request)
{
	if (!(request->flags & MAP_ANONYMOUS))
		return PL_REASON_NOT_ANONYMOUS;
	if ((request->flags & MAP_TYPE) != MAP_PRIVATE)
		return PL_REASON_SHARED;
	if (request->flags & (MAP_STACK | MAP_GROWSDOWN))
		return PL_REASON_STACK;
	if (request->flags & MAP_HUGETLB)
		return PL_REASON_ALREADY_LARGE;
	if (request->flags & MAP_LOCKED)
		return PL_REASON_LOCKED;
	if (request->flags & ~known_flags)
		return PL_REASON_UNKNOWN_FLAGS;
	return PL_REASON_PLACED;
}

pl_verdict_t pl_policy_in_place(pl_kind_t kind, const pl_config_t *config, const pl_facts_t *facts)
{
	pl_verdict_t verdict = { .advise = true, .reason = PL_REASON_PLACED };

	if (config->backend == PL_BACKEND_BASE)
		return leave(PL_REASON_BACKEND_BASE);
	if (!(config->segments & kinds[kind].set))
		return leave(PL_REASON_NOT_SELECTED);
	if (config->backend == PL_BACKEND_HUGETLB && !pl_kind_is_shared(kind))
		return leave(PL_REASON_BACKEND_HUGETLB);
	if (facts->confined)
		return leave(PL_REASON_CONFINED);
	if (!facts->large_page || facts->advice_unknown)
		return leave(PL_REASON_NO_LARGE_PAGES);
	if (facts->large_page > largest_page)
		return leave(PL_REASON_PAGE_TOO_LARGE);
	if (facts->thp_mode == PL_THP_NEVER)
		verdict.reason = PL_REASON_THP_NEVER;
	else if (facts->thp_disabled == 1)
		verdict.reason = PL_REASON_THP_DISABLED;
	else if (facts->thp_mode == PL_THP_UNKNOWN)
		verdict.reason = PL_REASON_THP_UNKNOWN;
	return verdict;
}

/* A start may be chosen for the program only when it named none, and not for a reservation: what is
 * committed in it later has its own alignment. */
static bool may_move(const pl_request_t *request)
{
	return !request->addr && !(request->flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) &&
	       !(request->flags & MAP_32BIT_OR_NONE) && request->prot != PROT_NONE;
}

pl_verdict_t pl_policy_map(const pl_request_t *request, const pl_config_t *config,
			   const pl_facts_t *facts, uint64_t maps_added)
{
	pl_reason_t reason = refuse_nature(request);
	pl_verdict_t verdict;

	if (reason != PL_REASON_PLACED)
		return leave(reason);
	verdict = pl_policy_in_place(pl_policy_kind(request), config, facts);
	if (!verdict.advise)
		return verdict;
	if (request->length < config->min_size || request->length < facts->large_page)
		return leave(PL_REASON_TOO_SMALL);
	verdict.align = may_move(request);
	if (verdict.align && maps_added > facts->max_maps / 4) {
		verdict.align = false;
		if (verdict.reason == PL_REASON_PLACED)
			verdict.reason = PL_REASON_MAP_LIMIT;
	}
	return verdict;
}

bool pl_policy_may_run_ahead(const pl_config_t *config, const pl_facts_t *facts)
{
	return config->backend != PL_BACKEND_BASE && !facts->strict_overcommit &&
	       !facts->limits_tight && !facts->confined;
}
