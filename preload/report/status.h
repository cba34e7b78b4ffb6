/* SPDX-License-Identifier: MIT */
/*
 * The status page: where a tool finds the shim's state in a running process, by process_vm_readv(2)
 * (the kernel checks who may). It holds addresses, so nothing is kept twice and nothing is written
 * for readers that may never come. A reader takes the exported symbol pagelift_status from the
 * shim's own file, compares magic, version and sizes with its own, and reads what the addresses
 * name.
 */
#ifndef PL_REPORT_STATUS_H
#define PL_REPORT_STATUS_H

#include <stdint.h>

#include "config/config.h"
#include "facts/facts.h"
#include "registry/registry.h"
#include "report/counters.h"

#define PL_STATUS_MAGIC   "pagelift"
#define PL_STATUS_VERSION 1

typedef struct {
	char magic[8];
	uint32_t version;
	uint32_t size;        /* of this structure */
	char package[16];     /* the release: enumerations are only comparable within one */
	uint32_t config_size; /* sizes of what the addresses name, as the shim was built */
	uint32_t facts_size;
	uint32_t segment_size;
	uint32_t counter_count;
	uint32_t reason_count;
	uint32_t padding;
	const uint32_t *state; /* pl_state_t: 2 is ready, 3 is off */
	const pl_config_t *config;
	const pl_facts_t *facts;      /* zeros until the first request that needed them */
	const char *const *condition; /* of the redirection inside libc; "ok" when it was done */
	const uint64_t *counters;
	const uint64_t *reasons;
	const pl_registry_view_t *registry;
} pl_status_t;

#endif
