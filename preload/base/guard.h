/* SPDX-License-Identifier: MIT */
/*
 * Re-entry guard: one byte of thread-local storage tells that this thread is inside the shim, so
 * that a signal handler that interrupts us passes straight through to the kernel.
 */
#ifndef PL_BASE_GUARD_H
#define PL_BASE_GUARD_H

#include <stdbool.h>

/* Initial-exec: reached from the thread pointer alone, no call into the loader. */
extern __thread unsigned char pl_guard_inside __attribute__((tls_model("initial-exec")));

/* Returns false when this thread is inside already: the caller must pass through. */
static inline bool pl_guard_enter(void)
{
	if (pl_guard_inside)
		return false;
	pl_guard_inside = 1;
	__asm__ volatile("" ::: "memory");
	return true;
}

static inline void pl_guard_leave(void)
{
	__asm__ volatile("" ::: "memory");
	pl_guard_inside = 0;
}

#endif
