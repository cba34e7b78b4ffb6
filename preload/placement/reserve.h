/* SPDX-License-Identifier: MIT */
/*
 * Address space that a program reserves without access and commits piece by piece with MAP_FIXED
 * (JVM heaps, MariaDB's buffer pool). Nothing is moved. A commit makes a new map without our
 * advice, so each is advised again, on the large-page cover of small ones.
 */
#ifndef PL_PLACEMENT_RESERVE_H
#define PL_PLACEMENT_RESERVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/types.h"
#include "policy/policy.h"

/* A MAP_FIXED call over `range`. Returns false, and does nothing, unless it is private anonymous
 * memory inside a reservation of ours; else *ret_result is the call's result. */
bool pl_reserve_commit(const pl_request_t *request, pl_range_t range, int fd, off_t offset,
		       long *ret_result);

#endif
