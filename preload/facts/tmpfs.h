/* SPDX-License-Identifier: MIT */
/* Which setting rules the large pages of a tmpfs (Documentation/admin-guide/mm/transhuge.rst). */
#ifndef PL_FACTS_TMPFS_H
#define PL_FACTS_TMPFS_H

#include <sys/types.h>

#include "facts/facts.h"

/*
 * memfd, SysV and shared anonymous memory are on a mount inside the kernel, and follow
 * transparent_hugepage/shmem_enabled, which is `machine`. A file on a tmpfs that is mounted
 * (/dev/shm) follows its huge= option, "never" without one; but "deny" and "force" are for all.
 * `device` is st_dev of the file.
 */
pl_shmem_mode_t pl_tmpfs_mode(const char *root, dev_t device, pl_shmem_mode_t machine);

#endif
