/* SPDX-License-Identifier: MIT */
/*
 * mmap, munmap, mprotect and madvise as they pass through placement. All return what the kernel
 * would: a value or a negative errno. Whatever goes wrong on our side ends in the exact original
 * call. The caller is inside pl_enter().
 */
#ifndef PL_PLACEMENT_MAP_H
#define PL_PLACEMENT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/types.h"
#include "policy/policy.h"
#include "registry/registry.h"

long pl_map(const pl_request_t *request, int fd, off_t offset);
long pl_unmap(uintptr_t addr, size_t length);

/* pkey: -1, or that of pkey_mprotect(2). */
long pl_protect(pl_origin_t origin, uintptr_t addr, size_t length, int prot, int pkey);

/* Adds a segment to the registry. Returns whether there was room; if not, it is counted. */
bool pl_map_enlist(const pl_segment_t *segment);

/* What a call over [addr, addr + length) does to our books before the kernel acts: segments are
 * measured (when a report is wanted) and taken out, arenas forgotten. */
void pl_map_forget(pl_range_t range);

/* The page-rounded range of a call's arguments; empty when they are nonsense. */
pl_range_t pl_map_range(uintptr_t addr, size_t length);

#endif
