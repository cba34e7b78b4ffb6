/* SPDX-License-Identifier: MIT */
/* The GNU hash table: https://flapenguin.me/elf-dt-gnu-hash, binutils elf/common.h. */
#include "intercept/elf_symbols.h"

#include <string.h>

static const char libc_soname[] = "libc.so.6";

/* glibc relocates the pointers of the dynamic section in place on x86-64 and aarch64, other loaders
 * do not. */
static uintptr_t pointer(const struct dl_phdr_info *object, ElfW(Addr) value)
{
	return value < object->dlpi_addr ? object->dlpi_addr + value : value;
}

static bool read_dynamic(const struct dl_phdr_info *object, const ElfW(Dyn) * entry,
			 pl_elf_object_t *found)
{
	ElfW(Addr) soname = 0;

	*found = (pl_elf_object_t){ .base = object->dlpi_addr };
	for (; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SONAME)
			soname = entry->d_un.d_val;
		else if (entry->d_tag == DT_STRTAB)
			found->strings = (const char *)pointer(object, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_SYMTAB)
			found->symbols = (const ElfW(Sym) *)pointer(object, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_GNU_HASH)
			found->gnu_hash = (const uint32_t *)pointer(object, entry->d_un.d_ptr);
	}
	return soname && found->strings && found->symbols && found->gnu_hash &&
	       strcmp(found->strings + soname, libc_soname) == 0;
}

static int visit(struct dl_phdr_info *object, size_t size, void *ret_object)
{
	(void)size;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];

		if (header->p_type == PT_DYNAMIC)
			return read_dynamic(
				object, (const ElfW(Dyn) *)(object->dlpi_addr + header->p_vaddr),
				ret_object);
	}
	return 0;
}

bool pl_elf_find_libc(pl_elf_object_t *ret_object)
{
	return dl_iterate_phdr(visit, ret_object) != 0;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

bool pl_elf_find_symbol(const pl_elf_object_t *object, const char *name, unsigned int type,
			uintptr_t *ret_addr, size_t *ret_size)
{
	const uint32_t *table = object->gnu_hash;
	uint32_t bucket_count = table[0];
	uint32_t first_hashed = table[1];
	const uint32_t *buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(*table));
	const uint32_t *chain = buckets + bucket_count;
	uint32_t hash = gnu_hash(name);
	uint32_t index = buckets[hash % bucket_count];

	if (index < first_hashed)
		return false;
	for (;; index++) {
		const ElfW(Sym) *symbol = &object->symbols[index];
		uint32_t entry = chain[index - first_hashed];

		if ((entry | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    (symbol->st_info & 15U) == type &&
		    strcmp(object->strings + symbol->st_name, name) == 0) {
			*ret_addr = object->base + symbol->st_value;
			*ret_size = symbol->st_size;
			return true;
		}
		if (entry & 1)
			return false;
	}
}
