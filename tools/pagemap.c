/* SPDX-License-Identifier: MIT */
#include "tools/pagemap.h"

#include <errno.h>
#include <sys/ioctl.h>

/* include/uapi/linux/fs.h of Linux 6.7; older headers have none of it. */
struct scan_region {
	uint64_t start;
	uint64_t end;
	uint64_t categories;
};

struct scan_argument {
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

#define SCAN_IOCTL _IOWR('f', 16, struct scan_argument)

enum { SCAN_PRESENT = 1 << 3, SCAN_ZERO_PAGE = 1 << 5, SCAN_HUGE = 1 << 6 };
enum { REGIONS = 512 };

static void add_regions(const struct scan_region *regions, int count, pl_resident_t *resident)
{
	for (int i = 0; i < count; i++) {
		uint64_t length = regions[i].end - regions[i].start;

		if (regions[i].categories & SCAN_ZERO_PAGE)
			continue;
		resident->resident += length;
		if (regions[i].categories & SCAN_HUGE)
			resident->large += length;
	}
}

int pl_pagemap_measure(int fd, uint64_t start, uint64_t end, pl_resident_t *ret_resident)
{
	struct scan_region regions[REGIONS];
	struct scan_argument argument = {
		.size = sizeof(argument),
		.end = end,
		.vec = (uintptr_t)regions,
		.vec_len = REGIONS,
		.category_mask = SCAN_PRESENT,
		.return_mask = SCAN_PRESENT | SCAN_ZERO_PAGE | SCAN_HUGE,
	};
	pl_resident_t resident = { 0 };

	for (argument.start = start; argument.start < end; argument.start = argument.walk_end) {
		int count = ioctl(fd, SCAN_IOCTL, &argument);

		if (count < 0)
			return -errno;
		add_regions(regions, count, &resident);
		if (argument.walk_end <= argument.start)
			break;
	}
	*ret_resident = resident;
	return 0;
}
