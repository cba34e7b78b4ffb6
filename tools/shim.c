/* SPDX-License-Identifier: MIT */
#include "tools/shim.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/message.h"

static const char shim_name[] = "libpagelift.so";

/* The folder above the one that this program is in, in new memory; NULL without /proc. */
static char *own_prefix(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (length <= 0)
		return NULL;
	path[length] = '\0';
	for (int up = 0; up < 2; up++) {
		slash = strrchr(path, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
	}
	return pl_format("%s", path);
}

static char *search(void)
{
	char *prefix = own_prefix();
	char *beside = prefix ? pl_format("%s/lib/pagelift/%s", prefix, shim_name) : NULL;
	char *configured = pl_format("%s/%s", PL_PKGLIBDIR, shim_name);
	char *found = beside ? realpath(beside, NULL) : NULL;

	if (!found)
		found = realpath(configured, NULL);
	if (!found)
		pl_error("there is no %s at %s%s%s (--library=PATH names it); nothing was run",
			 shim_name, beside ? beside : "", beside ? " or " : "", configured);
	free(prefix);
	free(beside);
	free(configured);
	return found;
}

static int inspect(const char *path, pl_elf_t *ret_elf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int error;

	if (fd < 0)
		return -errno;
	error = pl_elf_inspect(fd, ret_elf);
	close(fd);
	return error;
}

/* Whether ld.so can take it from LD_PRELOAD; tells why not. */
static int is_usable(const char *path, pl_elf_t *ret_elf)
{
	int error = inspect(path, ret_elf);

	if (error) {
		errno = -error;
		pl_error("cannot read the shim %s: %m; nothing was run", path);
		return 0;
	}
	if (ret_elf->type != ET_DYN) {
		pl_error("%s is not a shared library; nothing was run", path);
		return 0;
	}
	if (strpbrk(path, " :")) {
		pl_error("ld.so splits LD_PRELOAD at blanks and colons, so that it cannot load %s; "
			 "nothing was run",
			 path);
		return 0;
	}
	return 1;
}

char *pl_shim_find(const char *library, pl_elf_t *ret_elf)
{
	char *path = library ? realpath(library, NULL) : search();

	if (!path && library)
		pl_error("cannot find the shim %s: %m; nothing was run", library);
	if (path && !is_usable(path, ret_elf)) {
		free(path);
		return NULL;
	}
	return path;
}
