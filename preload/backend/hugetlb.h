/* SPDX-License-Identifier: MIT */
/* Memory from the hugetlb pools. A map that succeeds proves nothing (a cgroup's fault limit, a
 * cpuset, a memory policy): every page is populated before anybody may touch it. */
#ifndef PL_BACKEND_HUGETLB_H
#define PL_BACKEND_HUGETLB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/types.h"

/* MAP_HUGETLB or SHM_HUGETLB with the size encoded as both take it (mmap(2), shmget(2)). */
int pl_hugetlb_map_flags(uintptr_t page);
int pl_hugetlb_shm_flags(uintptr_t page);

/*
 * Puts shared hugetlb memory over `range`, a reservation of ours of whole pages, and populates it:
 * anonymous, or a file on a hugetlbfs mount (backend/hugetlbfs.h). Returns 0; or a negative errno,
 * and then what lies there is not usable: the caller maps over it.
 */
int pl_hugetlb_put(pl_range_t range, int prot, uintptr_t page, bool on_mount);

/* Whether `length` bytes can be had and populated right now: takes and gives them back. Returns 0
 * or a negative errno. */
int pl_hugetlb_prove(size_t length, uintptr_t page);

#endif
