/* SPDX-License-Identifier: MIT */
/* The files of another process: the shim that it has mapped, and why it has none. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/elf_inspect.h"
#include "tools/message.h"
#include "tools/shim_state.h"

/* Opens what O_PATH has found, if that is no device or pipe, which opening may change. */
static int open_regular(int path_fd, unsigned long inode)
{
	char *name = pl_format("/proc/self/fd/%d", path_fd);
	struct stat status;
	int result;

	if (fstat(path_fd, &status))
		result = -errno;
	else if (!S_ISREG(status.st_mode) || (inode && status.st_ino != inode))
		result = -ESTALE;
	else if ((result = open(name, O_RDONLY | O_CLOEXEC)) < 0)
		result = -errno;
	free(name);
	return result;
}

static int open_below(const pl_process_t *process, const char *name, unsigned long inode)
{
	int fd = openat(process->folder, name, O_PATH | O_CLOEXEC);
	int result = fd < 0 ? -errno : open_regular(fd, inode);

	if (fd >= 0)
		close(fd);
	return result;
}

int pl_shim_open(const pl_process_t *process, const pl_map_t *map)
{
	char *name = pl_format("map_files/%" PRIx64 "-%" PRIx64, map->start, map->end);
	int fd = open_below(process, name, 0);

	free(name);
	/* That takes CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE; the path is for everybody, but may
	 * name another file by now. */
	if (fd < 0) {
		name = pl_format("root%s", map->path);
		fd = open_below(process, name, map->inode);
		free(name);
	}
	return fd;
}

static const char *judge_program(const pl_elf_t *elf)
{
	pl_elf_t own;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int error = fd < 0 ? -errno : pl_elf_inspect(fd, &own);

	if (fd >= 0)
		close(fd);
	if (!error && (elf->machine != own.machine || elf->bits != own.bits))
		return "the program is of another ELF class or machine";
	if (pl_elf_is_static(elf))
		return "the program is statically linked, so that no ld.so loads it";
	if (*elf->interpreter && !pl_elf_has_glibc_loader(elf))
		return "the program's loader is not glibc's";
	return NULL;
}

const char *pl_shim_absence(const pl_process_t *process)
{
	int fd = open_below(process, "exe", 0);
	const char *reason = NULL;
	pl_elf_t elf;

	if (fd >= 0 && !pl_elf_inspect(fd, &elf))
		reason = judge_program(&elf);
	if (fd >= 0)
		close(fd);
	if (reason)
		return reason;
	if (pl_process_auxv(process, AT_SECURE))
		return "it was started set-user-ID, set-group-ID or with capabilities, where ld.so "
		       "ignores LD_PRELOAD";
	if (!pl_process_env_holds(process, "LD_PRELOAD", "libpagelift.so"))
		return "it was started without it in LD_PRELOAD";
	return "LD_PRELOAD names it, but no file of that name is loaded";
}
