/* SPDX-License-Identifier: MIT */
#include "tools/elf_file.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

/* Far above what linkers produce; a file beyond them is called damaged instead of read on. */
enum { SEGMENTS_MAX = 512, DYNAMIC_MAX = 4096 };

int pl_elf_read(int fd, void *buffer, size_t length, uint64_t offset)
{
	char *to = buffer;

	while (length) {
		ssize_t got;

		if (offset > INT64_MAX - length)
			return -EBADMSG;
		got = pread(fd, to, length, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return -EBADMSG;
		to += got;
		offset += (uint64_t)got;
		length -= (size_t)got;
	}
	return 0;
}

int pl_elf_file_start(int fd, bool wide, pl_elf_file_t *ret_file)
{
	pl_elf_file_t file = { .fd = fd, .wide = wide };
	union {
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} header;
	int error = pl_elf_read(fd, &header, wide ? sizeof(header.wide) : sizeof(header.narrow), 0);

	if (error)
		return error;
	file.table = wide ? header.wide.e_phoff : header.narrow.e_phoff;
	file.count = wide ? header.wide.e_phnum : header.narrow.e_phnum;
	file.entry_size = wide ? header.wide.e_phentsize : header.narrow.e_phentsize;
	if (file.count > SEGMENTS_MAX ||
	    (file.count && file.entry_size != (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))))
		return -EBADMSG;
	*ret_file = file;
	return 0;
}

int pl_elf_file_segment(const pl_elf_file_t *file, unsigned int index, Elf64_Phdr *ret_segment)
{
	uint64_t offset = file->table + (uint64_t)index * file->entry_size;
	Elf32_Phdr narrow;
	int error;

	if (file->wide)
		return pl_elf_read(file->fd, ret_segment, sizeof(*ret_segment), offset);
	error = pl_elf_read(file->fd, &narrow, sizeof(narrow), offset);
	if (error)
		return error;
	*ret_segment = (Elf64_Phdr){ .p_type = narrow.p_type,
				     .p_offset = narrow.p_offset,
				     .p_vaddr = narrow.p_vaddr,
				     .p_filesz = narrow.p_filesz,
				     .p_align = narrow.p_align };
	return 0;
}

static uint64_t dynamic_size(const pl_elf_file_t *file)
{
	return file->wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
}

int pl_elf_file_dynamic_count(const pl_elf_file_t *file, const Elf64_Phdr *segment,
			      unsigned int *ret_count)
{
	uint64_t count = segment->p_filesz / dynamic_size(file);

	if (count > DYNAMIC_MAX)
		return -EBADMSG;
	*ret_count = (unsigned int)count;
	return 0;
}

int pl_elf_file_dynamic(const pl_elf_file_t *file, const Elf64_Phdr *segment, unsigned int index,
			Elf64_Dyn *ret_entry)
{
	uint64_t offset = segment->p_offset + index * dynamic_size(file);
	Elf32_Dyn narrow;
	int error;

	if (file->wide)
		return pl_elf_read(file->fd, ret_entry, sizeof(*ret_entry), offset);
	error = pl_elf_read(file->fd, &narrow, sizeof(narrow), offset);
	if (!error)
		*ret_entry = (Elf64_Dyn){ .d_tag = narrow.d_tag, .d_un.d_val = narrow.d_un.d_val };
	return error;
}

bool pl_elf_file_find(const pl_elf_file_t *file, uint64_t address, uint64_t *ret_offset,
		      uint64_t *ret_left)
{
	for (unsigned int i = 0; i < file->count; i++) {
		Elf64_Phdr segment;

		if (pl_elf_file_segment(file, i, &segment))
			return false;
		if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*ret_offset = segment.p_offset + (address - segment.p_vaddr);
		*ret_left = segment.p_filesz - (address - segment.p_vaddr);
		return true;
	}
	return false;
}
