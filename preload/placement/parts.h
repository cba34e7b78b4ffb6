/* SPDX-License-Identifier: MIT */
/* Parts of hugetlb pages that the program has unmapped while the page itself has to stay. */
#ifndef PL_PLACEMENT_PARTS_H
#define PL_PLACEMENT_PARTS_H

#include <stdbool.h>

#include "base/types.h"

/* Notes that a part of a page is gone. Returns whether all of the page is gone now: then it is
 * forgotten here, and the caller unmaps it. A part that cannot be noted is counted; its page stays
 * until the process ends. */
bool pl_parts_add(pl_range_t page, pl_range_t part);

/* What lies in the range is not ours to remember any more: it was unmapped or replaced. */
void pl_parts_forget(pl_range_t range);

/* The first noted part in a range; empty when there is none. */
pl_range_t pl_parts_find(pl_range_t range);

/* In a forked child: frees the lock. */
void pl_parts_after_fork(void);

#endif
