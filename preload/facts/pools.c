/* SPDX-License-Identifier: MIT */
#include "facts/pools.h"

#include <string.h>

#include "base/file.h"
#include "base/sys.h"
#include "base/text.h"
#include "base/types.h"

static bool read_number(const char *root, const char *path, uint64_t *ret_value)
{
	char text[64];

	if (pl_file_read(root, path, text, sizeof(text)) <= 0 || *text < '0' || *text > '9')
		return false;
	pl_parse_number(text, 10, ret_value);
	return true;
}

static uint64_t read_pool(const char *root, uint64_t page, const char *file)
{
	char path[PL_PATH_MAX];
	pl_text_t text = PL_TEXT_INIT(path, -1);
	uint64_t value = 0;

	pl_text_format(&text, "/sys/kernel/mm/hugepages/hugepages-%lukB/%s",
		       (unsigned long)(page / PL_KIB), file);
	read_number(root, pl_text_end(&text), &value);
	return value;
}

static uint64_t less(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

uint64_t pl_pool_available(const char *root, uint64_t page)
{
	uint64_t free_pages = read_pool(root, page, "free_hugepages");
	uint64_t beyond = less(read_pool(root, page, "nr_overcommit_hugepages"),
			       read_pool(root, page, "surplus_hugepages"));

	return less(free_pages + beyond, read_pool(root, page, "resv_hugepages"));
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

/* What one group leaves; UINT64_MAX when it has no limit or cannot be read ("max"). */
static uint64_t group_leaves(const char *root, const char *folder, const char *limit_file,
			     const char *used_file)
{
	char path[PL_PATH_MAX];
	pl_text_t text = PL_TEXT_INIT(path, -1);
	uint64_t limit;
	uint64_t used;

	pl_text_format(&text, "%s/%s", folder, limit_file);
	if (!read_number(root, pl_text_end(&text), &limit))
		return UINT64_MAX;
	text.used = 0;
	pl_text_format(&text, "%s/%s", folder, used_file);
	return read_number(root, pl_text_end(&text), &used) ? less(limit, used) : UINT64_MAX;
}

/* A limit of any ancestor counts: walks from the group up to the mount. */
static uint64_t groups_leave(const char *root, const char *mount, char *group, bool v2)
{
	uint64_t least = UINT64_MAX;

	for (;;) {
		char folder[PL_PATH_MAX];
		pl_text_t text = PL_TEXT_INIT(folder, -1);
		char *slash = strrchr(group, '/');
		uint64_t leaves;

		pl_text_format(&text, "%s%s", mount, group);
		leaves = v2 ? group_leaves(root, pl_text_end(&text), "memory.max", "memory.current")
			    : group_leaves(root, pl_text_end(&text), "memory.limit_in_bytes",
					   "memory.usage_in_bytes");
		least = leaves < least ? leaves : least;
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* A line of /proc/self/cgroup: "0::/path" is version 2, "4:memory:/path" version 1 (cgroups(7)). */
static uint64_t line_leaves(const char *root, char *line)
{
	char *path = strchr(line, '/');
	uint64_t unified;
	uint64_t hybrid;

	if (path && strncmp(line, "0::", 3) == 0) {
		char again[PL_PATH_MAX];
		pl_text_t text = PL_TEXT_INIT(again, -1);

		pl_text_format(&text, "%s", path);
		pl_text_end(&text);
		unified = groups_leave(root, "/sys/fs/cgroup", path, true);
		hybrid = groups_leave(root, "/sys/fs/cgroup/unified", again, true);
		return unified < hybrid ? unified : hybrid;
	}
	if (path && strstr(line, ":memory:"))
		return groups_leave(root, "/sys/fs/cgroup/memory", path, false);
	return UINT64_MAX;
}

uint64_t pl_memory_available(const char *root)
{
	uint64_t least = mem_available(root);
	int fd = pl_file_open(root, "/proc/self/cgroup");
	pl_lines_t lines;
	char *line;

	if (fd < 0)
		return least;
	pl_lines_init(&lines, fd);
	while ((line = pl_lines_next(&lines))) {
		uint64_t leaves = line_leaves(root, line);

		least = leaves < least ? leaves : least;
	}
	pl_sys_close(fd);
	return least;
}
