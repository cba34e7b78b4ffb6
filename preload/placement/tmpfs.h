/* SPDX-License-Identifier: MIT */
/*
 * Shared maps of files on tmpfs: memfd, shm_open, /dev/shm. The descriptor stays what it is; the
 * map starts where large pages can be mapped, and is advised, or lifted where it is in use already.
 */
#ifndef PL_PLACEMENT_TMPFS_H
#define PL_PLACEMENT_TMPFS_H

#include <sys/types.h>

#include "policy/policy.h"

/* An mmap call of a file. Returns false when it is none of ours; else *ret_start is the address
 * or a negative errno. */
bool pl_tmpfs_map(const pl_request_t *request, int fd, off_t offset, long *ret_start);

#endif
