/* SPDX-License-Identifier: MIT */
#include "placement/limits.h"

#include <sys/mman.h>

#include "placement/arena.h"
#include "placement/break.h"
#include "placement/context.h"

static void retract(void)
{
	pl_break_retract();
	pl_arena_retract();
}

void pl_limits_before_set(int resource, const struct rlimit *limit)
{
	if (resource != RLIMIT_AS && resource != RLIMIT_DATA)
		return;
	if (!limit || limit->rlim_cur == RLIM_INFINITY)
		return;
	pl_context_limits_are_tight();
	retract();
}

void pl_limits_before_lock(int flags)
{
	pl_context.locks_future = flags & MCL_FUTURE;
	if (flags)
		retract();
}
