/* SPDX-License-Identifier: MIT */
/* The PAGEMAP_SCAN call of Linux 6.7, for the shim and for the tools (fs/proc/task_mmu.c). */
#ifndef PL_BACKEND_SCAN_H
#define PL_BACKEND_SCAN_H

#include <stdint.h>
#include <sys/ioctl.h>

#include "base/sys.h"

/* include/uapi/linux/fs.h of Linux 6.7; older headers have none of it. */
struct pl_scan_region {
	uint64_t start;
	uint64_t end;
	uint64_t categories;
};

struct pl_scan_argument {
	uint64_t size;
	uint64_t flags;
	uint64_t start;
	uint64_t end;
	uint64_t walk_end;
	uint64_t vec;
	uint64_t vec_len;
	uint64_t max_pages;
	uint64_t category_inverted;
	uint64_t category_mask;
	uint64_t category_anyof_mask;
	uint64_t return_mask;
};

#define PL_SCAN_IOCTL _IOWR('f', 16, struct pl_scan_argument)

enum { PL_SCAN_PRESENT = 1 << 3, PL_SCAN_ZERO_PAGE = 1 << 5, PL_SCAN_HUGE = 1 << 6 };

typedef struct {
	uint64_t resident;
	uint64_t large;
} pl_scan_sum_t;

static inline void pl_scan_add(const struct pl_scan_region *regions, long count, pl_scan_sum_t *sum)
{
	for (long i = 0; i < count; i++) {
		uint64_t length = regions[i].end - regions[i].start;

		if (regions[i].categories & PL_SCAN_ZERO_PAGE)
			continue;
		sum->resident += length;
		if (regions[i].categories & PL_SCAN_HUGE)
			sum->large += length;
	}
}

/* Adds up the pages of [start, end) that are there, without the zero page, and those of them that
 * are mapped as large ones. `fd` is /proc/PID/pagemap. Returns 0 or a negative errno. */
static inline int pl_scan(int fd, uint64_t start, uint64_t end, pl_scan_sum_t *ret_sum)
{
	struct pl_scan_region regions[64] = { 0 };
	pl_scan_sum_t sum = { 0 };
	struct pl_scan_argument argument = {
		.size = sizeof(argument),
		.end = end,
		.vec = (uintptr_t)regions,
		.vec_len = PL_ARRAY_LEN(regions),
		.category_mask = PL_SCAN_PRESENT,
		.return_mask = PL_SCAN_PRESENT | PL_SCAN_ZERO_PAGE | PL_SCAN_HUGE,
	};

	for (argument.start = start; argument.start < end;
	     argument.start = argument.walk_end) {
		long count = pl_sys_ioctl(fd, PL_SCAN_IOCTL, &argument);

		if (count < 0)
			return (int)count;
		pl_scan_add(regions, count, &sum);
		if (argument.walk_end <= argument.start)
			break;
	}
	*ret_sum = sum;
	return 0;
}

#endif
