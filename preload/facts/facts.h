/* SPDX-License-Identifier: MIT */
/*
 * What this machine and this process allow, read from /proc and /sys (under a root directory, so
 * that tests can feed text trees) and from the resource limits. Anything that cannot be read has
 * a value that stands for "unknown" and leads to the careful decision.
 */
#ifndef PL_FACTS_FACTS_H
#define PL_FACTS_FACTS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { PL_THP_UNKNOWN, PL_THP_ALWAYS, PL_THP_MADVISE, PL_THP_NEVER } pl_thp_mode_t;

/* transparent_hugepage/shmem_enabled, as far as decisions differ: "deny" refuses even a collapse,
 * "always", "force" and "within_size" need no advice. */
typedef enum {
	PL_SHMEM_UNKNOWN,
	PL_SHMEM_ALWAYS,
	PL_SHMEM_ADVISE,
	PL_SHMEM_NEVER,
	PL_SHMEM_DENY
} pl_shmem_mode_t;

typedef struct {
	pl_thp_mode_t thp_mode;
	pl_shmem_mode_t shmem_mode;
	uint64_t large_page; /* bytes of a PMD mapping; 0 = no transparent huge pages here */
	int thp_disabled;    /* PR_GET_THP_DISABLE: 0, 1, 3 (all but advised memory); -1 unknown */
	bool strict_overcommit; /* vm.overcommit_memory = 2 */
	bool limits_tight;      /* RLIMIT_AS or RLIMIT_DATA is finite */
	bool confined;          /* the program has confined itself by seccomp */
	bool advice_unknown;    /* the kernel answered EINVAL to MADV_HUGEPAGE */
	uint64_t max_maps;      /* vm.max_map_count; the kernel's default when unknown */
} pl_facts_t;

/* Reads the files below `root` ("" for the machine itself). */
void pl_facts_read_files(const char *root, pl_facts_t *ret_facts);

/* Adds what system calls tell about this process: limits and the prctl setting. */
void pl_facts_read_process(pl_facts_t *facts);

/* "always", "madvise", "never" or "unknown". */
const char *pl_facts_thp_name(pl_thp_mode_t mode);

#endif
