/* SPDX-License-Identifier: MIT */
/*
 * Finds the file that the kernel will load for a command, the way execvp(3) and the kernel's
 * binfmt_script do, and judges whether a preloaded shim reaches the memory of that program.
 */
#ifndef PL_TOOLS_TARGET_H
#define PL_TOOLS_TARGET_H

#include <stdbool.h>

#include "tools/elf_inspect.h"

typedef enum {
	PL_REACH_FULL,
	PL_REACH_UNKNOWN,    /* the file cannot be read, or is none that we know */
	PL_REACH_PART_GO,    /* a Go program with C libraries */
	PL_REACH_STATIC,     /* no ld.so */
	PL_REACH_STATIC_GNU, /* no ld.so, but glibc's malloc inside, which reads GLIBC_TUNABLES */
	PL_REACH_SECURE,     /* started with more rights than ours: ld.so ignores LD_PRELOAD */
	PL_REACH_MACHINE,    /* not of the shim's ELF class or machine */
	PL_REACH_LOADER,     /* another C library's loader */
	PL_REACH_SANITIZER,  /* its run time insists on being first in LD_PRELOAD */
} pl_reach_t;

typedef struct {
	int error;     /* 0, or the errno that execvp will give */
	char *command; /* what the search for the command found; NULL when nothing */
	char *program; /* the same, or for a script the interpreter that runs it */
	bool has_elf;  /* the program could be read */
	pl_elf_t elf;
} pl_target_t;

/* Finds the program of a command. search_path is the value of PATH (NULL: the system's default). */
pl_target_t pl_target_find(const char *command, const char *search_path);
void pl_target_free(pl_target_t *target);

/* preloaded: the present LD_PRELOAD, or NULL. */
pl_reach_t pl_target_reach(const pl_target_t *target, const pl_elf_t *shim, const char *preloaded);

/*
 * Whether the shim may be put into LD_PRELOAD for this program at all: it would end a program with
 * another loader or with a sanitizer at its start.
 */
bool pl_reach_allows_preload(pl_reach_t reach);

/* One line that ends with the consequence, in new memory; NULL when there is nothing to warn of. */
char *pl_target_warning(const pl_target_t *target, pl_reach_t reach);

#endif
