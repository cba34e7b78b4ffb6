/* SPDX-License-Identifier: MIT */
/*
 * Shared anonymous maps: a body of whole hugetlb pages, the largest first, and behind it one plain
 * shared map for what is left, lifted to transparent huge pages where that holds any. The pieces
 * lie side by side, so that what the program does to the whole length works on all of them.
 */
#ifndef PL_PLACEMENT_SHARED_H
#define PL_PLACEMENT_SHARED_H

#include "policy/policy.h"

/* Whether the call is one for pl_shared_map. */
bool pl_shared_takes(const pl_request_t *request);

/* An mmap call of shared anonymous memory. Returns the address or a negative errno. */
long pl_shared_map(const pl_request_t *request);

#endif
