/* SPDX-License-Identifier: MIT */
#include "facts/cgroups.h"

#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "base/sys.h"
#include "base/text.h"

/* What version 1 shows for "no limit": the largest multiple of the page below 2^63, or a little
 * less (mm/page_counter.c, PAGE_COUNTER_MAX). */
static const uint64_t no_limit = UINT64_C(1) << 62;

static bool read_number(const char *root, const char *folder, const char *file, uint64_t *ret_value)
{
	char path[PL_PATH_MAX];
	char content[64];
	pl_text_t text = PL_TEXT_INIT(path, -1);

	pl_text_format(&text, "%s/%s", folder, file);
	if (pl_file_read(root, pl_text_end(&text), content, sizeof(content)) <= 0 ||
	    *content < '0' || *content > '9')
		return false; /* "max" is no limit */
	pl_parse_number(content, 10, ret_value);
	return true;
}

static uint64_t group_leaves(const char *root, const char *folder, const char *limit_file,
			     const char *used_file)
{
	uint64_t limit;
	uint64_t used;

	if (!read_number(root, folder, limit_file, &limit) || limit >= no_limit)
		return UINT64_MAX;
	if (!read_number(root, folder, used_file, &used))
		return UINT64_MAX;
	return limit > used ? limit - used : 0;
}

/* A limit of any ancestor counts: walks from the group up to the mount. Shortens `group`. */
static uint64_t groups_leave(const char *root, const char *mount, char *group,
			     const char *limit_file, const char *used_file)
{
	uint64_t least = UINT64_MAX;

	for (;;) {
		char folder[PL_PATH_MAX];
		pl_text_t text = PL_TEXT_INIT(folder, -1);
		char *slash = strrchr(group, '/');
		uint64_t leaves;

		pl_text_format(&text, "%s%s", mount, group);
		leaves = group_leaves(root, pl_text_end(&text), limit_file, used_file);
		least = leaves < least ? leaves : least;
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* Alone, or beside the hierarchies of version 1. */
static uint64_t unified_leaves(const char *root, const char *group, const pl_cgroup_files_t *files)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < PL_ARRAY_LEN(mounts); i++) {
		char path[PL_PATH_MAX];
		pl_text_t text = PL_TEXT_INIT(path, -1);
		uint64_t leaves;

		pl_text_format(&text, "%s", group);
		pl_text_end(&text);
		leaves = groups_leave(root, mounts[i], path, files->v2_limit, files->v2_used);
		least = leaves < least ? leaves : least;
	}
	return least;
}

/* Whether the comma list between the colons of "4:cpu,cpuacct:/path" has the name. */
static bool lists(const char *line, const char *name)
{
	size_t length = strlen(name);
	const char *at = strchr(line, ':');

	while (at && *at != '/') {
		at++;
		if (strncmp(at, name, length) == 0 && (at[length] == ':' || at[length] == ','))
			return true;
		at = strpbrk(at, ",:");
		if (at && *at == ':')
			return false;
	}
	return false;
}

/* A line of /proc/self/cgroup: "0::/path" is version 2, "4:memory:/path" version 1. */
static uint64_t line_leaves(const char *root, char *line, const pl_cgroup_files_t *files)
{
	char mount[PL_PATH_MAX];
	pl_text_t text = PL_TEXT_INIT(mount, -1);
	char *path = strchr(line, '/');

	if (!path)
		return UINT64_MAX;
	if (strncmp(line, "0::", 3) == 0)
		return unified_leaves(root, path, files);
	if (!lists(line, files->controller))
		return UINT64_MAX;
	pl_text_format(&text, "/sys/fs/cgroup/%s", files->controller);
	return groups_leave(root, pl_text_end(&text), path, files->v1_limit, files->v1_used);
}

uint64_t pl_cgroups_leave(const char *root, const pl_cgroup_files_t *files)
{
	int fd = pl_file_open(root, "/proc/self/cgroup");
	uint64_t least = UINT64_MAX;
	pl_lines_t lines;
	char *line;

	if (fd < 0)
		return least;
	pl_lines_init(&lines, fd);
	while ((line = pl_lines_next(&lines))) {
		uint64_t leaves = line_leaves(root, line, files);

		least = leaves < least ? leaves : least;
	}
	pl_sys_close(fd);
	return least;
}
