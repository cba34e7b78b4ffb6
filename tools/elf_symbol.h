/* SPDX-License-Identifier: MIT */
/* Where a shared library of this machine's kind has an exported variable, by its own tables. */
#ifndef PL_TOOLS_ELF_SYMBOL_H
#define PL_TOOLS_ELF_SYMBOL_H

#include <stdint.h>

typedef struct {
	uint64_t value; /* address in the file's own counting */
	uint64_t size;
	uint64_t first_address; /* of the first PT_LOAD, at its page's start ... */
	uint64_t first_offset;  /* ... and where that page lies in the file */
} pl_elf_symbol_t;

/*
 * Finds `name`, a data symbol, in the dynamic symbol table. Returns 0, -ENOENT when the library has
 * no such variable, -ENOEXEC when it is no shared library for this machine, -EBADMSG when it is
 * damaged, or -errno of a read.
 */
int pl_elf_find_data(int fd, const char *name, pl_elf_symbol_t *ret_symbol);

#endif
