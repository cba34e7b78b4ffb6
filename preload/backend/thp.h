/* SPDX-License-Identifier: MIT */
/* Transparent huge pages: advice, alignment and collapse. Results are 0 or a negative errno. */
#ifndef PL_BACKEND_THP_H
#define PL_BACKEND_THP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/types.h"

#ifndef MADV_POPULATE_READ /* Linux 5.14, mm/madvise.c */
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE /* Linux 6.1 */
#define MADV_COLLAPSE 25
#endif

/* MADV_HUGEPAGE over a page-aligned range. Parts that are not mapped are passed over
 * (madvise(2): ENOMEM, but the mapped parts are advised), which counts as success. */
int pl_thp_advise(pl_range_t range);

/* MADV_COLLAPSE (Linux 6.1) over the whole large pages inside the range: puts what is resident on
 * large pages now. It takes effect where THP is "never" as well, so callers ask policy first. */
int pl_thp_collapse(pl_range_t range, uintptr_t large_page);

/*
 * Maps private anonymous memory at a multiple of large_page and advises it; MAP_POPULATE takes
 * effect after the advice. `flags` as for mmap(2), without MAP_FIXED. Returns the address or a
 * negative errno, after which nothing is mapped and the caller makes the original call: -EINVAL
 * when this kernel has no MADV_HUGEPAGE, -EOPNOTSUPP when it cannot populate after the fact.
 */
long pl_thp_map(size_t length, int prot, int flags, uintptr_t large_page);

/* Reserves address space without access at a multiple of `alignment`, for MAP_FIXED on top of it.
 * Returns the address or a negative errno. */
long pl_thp_reserve(size_t length, uintptr_t alignment);

/* MADV_POPULATE_WRITE or _READ, whichever `prot` allows (Linux 5.14). Returns 0, or a negative
 * errno: -EFAULT where a touch would raise SIGBUS, -EINVAL on older kernels. */
int pl_thp_populate(pl_range_t range, int prot);

/* Commits and collapses shared memory, one large page after the other. Returns the bytes that are
 * on large pages now; fewer than asked for when the kernel has no more. */
size_t pl_thp_lift_shared(pl_range_t range, uintptr_t large_page);

/* mremap(2) with MREMAP_MAYMOVE of private anonymous memory that starts at a multiple of
 * large_page, to one that does as well, so that the kernel moves large pages whole. */
long pl_thp_remap(uintptr_t old, size_t old_length, size_t new_length, uintptr_t large_page);

#endif
