/* SPDX-License-Identifier: MIT */
/* Event counters, kept with relaxed atomics. */
#ifndef PL_REPORT_COUNTERS_H
#define PL_REPORT_COUNTERS_H

#include <stdint.h>

#include "policy/policy.h"

typedef enum {
#define COUNTER(id, name, meaning) PL_COUNTER_##id,
#include "report/counters.def"
#undef COUNTER
	PL_COUNTERS
} pl_counter_t;

extern uint64_t pl_counters[PL_COUNTERS];
extern uint64_t pl_reason_counts[PL_REASONS];

static inline void pl_count(pl_counter_t counter)
{
	__atomic_fetch_add(&pl_counters[counter], 1, __ATOMIC_RELAXED);
}

static inline void pl_count_reason(pl_reason_t reason)
{
	__atomic_fetch_add(&pl_reason_counts[reason], 1, __ATOMIC_RELAXED);
}

const char *pl_counter_name(pl_counter_t counter);

#endif
