/* SPDX-License-Identifier: MIT */
/*
 * Finds out what the shim gets on this machine under the present limits, seccomp filters and memory
 * policies, by running a program that does nothing with it and reading the report.
 */
#ifndef PL_TOOLS_PROBE_H
#define PL_TOOLS_PROBE_H

#include <stdbool.h>

#include "tools/environment.h"

typedef struct {
	bool known;         /* false: it could not be found out, `failure` says why */
	bool redirected;    /* the shim reaches the calls that libc makes for itself */
	char condition[32]; /* the report's word for that, "ok" or what was not met */
	char thp[16];       /* the machine's mode of transparent huge pages */
	char failure[160];
} pl_probe_t;

/* Runs it with the given environment, but for the variables that aim the shim at other programs or
 * its report at another place. Takes some milliseconds; at most five seconds. */
pl_probe_t pl_probe_run(const pl_env_t *env);

#endif
