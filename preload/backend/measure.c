/* SPDX-License-Identifier: MIT */
#include "backend/measure.h"

#include <sys/ioctl.h>

#include "base/file.h"
#include "base/sys.h"

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

static void add_regions(const struct scan_region *regions, long count, pl_usage_t *usage)
{
	for (long i = 0; i < count; i++) {
		uint64_t length = regions[i].end - regions[i].start;

		if (regions[i].categories & SCAN_ZERO_PAGE)
			continue;
		usage->resident += length;
		if (regions[i].categories & SCAN_HUGE)
			usage->large += length;
	}
}

static int scan(int fd, pl_range_t range, pl_usage_t *usage)
{
	struct scan_region regions[64] = { 0 };
	struct scan_argument argument = {
		.size = sizeof(argument),
		.end = range.end,
		.vec = (uintptr_t)regions,
		.vec_len = PL_ARRAY_LEN(regions),
		.category_mask = SCAN_PRESENT,
		.return_mask = SCAN_PRESENT | SCAN_ZERO_PAGE | SCAN_HUGE,
	};

	for (argument.start = range.start; argument.start < range.end;
	     argument.start = argument.walk_end) {
		long count = pl_sys_ioctl(fd, SCAN_IOCTL, &argument);

		if (count < 0)
			return (int)count;
		add_regions(regions, count, usage);
		if (argument.walk_end <= argument.start)
			break;
	}
	return 0;
}

int pl_measure(pl_range_t range, uintptr_t large_page, pl_usage_t *usage)
{
	pl_range_t blocks = pl_range_whole_blocks(range, large_page);
	int result;
	int fd;

	if (pl_range_empty(blocks))
		return 0;
	fd = pl_file_open("", "/proc/self/pagemap");
	if (fd < 0)
		return fd;
	result = scan(fd, blocks, usage);
	pl_sys_close(fd);
	return result;
}
