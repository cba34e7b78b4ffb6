/* SPDX-License-Identifier: MIT */
/*
 * What `pagelift status` shows of one process: the shim's segments (or, without the shim, the
 * kernel's maps) joined with what the kernel gave each. Collected once, then written as text or
 * JSON.
 */
#ifndef PL_TOOLS_STATUS_VIEW_H
#define PL_TOOLS_STATUS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "facts/facts.h"
#include "tools/process.h"
#include "tools/process_maps.h"
#include "tools/shim_state.h"

/* Bytes. Resident and large are those of the whole large pages inside the segment. */
typedef struct {
	uint64_t resident;
	uint64_t large;
	uint64_t swap; /* where a map reaches over the segment: the share of its length */
} pl_usage_row_t;

typedef struct {
	const char *kind;
	const char *reason; /* NULL: nobody gave one */
	uint64_t start;
	uint64_t length;
	uint64_t asked;
	pl_usage_row_t usage;
	uint64_t pool_page; /* the largest hugetlb page in it; 0 = none */
	bool plain;         /* part of it is no hugetlb memory */
} pl_view_row_t;

typedef struct {
	const char *kind;
	uint64_t live;
	uint64_t length;
	pl_usage_row_t usage;
} pl_view_kind_t;

typedef struct {
	uint64_t anonymous;
	uint64_t anonymous_large;
	uint64_t shmem;
	uint64_t shmem_large;
	uint64_t hugetlb;
	uint64_t swap;
} pl_view_process_t;

typedef struct {
	pl_process_t process;
	pl_shim_state_t shim;
	const char *absence; /* why there is no shim; NULL when there is one */
	pl_facts_t machine;
	uint64_t base_page;
	uint64_t large_page;
	bool estimated;      /* no PAGEMAP_SCAN: figures of whole maps, shared out by length */
	pl_view_row_t *rows; /* most resident memory first */
	size_t row_count;
	pl_view_kind_t *kinds; /* those with rows, in their table's order */
	size_t kind_count;
	pl_view_kind_t total;
	pl_view_process_t sums; /* of the whole process */
} pl_view_t;

/* Whether the rows are the shim's segments. */
bool pl_view_has_shim(const pl_view_t *view);

/* Returns 0, or -1 after a message when nothing can be shown. */
int pl_view_collect(pid_t pid, pl_view_t *ret_view);
void pl_view_free(pl_view_t *view);

/* Both write to standard output. all: rows without resident memory too. */
void pl_view_text(const pl_view_t *view, bool all);
int pl_view_json(const pl_view_t *view);

#endif
