/* SPDX-License-Identifier: MIT */
/*
 * What the program sees of shared memory that we put on hugetlb pages. The kernel refuses calls
 * that cut such a page (EINVAL); these stand in front of the kernel and give the program the effect
 * that it would see on base pages.
 */
#ifndef PL_PLACEMENT_CONTRACT_H
#define PL_PLACEMENT_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/types.h"

/* Whether an edge of the range cuts a hugetlb page of ours. Cheap where there are none. */
bool pl_contract_cuts(pl_range_t range);

/* munmap of a range that cuts: whole pages go, of a cut one the part is noted, and it goes with its
 * last part. Returns 0, or what the kernel said to the whole pages; then nothing was noted. */
long pl_contract_unmap(pl_range_t range);

/* madvise over hugetlb memory of ours. Returns false where the kernel's own answer is right. */
bool pl_contract_advise(pl_range_t range, int advice, long *ret_result);

/*
 * Before a call that has to cut pages (mprotect, MAP_FIXED, mremap): puts the cut ones back on base
 * pages, contents kept. Only while nobody else can see the memory or write to it meanwhile: an
 * anonymous map, a process that has one thread, no children and has never forked. Returns whether
 * the call can go on; when not, the kernel will refuse it, and the books must not change.
 */
bool pl_contract_make_plain(pl_range_t range);

/* The same for all of a range, as one plain map: for mremap, which takes one map only. */
bool pl_contract_make_whole_plain(pl_range_t range);

/* In the parent and in the child of a fork: from here on shared memory is seen by others. */
void pl_contract_after_fork(void);

#endif
