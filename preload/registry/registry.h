/* SPDX-License-Identifier: MIT */
/*
 * What was placed and is still mapped: a sorted array of disjoint segments. Transparent huge pages
 * need it for the report and for a few decisions only. For hugetlb pages it decides what calls that
 * cut them do: a shared map that cannot be entered here is not put on them.
 */
#ifndef PL_REGISTRY_REGISTRY_H
#define PL_REGISTRY_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "policy/policy.h"

typedef struct {
	pl_range_t range;
	size_t asked; /* the length of the program's own call; of what is left after a split */
	pl_kind_t kind;
	pl_reason_t reason;
	size_t hugetlb_page; /* bytes of the hugetlb pages that it consists of; 0 = none */
	pl_range_t whole;    /* shared memory: all that the program got by its call */
} pl_segment_t;

/* What a reader in another process needs. `changes` is odd while the array is being changed: read
 * it before and after, and start again when it moved. */
typedef struct {
	uint64_t changes;
	const pl_segment_t *segments;
	size_t count;
} pl_registry_view_t;

extern pl_registry_view_t pl_registry_view;

/* Adds a segment, first taking out what it overlaps. Returns false when there is no memory or the
 * lock cannot be had: the segment then goes unreported. */
bool pl_registry_add(const pl_segment_t *segment);

/* Takes a range out; segments that reach over its edges are cut or split. */
void pl_registry_remove(pl_range_t range);

/* Whether the range may meet a segment: two comparisons, no lock. */
bool pl_registry_may_meet(pl_range_t range);

/* Copies the first segment that meets the range. Returns whether there is one. */
bool pl_registry_find(pl_range_t range, pl_segment_t *ret_segment);

/* The same for the first segment on hugetlb pages. */
bool pl_registry_find_hugetlb(pl_range_t range, pl_segment_t *ret_segment);

/* Gives the segment that starts at `start` another end (and asked length), or another reason. */
void pl_registry_resize(uintptr_t start, uintptr_t new_end);
void pl_registry_set_reason(pl_range_t range, pl_reason_t reason);

size_t pl_registry_count(void);

/* Bytes of the range that lie in shared maps (not SysV segments) on hugetlb pages. */
size_t pl_registry_hugetlb_bytes(pl_range_t range);

/* In a forked child: frees the lock; forgets everything if it was held, as the array may be half
 * changed. Returns whether it forgot. */
bool pl_registry_after_fork(void);

#endif
