/* SPDX-License-Identifier: MIT */
/*
 * An environment to hand to a program: a copy of ours in the same order, with single variables
 * changed in place; and how the values of LD_PRELOAD and GLIBC_TUNABLES are merged. No system call
 * but stat(2) is made here.
 */
#ifndef PL_TOOLS_ENVIRONMENT_H
#define PL_TOOLS_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
	char **entries; /* count entries and a NULL: what execve takes */
	size_t count;
} pl_env_t;

/* A deep copy of a NULL-terminated list. */
pl_env_t pl_env_copy(char *const entries[]);
void pl_env_free(pl_env_t *env);

/* The value of the first entry of that name, valid until the environment changes; NULL if none. */
const char *pl_env_get(const pl_env_t *env, const char *name);

/* Replaces the first entry of that name and drops others of it; appends when there was none. */
void pl_env_set(pl_env_t *env, const char *name, const char *value);

/* Drops every entry of that name. */
void pl_env_unset(pl_env_t *env, const char *name);

typedef enum {
	PL_MERGE_ALONE,    /* there was nothing before */
	PL_MERGE_APPENDED, /* added behind what was there */
	PL_MERGE_REPLACED, /* another libpagelift.so was taken out of what was there */
	PL_MERGE_PRESENT,  /* it was there already: value unchanged */
} pl_merge_t;

/*
 * The value of LD_PRELOAD with the shim behind what `old` (may be NULL) names, in new memory. A
 * sanitizer run time must stay first. The shim is recognised as the same file under any path; a
 * libpagelift.so elsewhere is dropped, since two shims would place the same memory.
 */
char *pl_merge_preload(const char *old, const char *shim, pl_merge_t *ret_how);

/*
 * The value of GLIBC_TUNABLES with the name=value pairs of `added` (colon-separated) behind what
 * `old` (may be NULL) sets, but for those names that it sets itself, in new memory.
 */
char *pl_merge_tunables(const char *old, const char *added, pl_merge_t *ret_how);

#endif
