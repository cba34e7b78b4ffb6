/* SPDX-License-Identifier: MIT */
/* Lifts memory that has small pages already, at the moments when placement knows that it has. */
#ifndef PL_PLACEMENT_PROMOTE_H
#define PL_PLACEMENT_PROMOTE_H

#include "base/types.h"
#include "policy/policy.h"

/* Collapses the whole large pages of a range in which something is resident. Does nothing where the
 * administrator or a prctl has switched large pages off. */
void pl_promote_resident(pl_range_t range);

/* Commits and lifts the whole large pages of a range of shared memory. Returns what came of it. */
pl_reason_t pl_promote_shared(pl_range_t range);

#endif
