/* SPDX-License-Identifier: MIT */
/*
 * Makes functions inside libc jump to ours. glibc's malloc calls mmap, brk and their like at the
 * address that the exported symbol has, never through a table, so this is the only way to see them.
 * The functions are re-implemented with raw system calls: no trampoline, no instruction decoding.
 */
#ifndef PL_INTERCEPT_REDIRECT_H
#define PL_INTERCEPT_REDIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
#define CONDITION(id, name, meaning) PL_CONDITION_##id,
#include "intercept/conditions.def"
#undef CONDITION
} pl_condition_t;

typedef struct {
	const char *symbol;
	void (*target)(void);
} pl_redirection_t;

/* All or none: nothing is changed unless every condition holds for every function. The process must
 * have one thread, which the caller has made sure of. */
pl_condition_t pl_redirect_all(const pl_redirection_t *redirections, size_t count);

/* Puts the original bytes back. */
void pl_redirect_undo(void);

/* Where libc's own function of the first redirection whose symbol is `name` lies; 0 = not found. */
uintptr_t pl_redirect_entry(const char *name);

const char *pl_condition_name(pl_condition_t condition);

/* Whether code of `size` bytes can take the jump; checked without changing anything. */
pl_condition_t pl_redirect_inspect(const unsigned char *code, size_t size);

#endif
