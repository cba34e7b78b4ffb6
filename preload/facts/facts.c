/* SPDX-License-Identifier: MIT */
#include "facts/facts.h"

#include <string.h>
#include <sys/prctl.h>

#include "base/file.h"
#include "base/sys.h"
#include "base/types.h"

#define THP_FOLDER "/sys/kernel/mm/transparent_hugepage/"

/* mm/mmap.c: DEFAULT_MAX_MAP_COUNT. */
enum { DEFAULT_MAX_MAPS = 65530 };

const char *pl_facts_thp_name(pl_thp_mode_t mode)
{
	static const char *const names[] = { "unknown", "always", "madvise", "never" };

	return names[mode];
}

/* The word in brackets is in force: "always [madvise] never". */
static pl_thp_mode_t parse_mode(const char *text)
{
	if (strstr(text, "[always]"))
		return PL_THP_ALWAYS;
	if (strstr(text, "[madvise]"))
		return PL_THP_MADVISE;
	if (strstr(text, "[never]"))
		return PL_THP_NEVER;
	return PL_THP_UNKNOWN;
}

static pl_shmem_mode_t parse_shmem_mode(const char *text)
{
	if (strstr(text, "[always]") || strstr(text, "[force]") || strstr(text, "[within_size]"))
		return PL_SHMEM_ALWAYS;
	if (strstr(text, "[advise]"))
		return PL_SHMEM_ADVISE;
	if (strstr(text, "[never]"))
		return PL_SHMEM_NEVER;
	return strstr(text, "[deny]") ? PL_SHMEM_DENY : PL_SHMEM_UNKNOWN;
}

static uint64_t read_number(const char *root, const char *path, uint64_t unknown)
{
	char text[64];
	uint64_t value;

	if (pl_file_read(root, path, text, sizeof(text)) <= 0 || *text < '0' || *text > '9')
		return unknown;
	pl_parse_number(text, 10, &value);
	return value;
}

/* Without /sys (or before Linux 4.10, which had no such file) the size is that of a PMD with 4K
 * base pages: advising is harmless where the kernel has something else. */
static uint64_t read_large_page(const char *root)
{
	uint64_t size = read_number(root, THP_FOLDER "hpage_pmd_size", 2 * PL_MIB);

	return size & (size - 1) ? 0 : size;
}

void pl_facts_read_files(const char *root, pl_facts_t *ret_facts)
{
	char text[128];

	memset(ret_facts, 0, sizeof(*ret_facts));
	ret_facts->thp_disabled = -1;
	if (pl_file_read(root, THP_FOLDER "enabled", text, sizeof(text)) > 0)
		ret_facts->thp_mode = parse_mode(text);
	if (pl_file_read(root, THP_FOLDER "shmem_enabled", text, sizeof(text)) > 0)
		ret_facts->shmem_mode = parse_shmem_mode(text);
	ret_facts->large_page = read_large_page(root);
	ret_facts->strict_overcommit = read_number(root, "/proc/sys/vm/overcommit_memory", 0) == 2;
	ret_facts->max_maps = read_number(root, "/proc/sys/vm/max_map_count", DEFAULT_MAX_MAPS);
}

static bool limit_is_finite(int resource)
{
	struct rlimit limit;

	return pl_sys_prlimit(0, resource, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

void pl_facts_read_process(pl_facts_t *facts)
{
	long disabled = pl_sys_prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);

	facts->thp_disabled = disabled < 0 ? -1 : (int)disabled;
	facts->limits_tight = limit_is_finite(RLIMIT_AS) || limit_is_finite(RLIMIT_DATA);
}
