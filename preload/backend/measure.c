/* SPDX-License-Identifier: MIT */
#include "backend/measure.h"

#include "backend/scan.h"
#include "base/file.h"
#include "base/sys.h"

int pl_measure(pl_range_t range, uintptr_t large_page, pl_usage_t *usage)
{
	pl_range_t blocks = pl_range_whole_blocks(range, large_page);
	pl_scan_sum_t sum;
	int result;
	int fd;

	if (pl_range_empty(blocks))
		return 0;
	fd = pl_file_open("", "/proc/self/pagemap");
	if (fd < 0)
		return fd;
	result = pl_scan(fd, blocks.start, blocks.end, &sum);
	pl_sys_close(fd);
	if (!result) {
		usage->resident += sum.resident;
		usage->large += sum.large;
	}
	return result;
}
