/* SPDX-License-Identifier: MIT */
/*
 * Limits that the program sets itself: from then on nothing runs ahead, and what already did goes
 * back, because an mmap that would succeed without us must succeed.
 */
#ifndef PL_PLACEMENT_LIMITS_H
#define PL_PLACEMENT_LIMITS_H

#include <sys/resource.h>

/* Before the kernel sets `limit` for this process (NULL when it is only asked). */
void pl_limits_before_set(int resource, const struct rlimit *limit);

/* Before mlockall(flags); after munlockall with flags 0. */
void pl_limits_before_lock(int flags);

#endif
