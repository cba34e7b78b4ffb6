/* SPDX-License-Identifier: MIT */
/*
 * Bounded reads of the tables of an ELF file (elf(5)), of both classes and of this machine's byte
 * order. Nothing in the file is trusted: what lies outside of it or is larger than linkers make is
 * damage.
 */
#ifndef PL_TOOLS_ELF_FILE_H
#define PL_TOOLS_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	int fd;
	bool wide;      /* ELFCLASS64 */
	uint64_t table; /* file offset of the program headers */
	unsigned int count;
	unsigned int entry_size;
} pl_elf_file_t;

/* Reads exactly `length` bytes. Returns 0, -EBADMSG at the end of the file, or -errno. */
int pl_elf_read(int fd, void *buffer, size_t length, uint64_t offset);

/* Reads the file header; `wide` is what its identification says. Returns 0, -EBADMSG or -errno. */
int pl_elf_file_start(int fd, bool wide, pl_elf_file_t *ret_file);

/* Program header number `index`; of one of 32 bits only type, place and alignment are filled in. */
int pl_elf_file_segment(const pl_elf_file_t *file, unsigned int index, Elf64_Phdr *ret_segment);

/* The entries of a PT_DYNAMIC segment: their number, and the one with that index. */
int pl_elf_file_dynamic_count(const pl_elf_file_t *file, const Elf64_Phdr *segment,
			      unsigned int *ret_count);
int pl_elf_file_dynamic(const pl_elf_file_t *file, const Elf64_Phdr *segment, unsigned int index,
			Elf64_Dyn *ret_entry);

/* The file offset of a virtual address and the bytes behind it; false if no segment holds it. */
bool pl_elf_file_find(const pl_elf_file_t *file, uint64_t address, uint64_t *ret_offset,
		      uint64_t *ret_left);

#endif
