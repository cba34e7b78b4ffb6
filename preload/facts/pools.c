/* SPDX-License-Identifier: MIT */
#include "facts/pools.h"

#include "base/file.h"
#include "base/sys.h"
#include "base/text.h"
#include "base/types.h"
#include "facts/cgroups.h"

static uint64_t less(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

static uint64_t read_pool(const char *root, uint64_t page, const char *file)
{
	char path[PL_PATH_MAX];
	char content[64];
	pl_text_t text = PL_TEXT_INIT(path, -1);
	uint64_t value = 0;

	pl_text_format(&text, "/sys/kernel/mm/hugepages/hugepages-%lukB/%s",
		       (unsigned long)(page / PL_KIB), file);
	if (pl_file_read(root, pl_text_end(&text), content, sizeof(content)) > 0)
		pl_parse_number(content, 10, &value);
	return value;
}

static uint64_t pool_leaves(const char *root, uint64_t page)
{
	uint64_t free_pages = read_pool(root, page, "free_hugepages");
	uint64_t beyond = less(read_pool(root, page, "nr_overcommit_hugepages"),
			       read_pool(root, page, "surplus_hugepages"));

	return less(free_pages + beyond, read_pool(root, page, "resv_hugepages"));
}

/* One of the two limits of the hugetlb controller, `infix` being "" (on faults) or "rsvd." (on
 * reservations). The files' names have the size as mm/hugetlb_cgroup.c writes it. */
static uint64_t groups_leave(const char *root, uint64_t page, const char *infix)
{
	static const char *const names[] = { "limit_in_bytes", "usage_in_bytes", "max", "current" };
	bool giant = page >= PL_GIB;
	unsigned long count = (unsigned long)(page / (giant ? PL_GIB : PL_MIB));
	char paths[PL_ARRAY_LEN(names)][64];

	for (size_t i = 0; i < PL_ARRAY_LEN(names); i++) {
		pl_text_t text = PL_TEXT_INIT(paths[i], -1);

		pl_text_format(&text, "hugetlb.%lu%s.%s%s", count, giant ? "GB" : "MB", infix,
			       names[i]);
		pl_text_end(&text);
	}
	return pl_cgroups_leave(root, &(pl_cgroup_files_t){ .controller = "hugetlb",
							    .v1_limit = paths[0],
							    .v1_used = paths[1],
							    .v2_limit = paths[2],
							    .v2_used = paths[3] });
}

uint64_t pl_pool_available(const char *root, uint64_t page)
{
	uint64_t pages = pool_leaves(root, page);
	uint64_t faults;
	uint64_t reservations;

	if (!pages)
		return 0;
	faults = groups_leave(root, page, "");
	reservations = groups_leave(root, page, "rsvd.");
	if (reservations < faults)
		faults = reservations;
	return faults / page < pages ? faults / page : pages;
}

static uint64_t mem_available(const char *root)
{
	int fd = pl_file_open(root, "/proc/meminfo");
	uint64_t kib = 0;
	pl_lines_t lines;
	char *line;

	if (fd < 0)
		return 0;
	pl_lines_init(&lines, fd);
	while ((line = pl_lines_next(&lines)))
		if (pl_parse_field(line, "MemAvailable:", &kib))
			break;
	pl_sys_close(fd);
	return kib * PL_KIB;
}

uint64_t pl_memory_available(const char *root)
{
	static const pl_cgroup_files_t files = { .controller = "memory",
						 .v1_limit = "memory.limit_in_bytes",
						 .v1_used = "memory.usage_in_bytes",
						 .v2_limit = "memory.max",
						 .v2_used = "memory.current" };
	uint64_t machine = mem_available(root);
	uint64_t groups = pl_cgroups_leave(root, &files);

	return groups < machine ? groups : machine;
}
