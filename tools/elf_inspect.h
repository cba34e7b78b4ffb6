/* SPDX-License-Identifier: MIT */
/*
 * What an ELF file says about how it will be started: whether ld.so runs, which one, and what else
 * decides if a preloaded library reaches its memory. Reads are bounded and trust nothing in the
 * file; section headers, which strip(1) may remove, are not used.
 */
#ifndef PL_TOOLS_ELF_INSPECT_H
#define PL_TOOLS_ELF_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

enum { PL_ELF_NAME_MAX = 256 };

typedef struct {
	uint8_t bits;       /* ELFCLASS32 or ELFCLASS64 */
	uint8_t byte_order; /* ELFDATA2LSB or ELFDATA2MSB */
	uint16_t machine;   /* EM_* */
	uint16_t type;      /* ET_* */

	/* The rest is only known (`complete`) where the byte order is this machine's. */
	bool complete;
	bool needs_libraries;              /* has a DT_NEEDED entry */
	bool is_go;                        /* carries the note of the Go linker */
	bool is_gnu;                       /* carries the ABI note of glibc's start files */
	char interpreter[PL_ELF_NAME_MAX]; /* PT_INTERP, the program loader; "" without */
	char soname[PL_ELF_NAME_MAX];      /* DT_SONAME; "" without */
	char sanitizer[PL_ELF_NAME_MAX]; /* DT_NEEDED name of AddressSanitizer's run time; or "" */
} pl_elf_t;

/*
 * Reads the headers of an open regular file. Returns 0, -ENOEXEC when it is not ELF, -EBADMSG when
 * it is damaged, or -errno of a read. *ret_elf is untouched on failure.
 */
int pl_elf_inspect(int fd, pl_elf_t *ret_elf);

/* Whether it runs without a dynamic loader (and is not itself one). */
bool pl_elf_is_static(const pl_elf_t *elf);

/* Whether the loader it names is glibc's, as far as its file name tells. */
bool pl_elf_has_glibc_loader(const pl_elf_t *elf);

#endif
