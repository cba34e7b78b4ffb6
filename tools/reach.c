/* SPDX-License-Identifier: MIT */
/* The judgement of target.h: does a preloaded shim reach the memory of this program? */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tools/message.h"
#include "tools/target.h"

/* Whether the ids of the file become the process's: not for no_new_privs (fs/exec.c). */
static bool raises_ids(const struct stat *status)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return false;
	if (status->st_mode & S_ISUID && status->st_uid != getuid())
		return true;
	return status->st_mode & S_ISGID && status->st_mode & S_IXGRP && status->st_gid != getgid();
}

/*
 * Whether the kernel will set AT_SECURE (security/commoncap.c, cap_bprm_creds_from_file): ids of
 * the file that are not ours, or capabilities of the file where we are not root (no_new_privs
 * withholds these, but AT_SECURE is set all the same).
 */
static bool raises_rights(const char *path)
{
	struct statvfs mount;
	struct stat status;

	if (stat(path, &status) || statvfs(path, &mount) || mount.f_flag & ST_NOSUID)
		return false;
	return raises_ids(&status) ||
	       (getuid() && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* Whether the first name in LD_PRELOAD is a run time of AddressSanitizer. */
static bool starts_with_sanitizer(const char *preloaded)
{
	size_t length;

	if (!preloaded)
		return false;
	preloaded += strspn(preloaded, " :");
	length = strcspn(preloaded, " :");
	return memmem(preloaded, length, "asan", 4) != NULL;
}

pl_reach_t pl_target_reach(const pl_target_t *target, const pl_elf_t *shim, const char *preloaded)
{
	const pl_elf_t *elf = &target->elf;

	if (!target->program)
		return PL_REACH_UNKNOWN;
	if (raises_rights(target->program))
		return PL_REACH_SECURE;
	if (!target->has_elf)
		return PL_REACH_UNKNOWN;
	if (elf->machine != shim->machine || elf->bits != shim->bits ||
	    elf->byte_order != shim->byte_order)
		return PL_REACH_MACHINE;
	if (pl_elf_is_static(elf))
		return elf->is_gnu && !elf->is_go ? PL_REACH_STATIC_GNU : PL_REACH_STATIC;
	if (*elf->interpreter && !pl_elf_has_glibc_loader(elf))
		return PL_REACH_LOADER;
	if (*elf->sanitizer && !starts_with_sanitizer(preloaded))
		return PL_REACH_SANITIZER;
	return elf->is_go ? PL_REACH_PART_GO : PL_REACH_FULL;
}

bool pl_reach_allows_preload(pl_reach_t reach)
{
	return reach != PL_REACH_LOADER && reach != PL_REACH_SANITIZER;
}

/* NULL: nothing to warn of. */
static const char *tell(pl_reach_t reach)
{
	switch (reach) {
	case PL_REACH_PART_GO:
		return "is a Go program, whose run time calls the kernel without the C library; "
		       "only the memory of its C parts is moved";
	case PL_REACH_STATIC:
		return "is statically linked, so that ld.so does not load the shim; "
		       "nothing of it is moved";
	case PL_REACH_STATIC_GNU:
		return "is statically linked, so that ld.so does not load the shim; "
		       "at most its malloc is moved, by glibc's tunables";
	case PL_REACH_SECURE:
		return "runs set-user-ID, set-group-ID or with file capabilities, where ld.so "
		       "ignores LD_PRELOAD; nothing of it is moved";
	case PL_REACH_MACHINE:
		return "is of another ELF class or machine than the shim, which ld.so will ignore; "
		       "nothing of it is moved";
	case PL_REACH_FULL:
	case PL_REACH_UNKNOWN:
	case PL_REACH_LOADER:
	case PL_REACH_SANITIZER:
		break;
	}
	return NULL;
}

char *pl_target_warning(const pl_target_t *target, pl_reach_t reach)
{
	const char *text = tell(reach);
	char *program;
	char *loader;
	char *warning = NULL;

	if (!target->program)
		return NULL;
	program = pl_quote(target->program);
	loader = pl_quote(reach == PL_REACH_SANITIZER ? target->elf.sanitizer
						      : target->elf.interpreter);
	if (text)
		warning = pl_format("%s %s", program, text);
	else if (reach == PL_REACH_LOADER)
		warning =
			pl_format("%s uses the loader %s, which is not glibc's; it is run without "
				  "the shim and nothing of it is moved",
				  program, loader);
	else if (reach == PL_REACH_SANITIZER)
		warning = pl_format("%s needs %s to be first in LD_PRELOAD, where it is not; it is "
				    "run without the shim and nothing of it is moved",
				    program, loader);
	free(program);
	free(loader);
	return warning;
}
