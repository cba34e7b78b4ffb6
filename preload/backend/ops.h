/* SPDX-License-Identifier: MIT */
/*
 * The kernel operations that placement uses, in one table: a test replaces it with a fake that
 * counts the calls and fails any of them with a chosen errno.
 */
#ifndef PL_BACKEND_OPS_H
#define PL_BACKEND_OPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Arguments and results as in base/sys.h: a value, or a negative errno. */
typedef struct {
	long (*mmap)(uintptr_t addr, size_t length, int prot, int flags, int fd, off_t offset);
	long (*munmap)(uintptr_t addr, size_t length);
	long (*mremap)(uintptr_t old, size_t old_length, size_t new_length, int flags,
		       uintptr_t target);
	long (*mprotect)(uintptr_t addr, size_t length, int prot);
	long (*madvise)(uintptr_t addr, size_t length, int advice);
	uintptr_t (*brk)(uintptr_t addr);
	long (*prctl)(int option, unsigned long a, unsigned long b, unsigned long c,
		      unsigned long d);
} pl_ops_t;

extern const pl_ops_t pl_ops_kernel;

/* The table in force; &pl_ops_kernel outside tests. */
extern const pl_ops_t *pl_ops;

#endif
