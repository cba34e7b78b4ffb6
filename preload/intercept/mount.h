/* SPDX-License-Identifier: MIT */
/* PAGELIFT_HUGETLBFS: which mount. Called from the constructor only, as it may load a library. */
#ifndef PL_INTERCEPT_MOUNT_H
#define PL_INTERCEPT_MOUNT_H

/* `wanted` is "mount" (libhugetlbfs is asked, once for each page size) or the path of a mount.
 * Logs a warning when that gives no mount; hugetlb pages are then not used. */
void pl_mount_choose(const char *wanted);

#endif
