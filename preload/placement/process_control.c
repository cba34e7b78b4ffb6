/* SPDX-License-Identifier: MIT */
#include "placement/process_control.h"

#include <stdbool.h>
#include <sys/prctl.h>

#include "backend/ops.h"
#include "placement/context.h"

/* include/uapi/linux/prctl.h of Linux 6.18; PR_GET_THP_DISABLE then answers 1 | this. */
static const unsigned long except_advised = 1UL << 1;

static bool narrowed; /* the 3 that the kernel would answer is our doing */

/* Sets what the program asked for, less the memory that we advise. */
static long narrow(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	long result = pl_ops->prctl(option, a, except_advised, 0, 0);

	if (!result) {
		narrowed = true;
		pl_context_set_thp_disabled(3);
		return 0;
	}
	result = pl_ops->prctl(option, a, b, c, d);
	if (!result)
		pl_context_set_thp_disabled(1);
	return result;
}

static long set(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	long result;

	if (a && !b && !c && !d && pl_context.config.backend != PL_BACKEND_BASE)
		return narrow(option, a, b, c, d);
	result = pl_ops->prctl(option, a, b, c, d);
	if (!result) {
		narrowed = false;
		pl_context_set_thp_disabled(a ? (int)(1 | b) : 0);
	}
	return result;
}

long pl_process_control(int option, unsigned long a, unsigned long b, unsigned long c,
			unsigned long d)
{
	long result;

	if (option == PR_SET_THP_DISABLE)
		return set(option, a, b, c, d);
	if (option == PR_SET_SECCOMP || (option == PR_SET_NO_NEW_PRIVS && a == 1))
		pl_context_is_confined();
	result = pl_ops->prctl(option, a, b, c, d);
	if (option == PR_GET_THP_DISABLE && result == 3 && narrowed)
		return 1;
	return result;
}
