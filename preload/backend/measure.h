/* SPDX-License-Identifier: MIT */
/* How much of a range of this process is resident and how much of that is on large pages. */
#ifndef PL_BACKEND_MEASURE_H
#define PL_BACKEND_MEASURE_H

#include <stdint.h>

#include "base/types.h"

typedef struct {
	uint64_t resident; /* bytes present, the shared zero page not counted */
	uint64_t large;    /* of these, mapped by a large page */
} pl_usage_t;

/*
 * Measures the whole large pages inside `range` with the PAGEMAP_SCAN ioctl (Linux 6.7,
 * Documentation/admin-guide/mm/pagemap.rst). Adds to *usage. Returns 0 or a negative errno:
 * -ENOTTY on older kernels, -ENOENT without /proc.
 */
int pl_measure(pl_range_t range, uintptr_t large_page, pl_usage_t *usage);

#endif
