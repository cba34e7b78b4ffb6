/* SPDX-License-Identifier: MIT */
#include "facts/tmpfs.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "base/file.h"
#include "base/sys.h"

/* "36 35 0:32 / /dev/shm rw,nosuid - tmpfs tmpfs rw,huge=advise" (proc_pid_mountinfo(5)). */
static bool is_of_device(const char *line, dev_t device)
{
	uint64_t major_number;
	uint64_t minor_number;
	const char *at = strchr(line, ' ');

	at = at ? strchr(at + 1, ' ') : NULL;
	if (!at)
		return false;
	at = pl_parse_number(at + 1, 10, &major_number);
	if (*at != ':')
		return false;
	pl_parse_number(at + 1, 10, &minor_number);
	return major_number == major(device) && minor_number == minor(device);
}

static pl_shmem_mode_t mode_of_mount(const char *line)
{
	const char *options = strstr(line, " - ");
	const char *huge = options ? strstr(options, "huge=") : NULL;

	if (!huge || strncmp(huge, "huge=never", 10) == 0)
		return PL_SHMEM_NEVER;
	return strncmp(huge, "huge=advise", 11) == 0 ? PL_SHMEM_ADVISE : PL_SHMEM_ALWAYS;
}

pl_shmem_mode_t pl_tmpfs_mode(const char *root, dev_t device, pl_shmem_mode_t machine)
{
	int fd = machine == PL_SHMEM_DENY ? -1 : pl_file_open(root, "/proc/self/mountinfo");
	pl_shmem_mode_t mode = machine;
	pl_lines_t lines;
	char *line;

	if (fd < 0)
		return mode;
	pl_lines_init(&lines, fd);
	while ((line = pl_lines_next(&lines))) {
		if (!is_of_device(line, device))
			continue;
		mode = mode_of_mount(line);
		break;
	}
	pl_sys_close(fd);
	return mode;
}
