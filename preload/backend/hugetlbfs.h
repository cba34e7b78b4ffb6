/* SPDX-License-Identifier: MIT */
/*
 * Hugetlb pages by way of a hugetlbfs mount, for PAGELIFT_HUGETLBFS: the mount's size= is a
 * quota, and its mode says who may. Each map has a file of its own that nobody else can open.
 */
#ifndef PL_BACKEND_HUGETLBFS_H
#define PL_BACKEND_HUGETLBFS_H

#include <stdint.h>

/* From here on pages of the mount's size come from the mount at `path`. Returns 0; -ENODEV when no
 * hugetlbfs is there, -ENAMETOOLONG, or what statfs(2) says. */
int pl_hugetlbfs_use(const char *path);

/* Pages that the size= of the mount leaves; UINT64_MAX when it has none; 0 when no mount for
 * pages of this size is in use. */
uint64_t pl_hugetlbfs_room(uintptr_t page);

/* A new file without a name on the mount for pages of this size. Returns a descriptor; -ENOENT when
 * there is no such mount, or what open(2) says. */
int pl_hugetlbfs_open(uintptr_t page);

#endif
