/* SPDX-License-Identifier: MIT */
/* What of a range of another process's memory is resident and large (PAGEMAP_SCAN, Linux 6.7). */
#ifndef PL_TOOLS_PAGEMAP_H
#define PL_TOOLS_PAGEMAP_H

#include <stdint.h>

typedef struct {
	uint64_t resident; /* bytes present, the shared zero page not counted */
	uint64_t large;    /* of these, mapped by a large page of either sort */
} pl_resident_t;

/*
 * fd: an open /proc/PID/pagemap. Returns 0 or -errno: -ENOTTY where the kernel has no such ioctl.
 * Hugetlb pages count like transparent ones.
 */
int pl_pagemap_measure(int fd, uint64_t start, uint64_t end, pl_resident_t *ret_resident);

#endif
