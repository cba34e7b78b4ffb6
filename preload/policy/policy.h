/* SPDX-License-Identifier: MIT */
/*
 * Decides what is done with a piece of memory. Pure: reads its arguments only, makes no system
 * call, writes no log, so that every decision is a row in a table-driven test.
 */
#ifndef PL_POLICY_POLICY_H
#define PL_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "facts/facts.h"

typedef enum {
#define KIND(id, name, set, meaning) PL_KIND_##id,
#include "policy/kinds.def"
#undef KIND
	PL_KINDS
} pl_kind_t;

typedef enum {
#define REASON(id, name, meaning) PL_REASON_##id,
#include "policy/reasons.def"
#undef REASON
	PL_REASONS
} pl_reason_t;

/* Who calls: the program through an exported symbol, or libc's own code through its redirected
 * entry. Only the second may be rounded and run ahead of, because libc's bookkeeping is known. */
typedef enum { PL_ORIGIN_PROGRAM, PL_ORIGIN_LIBC } pl_origin_t;

/* An mmap(2) call. */
typedef struct {
	pl_origin_t origin;
	uintptr_t addr;
	size_t length;
	int prot;
	int flags;
} pl_request_t;

typedef struct {
	bool align;  /* choose a start that makes every whole large page usable */
	bool advise; /* MADV_HUGEPAGE */
	pl_reason_t reason;
} pl_verdict_t;

/* What an mmap call asks for; meaningful only for calls that pl_policy_map advises. */
pl_kind_t pl_policy_kind(const pl_request_t *request);

/* maps_added: how many maps alignment has added to this process so far. */
pl_verdict_t pl_policy_map(const pl_request_t *request, const pl_config_t *config,
			   const pl_facts_t *facts, uint64_t maps_added);

/* The verdict on memory that is advised where it lies: break, arenas, bss, commits. */
pl_verdict_t pl_policy_in_place(pl_kind_t kind, const pl_config_t *config, const pl_facts_t *facts);

/* Whether break and arenas may grow ahead of what malloc asks for: not where an mmap that succeeds
 * without us could then fail. */
bool pl_policy_may_run_ahead(const pl_config_t *config, const pl_facts_t *facts);

const char *pl_kind_name(pl_kind_t kind);
bool pl_kind_is_shared(pl_kind_t kind);
const char *pl_reason_name(pl_reason_t reason);

#endif
