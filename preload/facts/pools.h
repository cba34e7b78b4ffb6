/* SPDX-License-Identifier: MIT */
/* What can be had right now: hugetlb pools and memory. Read anew for each request that needs it. */
#ifndef PL_FACTS_POOLS_H
#define PL_FACTS_POOLS_H

#include <stdint.h>

/*
 * Pages of `page` bytes that new maps could reserve in the hugetlb pool: free, less what is
 * reserved already, and what nr_overcommit_hugepages allows beyond the pool
 * (Documentation/admin-guide/mm/hugetlbpage.rst); no more than cgroups leave. 0 where the kernel
 * has no such pages.
 */
uint64_t pl_pool_available(const char *root, uint64_t page);

/* Bytes that could be committed without pushing others out: MemAvailable, or less where a memory
 * cgroup (v1 or v2) of this process leaves less. 0 when nothing can be read. */
uint64_t pl_memory_available(const char *root);

#endif
