/* SPDX-License-Identifier: MIT */
/* madvise as it passes through placement: the program's own advice always wins over ours. */
#ifndef PL_PLACEMENT_ADVICE_H
#define PL_PLACEMENT_ADVICE_H

#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

/* Returns what madvise(2) returns, as 0 or a negative errno. The caller is inside pl_enter(). */
long pl_advise(pl_origin_t origin, uintptr_t addr, size_t length, int advice);

#endif
