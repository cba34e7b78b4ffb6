/* SPDX-License-Identifier: MIT */
/*
 * SysV shared memory. A segment that this process creates goes on hugetlb pages when the pool
 * proves them; any other is attached at an address where the kernel can map large pages, and
 * lifted at the creator's first attach. Ids that were handed out are never touched: others may
 * hold them. Results are a value or a negative errno.
 */
#ifndef PL_PLACEMENT_SHM_H
#define PL_PLACEMENT_SHM_H

#include <stddef.h>
#include <stdint.h>

long pl_shm_get(int key, size_t size, int flags);
long pl_shm_attach(int id, uintptr_t addr, int flags);
long pl_shm_detach(uintptr_t addr);

#endif
