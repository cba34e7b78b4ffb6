/* SPDX-License-Identifier: MIT */
#include "report/counters.h"

uint64_t pl_counters[PL_COUNTERS];
uint64_t pl_reason_counts[PL_REASONS];

static const char *const names[] = {
#define COUNTER(id, name, meaning) name,
#include "report/counters.def"
#undef COUNTER
};

const char *pl_counter_name(pl_counter_t counter)
{
	return names[counter];
}
