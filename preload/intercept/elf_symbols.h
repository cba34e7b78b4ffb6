/* SPDX-License-Identifier: MIT */
/*
 * Finds a function in libc itself, by libc's own symbol table: a look-up by name through the loader
 * would find our symbols, or those of another preloaded library, and dlsym may allocate.
 */
#ifndef PL_INTERCEPT_ELF_SYMBOLS_H
#define PL_INTERCEPT_ELF_SYMBOLS_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uintptr_t base;
	const char *strings;
	const ElfW(Sym) * symbols;
	const uint32_t *gnu_hash;
} pl_elf_object_t;

/* The object whose DT_SONAME is libc.so.6. Returns false if there is none with a GNU hash table. */
bool pl_elf_find_libc(pl_elf_object_t *ret_object);

/* A symbol of one type (STT_FUNC, STT_OBJECT) that the object defines: its address and st_size.
 * Returns whether there is one. */
bool pl_elf_find_symbol(const pl_elf_object_t *object, const char *name, unsigned int type,
			uintptr_t *ret_addr, size_t *ret_size);

#endif
