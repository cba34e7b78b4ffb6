/* SPDX-License-Identifier: MIT */
/* Decides where shared memory goes: which part on which hugetlb pages, and what becomes of the
 * rest. Pure, like policy.h. */
#ifndef PL_POLICY_SHARED_H
#define PL_POLICY_SHARED_H

#include "policy/policy.h"

enum { PL_POOLS = 2 }; /* the giant pages and the large ones, in this order */

typedef struct {
	uint64_t page; /* bytes */
	uint64_t available;
} pl_pool_t;

typedef struct {
	pl_kind_t kind;
	size_t length;
	pl_pool_t pools[PL_POOLS]; /* page = 0: none of this size here */
	uint64_t taken;            /* bytes this process has on hugetlb already */
	uint64_t memory;           /* available, for what would be committed */
	bool backing_off;
	bool sparse; /* MAP_NORESERVE */
} pl_shared_request_t;

/* What to do with memory that hugetlb does not take. */
typedef enum { PL_SHMEM_LEAVE, PL_SHMEM_ADVICE, PL_SHMEM_LIFT } pl_shmem_action_t;

typedef struct {
	size_t bytes[PL_POOLS]; /* whole pages of each pool, largest first */
	pl_shmem_action_t rest;
	pl_reason_t reason;      /* of the hugetlb part, when it has bytes; else of all */
	pl_reason_t rest_reason; /* of a rest that holds a large page */
} pl_shared_plan_t;

pl_shared_plan_t pl_policy_shared(const pl_shared_request_t *request, const pl_config_t *config,
				  const pl_facts_t *facts);

/* For a segment that must be on pages of one size (SysV): that size, or 0 with the reason why it is
 * not on hugetlb. A size may waste less than one of the next smaller pages. */
size_t pl_policy_one_pool(const pl_shared_request_t *request, const pl_config_t *config,
			  const pl_facts_t *facts, pl_reason_t *ret_reason);

/* The second half of it: for the part of `length` bytes that can only be on transparent huge
 * pages. */
pl_shmem_action_t pl_policy_shmem(const pl_shared_request_t *request, size_t length,
				  const pl_config_t *config, const pl_facts_t *facts,
				  pl_reason_t *ret_reason);

#endif
