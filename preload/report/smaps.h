/* SPDX-License-Identifier: MIT */
/* What /proc/PID/smaps and smaps_rollup say (proc_pid_smaps(5)), below a root directory. */
#ifndef PL_REPORT_SMAPS_H
#define PL_REPORT_SMAPS_H

#include <stdint.h>

#include "backend/measure.h"
#include "base/types.h"

typedef struct {
	uint64_t anonymous;       /* bytes of resident anonymous memory */
	uint64_t anonymous_large; /* of these, on transparent huge pages */
} pl_process_usage_t;

/* The whole process. Returns 0 or a negative errno (-ENOENT before Linux 4.14). */
int pl_smaps_process(const char *root, pl_process_usage_t *ret_usage);

/* One range, for kernels without PAGEMAP_SCAN. A map that reaches over the range counts by the
 * share of its length that lies inside, since smaps has no finer figure. Adds to *usage. */
int pl_smaps_range(const char *root, pl_range_t range, pl_usage_t *usage);

#endif
