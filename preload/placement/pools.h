/* SPDX-License-Identifier: MIT */
/* What this process knows of the hugetlb pools: what it took, and when it is not worth asking. */
#ifndef PL_PLACEMENT_POOLS_H
#define PL_PLACEMENT_POOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/shared.h"

/* Fills in everything but kind, length and sparse: pools, memory, bytes taken, back-off. Asks the
 * kernel nothing when the answer cannot matter. */
void pl_pools_describe(pl_shared_request_t *request);

/* Whether pages come from a hugetlbfs mount alone (PAGELIFT_HUGETLBFS). */
bool pl_pools_are_on_mount(void);

/* Bytes that could be committed now. */
uint64_t pl_memory_now(void);

/* Whether any memory of this process is, or was, on hugetlb pages by the shim; and notes it. */
bool pl_pools_in_use(void);
void pl_pools_use(void);

/* Counts bytes taken from a pool and given back, for PAGELIFT_MAX_BYTES. */
void pl_pools_take(size_t bytes);
void pl_pools_give_back(size_t bytes);

/* After an attempt on the pools: a failure doubles the number of requests that pass before the
 * next one (to 64), a success ends that. */
void pl_pools_note(bool succeeded);

#endif
