/* SPDX-License-Identifier: MIT */
/*
 * The state that all placement shares: whether the shim is ready, the configuration, the facts
 * (read at the first request that qualifies, because a short-lived program should not pay for
 * them), and the entry guard.
 */
#ifndef PL_PLACEMENT_CONTEXT_H
#define PL_PLACEMENT_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/guard.h"
#include "config/config.h"
#include "facts/facts.h"

/* Anything but READY passes every call straight through. */
enum { PL_UNINIT, PL_STARTING, PL_READY, PL_OFF };
typedef uint32_t pl_state_t;

typedef struct {
	pl_state_t state;
	pl_config_t config;
	bool measures;     /* a report is wanted: measure segments before they go */
	bool locks_future; /* mlockall(MCL_FUTURE) is in force */
} pl_context_t;

extern pl_context_t pl_context;

/* For the status page; everybody else asks pl_context_facts(). */
extern pl_facts_t pl_context_facts_page;

/* Returns whether this thread may act; false means: make the plain system call. */
static inline bool pl_enter(void)
{
	return __atomic_load_n(&pl_context.state, __ATOMIC_ACQUIRE) == PL_READY && pl_guard_enter();
}

static inline void pl_leave(void)
{
	pl_guard_leave();
}

/* The facts, read at the first call. Never NULL: facts that allow nothing when the lock cannot be
 * had. */
const pl_facts_t *pl_context_facts(void);

/* The same for a decision about `length` bytes: below the smallest large page that Linux has the
 * answer does not depend on the machine, and nothing is read. */
const pl_facts_t *pl_context_facts_for(size_t length);

/* What was learnt since: the process set itself a finite limit; it is about to confine itself; the
 * kernel knows no advice; the program narrowed a prctl. */
void pl_context_limits_are_tight(void);
void pl_context_is_confined(void);
void pl_context_note_advice(int result);
void pl_context_set_thp_disabled(int value);

/* Whether segments that go are to be measured for the report. */
bool pl_context_measures(void);

/* In a forked child. */
void pl_context_after_fork(void);

#endif
