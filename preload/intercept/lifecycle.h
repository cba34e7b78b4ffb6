/* SPDX-License-Identifier: MIT */
/*
 * Start, fork and exit of the process. The constructor may run before libc's own (the module is
 * linked with -z initfirst), when environ, getenv and stdio are not there yet: it takes the
 * environment from its arguments and calls nothing in libc that needs its constructor.
 */
#ifndef PL_INTERCEPT_LIFECYCLE_H
#define PL_INTERCEPT_LIFECYCLE_H

#include "intercept/redirect.h"

/* Of the attempt to redirect libc's entries in this process. */
extern const char *pl_lifecycle_condition;

#endif
