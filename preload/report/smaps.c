/* SPDX-License-Identifier: MIT */
#include "report/smaps.h"

#include "base/file.h"
#include "base/sys.h"

int pl_smaps_process(const char *root, pl_process_usage_t *ret_usage)
{
	pl_process_usage_t usage = { 0 };
	int fd = pl_file_open(root, "/proc/self/smaps_rollup");
	pl_lines_t lines;
	char *line;

	if (fd < 0)
		return fd;
	pl_lines_init(&lines, fd);
	while ((line = pl_lines_next(&lines))) {
		uint64_t kib;

		if (pl_parse_field(line, "Anonymous:", &kib))
			usage.anonymous = kib * PL_KIB;
		else if (pl_parse_field(line, "AnonHugePages:", &kib))
			usage.anonymous_large = kib * PL_KIB;
	}
	pl_sys_close(fd);
	*ret_usage = usage;
	return 0;
}

/* "55d0c8a00000-55d0c8a21000 rw-p ..." starts a map; field lines start with a capital. */
static bool parse_map(const char *line, pl_range_t *ret_map)
{
	uint64_t start;
	uint64_t end;
	const char *rest = pl_parse_number(line, 16, &start);

	if (rest == line || *rest != '-')
		return false;
	pl_parse_number(rest + 1, 16, &end);
	*ret_map = pl_range(start, end);
	return true;
}

static uint64_t share(uint64_t bytes, pl_range_t map, pl_range_t range)
{
	uint64_t inside = pl_range_length(pl_range_clip(map, range));
	uint64_t whole = pl_range_length(map);

	return whole ? (uint64_t)((unsigned __int128)bytes * inside / whole) : 0;
}

/* Pages of the pools are not in Rss, and shared memory on transparent ones is in no Anon field. */
static void add_field(const char *line, pl_range_t map, pl_range_t range, pl_usage_t *usage)
{
	uint64_t kib;

	if (pl_parse_field(line, "Rss:", &kib)) {
		usage->resident += share(kib * PL_KIB, map, range);
	} else if (pl_parse_field(line, "AnonHugePages:", &kib) ||
		   pl_parse_field(line, "ShmemPmdMapped:", &kib)) {
		usage->large += share(kib * PL_KIB, map, range);
	} else if (pl_parse_field(line, "Shared_Hugetlb:", &kib) ||
		   pl_parse_field(line, "Private_Hugetlb:", &kib)) {
		usage->resident += share(kib * PL_KIB, map, range);
		usage->large += share(kib * PL_KIB, map, range);
	}
}

int pl_smaps_range(const char *root, pl_range_t range, pl_usage_t *usage)
{
	int fd = pl_file_open(root, "/proc/self/smaps");
	pl_range_t map = { 0 };
	pl_lines_t lines;
	char *line;

	if (fd < 0)
		return fd;
	pl_lines_init(&lines, fd);
	while ((line = pl_lines_next(&lines)))
		if (!parse_map(line, &map) && pl_range_meets(map, range))
			add_field(line, map, range, usage);
	pl_sys_close(fd);
	return 0;
}
