/* SPDX-License-Identifier: MIT */
/*
 * What `pagelift run` is going to do, worked out before anything is done: the environment of the
 * command, and the reason for each change of it. run_show.c prints it, cmd_run.c carries it out.
 */
#ifndef PL_TOOLS_RUN_PLAN_H
#define PL_TOOLS_RUN_PLAN_H

#include <stdbool.h>

#include "config/config.h"
#include "tools/environment.h"
#include "tools/probe.h"
#include "tools/target.h"

/* In the order of the words of --tunables. */
typedef enum { PL_TUNABLES_AUTO, PL_TUNABLES_YES, PL_TUNABLES_NO } pl_tunables_t;

typedef struct {
	char **command;      /* argv of the command, NULL at its end */
	const char *library; /* --library, or NULL */
	pl_tunables_t tunables;
	bool dry_run;
} pl_run_request_t;

typedef struct {
	pl_env_t env;       /* what the command gets */
	pl_config_t config; /* how the shim will read that */
	char *shim;
	pl_target_t target;
	pl_reach_t reach;
	bool has_preload; /* the shim is in LD_PRELOAD, the way `preload` tells */
	pl_merge_t preload;
	bool has_probe;
	pl_probe_t probe;
	bool has_tunables; /* they are in GLIBC_TUNABLES, the way `tunables` tells */
	pl_merge_t tunables;
	const char *tunables_reason; /* why, or why not */
} pl_plan_t;

/*
 * env: ours with the PAGELIFT_ variables of the options; it becomes the plan's. Returns 0 or, after
 * a message, the exit status of pagelift.
 */
int pl_plan_make(const pl_run_request_t *request, pl_env_t env, pl_plan_t *ret_plan);
void pl_plan_free(pl_plan_t *plan);

/* Prints it on standard output as a shell's input: comments, and one command. */
void pl_plan_show(const pl_plan_t *plan, const pl_run_request_t *request);

#endif
