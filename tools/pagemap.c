/* SPDX-License-Identifier: MIT */
#include "tools/pagemap.h"

#include "backend/scan.h"

int pl_pagemap_measure(int fd, uint64_t start, uint64_t end, pl_resident_t *ret_resident)
{
	pl_scan_sum_t sum;
	int result = pl_scan(fd, start, end, &sum);

	if (!result)
		*ret_resident = (pl_resident_t){ .resident = sum.resident, .large = sum.large };
	return result;
}
