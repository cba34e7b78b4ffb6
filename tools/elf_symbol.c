/* SPDX-License-Identifier: MIT */
#include "tools/elf_symbol.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tools/elf_file.h"
#include "tools/elf_inspect.h"

/* The shim has some twenty symbols; a name longer than NAME_MAX_LENGTH is not looked for. */
enum { SYMBOLS_MAX = 65536, NAME_MAX_LENGTH = 64 };

/* File offsets of the tables, and the bytes between them and the end of their segment. */
typedef struct {
	pl_elf_file_t file;
	uint64_t symbols, symbols_left;
	uint64_t strings, strings_left;
	uint64_t gnu_hash, gnu_hash_left;
	uint64_t hash, hash_left;
} tables_t;

static void take_entry(tables_t *tables, const Elf64_Dyn *entry)
{
	const pl_elf_file_t *file = &tables->file;
	uint64_t address = entry->d_un.d_ptr;

	switch (entry->d_tag) {
	case DT_SYMTAB:
		pl_elf_file_find(file, address, &tables->symbols, &tables->symbols_left);
		break;
	case DT_STRTAB:
		pl_elf_file_find(file, address, &tables->strings, &tables->strings_left);
		break;
	case DT_GNU_HASH:
		pl_elf_file_find(file, address, &tables->gnu_hash, &tables->gnu_hash_left);
		break;
	case DT_HASH:
		pl_elf_file_find(file, address, &tables->hash, &tables->hash_left);
		break;
	default:
		break;
	}
}

static int read_dynamic(tables_t *tables, const Elf64_Phdr *segment)
{
	unsigned int count;
	int error = pl_elf_file_dynamic_count(&tables->file, segment, &count);

	for (unsigned int i = 0; !error && i < count; i++) {
		Elf64_Dyn entry;

		error = pl_elf_file_dynamic(&tables->file, segment, i, &entry);
		if (!error && entry.d_tag == DT_NULL)
			break;
		if (!error)
			take_entry(tables, &entry);
	}
	return error;
}

static int read_tables(tables_t *tables, pl_elf_symbol_t *symbol)
{
	bool has_load = false;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (unsigned int i = 0; i < tables->file.count; i++) {
		Elf64_Phdr segment;
		int error = pl_elf_file_segment(&tables->file, i, &segment);

		if (!error && segment.p_type == PT_LOAD && !has_load) {
			has_load = true;
			symbol->first_address = segment.p_vaddr & ~(page - 1);
			symbol->first_offset = segment.p_offset & ~(page - 1);
		}
		if (!error && segment.p_type == PT_DYNAMIC)
			error = read_dynamic(tables, &segment);
		if (error)
			return error;
	}
	return has_load && tables->symbols_left && tables->strings_left ? 0 : -EBADMSG;
}

static int read_word(const tables_t *tables, uint64_t offset, uint64_t left, uint64_t index,
		     uint32_t *ret_word)
{
	if (index >= left / sizeof(*ret_word))
		return -EBADMSG;
	return pl_elf_read(tables->file.fd, ret_word, sizeof(*ret_word),
			   offset + index * sizeof(*ret_word));
}

/* The table of glibc's own making: buckets hold the lowest index, chains end with an odd word. */
static int count_gnu(const tables_t *tables, uint64_t *ret_count)
{
	uint32_t head[4]; /* buckets, first index, Bloom words of 8 bytes, shift */
	uint64_t buckets;
	uint64_t last = 0;
	uint32_t word;

	for (unsigned int i = 0; i < 4; i++)
		if (read_word(tables, tables->gnu_hash, tables->gnu_hash_left, i, &head[i]))
			return -EBADMSG;
	if (head[0] > SYMBOLS_MAX || head[1] > SYMBOLS_MAX || head[2] > SYMBOLS_MAX)
		return -EBADMSG;
	buckets = 4 + 2 * (uint64_t)head[2];
	for (uint64_t i = 0; i < head[0]; i++) {
		if (read_word(tables, tables->gnu_hash, tables->gnu_hash_left, buckets + i, &word))
			return -EBADMSG;
		last = word > last ? word : last;
	}
	if (last < head[1]) {
		*ret_count = head[1];
		return 0;
	}
	for (word = 0; !(word & 1); last++) {
		uint64_t index = buckets + head[0] + (last - head[1]);

		if (last > SYMBOLS_MAX ||
		    read_word(tables, tables->gnu_hash, tables->gnu_hash_left, index, &word))
			return -EBADMSG;
	}
	*ret_count = last;
	return 0;
}

static int count_symbols(const tables_t *tables, uint64_t *ret_count)
{
	uint32_t chains;

	if (tables->gnu_hash_left)
		return count_gnu(tables, ret_count);
	if (!tables->hash_left || read_word(tables, tables->hash, tables->hash_left, 1, &chains) ||
	    chains > SYMBOLS_MAX)
		return -EBADMSG;
	*ret_count = chains;
	return 0;
}

static bool has_name(const tables_t *tables, const Elf64_Sym *entry, const char *name)
{
	char text[NAME_MAX_LENGTH];
	size_t size = strlen(name) + 1;

	return size <= sizeof(text) && entry->st_name < tables->strings_left &&
	       size <= tables->strings_left - entry->st_name &&
	       !pl_elf_read(tables->file.fd, text, size, tables->strings + entry->st_name) &&
	       !memcmp(text, name, size);
}

static int find(const tables_t *tables, const char *name, pl_elf_symbol_t *symbol)
{
	uint64_t count;
	int error = count_symbols(tables, &count);

	if (error)
		return error;
	if (count > tables->symbols_left / sizeof(Elf64_Sym))
		return -EBADMSG;
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Sym entry;

		error = pl_elf_read(tables->file.fd, &entry, sizeof(entry),
				    tables->symbols + i * sizeof(entry));
		if (error)
			return error;
		if (entry.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(entry.st_info) != STT_OBJECT ||
		    !has_name(tables, &entry, name))
			continue;
		symbol->value = entry.st_value;
		symbol->size = entry.st_size;
		return 0;
	}
	return -ENOENT;
}

int pl_elf_find_data(int fd, const char *name, pl_elf_symbol_t *ret_symbol)
{
	pl_elf_symbol_t symbol = { 0 };
	tables_t tables = { 0 };
	pl_elf_t elf;
	int error = pl_elf_inspect(fd, &elf);

	if (error)
		return error;
	if (elf.type != ET_DYN || elf.bits != ELFCLASS64 || !elf.complete)
		return -ENOEXEC;
	error = pl_elf_file_start(fd, true, &tables.file);
	if (!error)
		error = read_tables(&tables, &symbol);
	if (!error)
		error = find(&tables, name, &symbol);
	if (!error)
		*ret_symbol = symbol;
	return error;
}
