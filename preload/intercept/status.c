/* SPDX-License-Identifier: MIT */
/* The one symbol that is exported for tools (report/status.h). */
#include "report/status.h"

#include "base/types.h"
#include "intercept/lifecycle.h"
#include "placement/context.h"

PL_EXPORT const pl_status_t pagelift_status = {
	.magic = PL_STATUS_MAGIC,
	.version = PL_STATUS_VERSION,
	.size = sizeof(pl_status_t),
	.package = PACKAGE_VERSION,
	.config_size = sizeof(pl_config_t),
	.facts_size = sizeof(pl_facts_t),
	.segment_size = sizeof(pl_segment_t),
	.counter_count = PL_COUNTERS,
	.reason_count = PL_REASONS,
	.state = &pl_context.state,
	.config = &pl_context.config,
	.facts = &pl_context_facts_page,
	.condition = &pl_lifecycle_condition,
	.counters = pl_counters,
	.reasons = pl_reason_counts,
	.registry = &pl_registry_view,
};
