/* SPDX-License-Identifier: MIT */
/* What the control groups of this process leave of something that they limit (cgroups(7)). */
#ifndef PL_FACTS_CGROUPS_H
#define PL_FACTS_CGROUPS_H

#include <stdint.h>

/* The files of one limit, in both versions of cgroups. */
typedef struct {
	const char *controller; /* version 1: the hierarchy's name, and its mount's */
	const char *v1_limit;
	const char *v1_used;
	const char *v2_limit;
	const char *v2_used;
} pl_cgroup_files_t;

/* The least that this process's group and those above it leave, in the unit of the files (bytes).
 * UINT64_MAX when none of them has a limit, or none can be read. */
uint64_t pl_cgroups_leave(const char *root, const pl_cgroup_files_t *files);

#endif
