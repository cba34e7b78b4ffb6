/* SPDX-License-Identifier: MIT */
/* The layout is that of elf(5); both classes are read into the 64-bit structures. */
#include "tools/elf_inspect.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Far above what linkers produce; a file beyond them is called damaged instead of read on. */
enum { SEGMENTS_MAX = 512, DYNAMIC_MAX = 4096, NOTES_MAX = 16384 };

#define NATIVE_DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

typedef struct {
	int fd;
	pl_elf_t *elf;
	uint64_t table; /* file offset of the program headers */
	unsigned int count;
	unsigned int entry_size;
} elf_file_t;

/* Reads exactly `length` bytes. Returns 0, -EBADMSG at the end of the file, or -errno. */
static int read_at(int fd, void *buffer, size_t length, uint64_t offset)
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

/* A string of the file, cut at the size of the buffer; "" if it lies outside of the file. */
static void read_name(int fd, uint64_t offset, uint64_t most, char buffer[PL_ELF_NAME_MAX])
{
	size_t length = most < PL_ELF_NAME_MAX ? (size_t)most : PL_ELF_NAME_MAX;
	ssize_t got = 0;

	if (offset <= INT64_MAX - PL_ELF_NAME_MAX)
		got = pread(fd, buffer, length, (off_t)offset);
	buffer[got < 0 ? 0 : got < PL_ELF_NAME_MAX ? got : PL_ELF_NAME_MAX - 1] = '\0';
}

static int read_header(elf_file_t *file)
{
	union {
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} header;
	bool wide = file->elf->bits == ELFCLASS64;
	int error =
		read_at(file->fd, &header, wide ? sizeof(header.wide) : sizeof(header.narrow), 0);

	if (error)
		return error;
	file->table = wide ? header.wide.e_phoff : header.narrow.e_phoff;
	file->count = wide ? header.wide.e_phnum : header.narrow.e_phnum;
	file->entry_size = wide ? header.wide.e_phentsize : header.narrow.e_phentsize;
	if (file->count > SEGMENTS_MAX ||
	    (file->count && file->entry_size != (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))))
		return -EBADMSG;
	return 0;
}

static int read_segment(const elf_file_t *file, unsigned int index, Elf64_Phdr *ret_segment)
{
	uint64_t offset = file->table + (uint64_t)index * file->entry_size;
	Elf32_Phdr narrow;
	int error;

	if (file->elf->bits == ELFCLASS64)
		return read_at(file->fd, ret_segment, sizeof(*ret_segment), offset);
	error = read_at(file->fd, &narrow, sizeof(narrow), offset);
	if (error)
		return error;
	*ret_segment = (Elf64_Phdr){ .p_type = narrow.p_type,
				     .p_offset = narrow.p_offset,
				     .p_vaddr = narrow.p_vaddr,
				     .p_filesz = narrow.p_filesz,
				     .p_align = narrow.p_align };
	return 0;
}

/* The file offset of a virtual address and the bytes behind it; false if no segment holds it. */
static bool find_address(const elf_file_t *file, uint64_t address, uint64_t *ret_offset,
			 uint64_t *ret_left)
{
	for (unsigned int i = 0; i < file->count; i++) {
		Elf64_Phdr segment;

		if (read_segment(file, i, &segment))
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

static int read_dynamic_entry(const elf_file_t *file, uint64_t offset, Elf64_Dyn *ret_entry)
{
	Elf32_Dyn narrow;
	int error;

	if (file->elf->bits == ELFCLASS64)
		return read_at(file->fd, ret_entry, sizeof(*ret_entry), offset);
	error = read_at(file->fd, &narrow, sizeof(narrow), offset);
	if (!error)
		*ret_entry = (Elf64_Dyn){ .d_tag = narrow.d_tag, .d_un.d_val = narrow.d_un.d_val };
	return error;
}

static uint64_t dynamic_entry_size(const elf_file_t *file)
{
	return file->elf->bits == ELFCLASS64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
}

/* Looks at the name of one DT_NEEDED or DT_SONAME entry. */
static void take_name(const elf_file_t *file, const Elf64_Dyn *entry, uint64_t strings,
		      uint64_t left)
{
	char name[PL_ELF_NAME_MAX];

	if (entry->d_un.d_val >= left)
		return;
	read_name(file->fd, strings + entry->d_un.d_val, left - entry->d_un.d_val, name);
	if (entry->d_tag == DT_SONAME)
		memcpy(file->elf->soname, name, sizeof(name));
	/* gcc links libasan.so.N, clang -shared-libasan libclang_rt.asan-ARCH.so. */
	else if (!strncmp(name, "libasan.so", 10) || !strncmp(name, "libclang_rt.asan", 16))
		memcpy(file->elf->sanitizer, name, sizeof(name));
}

/* Calls take_name for each entry with a name, once DT_STRTAB has told where names are. */
static int read_dynamic(const elf_file_t *file, const Elf64_Phdr *segment)
{
	uint64_t size = dynamic_entry_size(file);
	uint64_t count = segment->p_filesz / size;
	uint64_t strings = 0;
	uint64_t left = 0;
	bool found = false;

	if (count > DYNAMIC_MAX)
		return -EBADMSG;
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < count; i++) {
			Elf64_Dyn entry;
			int error = read_dynamic_entry(file, segment->p_offset + i * size, &entry);

			if (error)
				return error;
			if (entry.d_tag == DT_NULL)
				break;
			if (entry.d_tag == DT_NEEDED)
				file->elf->needs_libraries = true;
			if (!found && entry.d_tag == DT_STRTAB)
				found = find_address(file, entry.d_un.d_ptr, &strings, &left);
			if (round && (entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME))
				take_name(file, &entry, strings, left);
		}
	}
	return 0;
}

static void take_note(pl_elf_t *elf, const Elf64_Nhdr *note, const char *owner)
{
	enum { GO_BUILD_ID = 4 };

	/* cmd/link writes the owner with its length padded to 4: "Go\0\0". */
	if (note->n_type == GO_BUILD_ID && note->n_namesz == 4 && !memcmp(owner, "Go\0", 4))
		elf->is_go = true;
	if (note->n_type == NT_GNU_ABI_TAG && note->n_namesz == 4 && !memcmp(owner, "GNU", 4))
		elf->is_gnu = true;
}

/* The note headers are the same in both classes; parts are padded to the segment's alignment. */
static int read_notes(const elf_file_t *file, const Elf64_Phdr *segment)
{
	uint64_t align = segment->p_align == 8 ? 8 : 4;
	uint64_t at = 0;

	if (segment->p_filesz > NOTES_MAX)
		return -EBADMSG;
	while (at + sizeof(Elf64_Nhdr) + 4 <= segment->p_filesz) {
		Elf64_Nhdr note;
		char owner[4];
		int error = read_at(file->fd, &note, sizeof(note), segment->p_offset + at);

		if (!error)
			error = read_at(file->fd, owner, sizeof(owner),
					segment->p_offset + at + sizeof(note));
		if (error)
			return error;
		take_note(file->elf, &note, owner);
		at += sizeof(note) + note.n_namesz;
		at = (at + align - 1) & ~(align - 1);
		at += note.n_descsz;
		at = (at + align - 1) & ~(align - 1);
	}
	return 0;
}

static int read_segments(const elf_file_t *file)
{
	for (unsigned int i = 0; i < file->count; i++) {
		Elf64_Phdr segment;
		int error = read_segment(file, i, &segment);

		if (!error && segment.p_type == PT_INTERP)
			read_name(file->fd, segment.p_offset, segment.p_filesz,
				  file->elf->interpreter);
		if (!error && segment.p_type == PT_DYNAMIC)
			error = read_dynamic(file, &segment);
		if (!error && segment.p_type == PT_NOTE)
			error = read_notes(file, &segment);
		if (error)
			return error;
	}
	file->elf->complete = true;
	return 0;
}

/* e_type and e_machine follow the identification in both classes. */
static int read_identity(int fd, pl_elf_t *elf)
{
	unsigned char start[EI_NIDENT + 4];
	const unsigned char *half = start + EI_NIDENT;
	bool little;
	int error = read_at(fd, start, sizeof(start), 0);

	if (error == -EBADMSG || (!error && memcmp(start, ELFMAG, SELFMAG) != 0))
		return -ENOEXEC;
	if (error)
		return error;
	elf->bits = start[EI_CLASS];
	elf->byte_order = start[EI_DATA];
	little = elf->byte_order == ELFDATA2LSB;
	elf->type = (uint16_t)(little ? half[0] | half[1] << 8 : half[1] | half[0] << 8);
	elf->machine = (uint16_t)(little ? half[2] | half[3] << 8 : half[3] | half[2] << 8);
	if ((elf->bits != ELFCLASS32 && elf->bits != ELFCLASS64) ||
	    (elf->byte_order != ELFDATA2LSB && elf->byte_order != ELFDATA2MSB))
		return -EBADMSG;
	return 0;
}

int pl_elf_inspect(int fd, pl_elf_t *ret_elf)
{
	pl_elf_t elf = { 0 };
	elf_file_t file = { .fd = fd, .elf = &elf };
	int error = read_identity(fd, &elf);

	if (!error && elf.byte_order == NATIVE_DATA) {
		error = read_header(&file);
		if (!error)
			error = read_segments(&file);
	}
	if (error)
		return error;
	*ret_elf = elf;
	return 0;
}

static bool is_glibc_loader_name(const char *name)
{
	/* glibc's own ABI lists (shlib-versions): ld-linux*.so.N, ld64.so.N, ld.so.1. */
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld64.so", 7) ||
	       !strncmp(name, "ld.so", 5);
}

bool pl_elf_is_static(const pl_elf_t *elf)
{
	return elf->complete && !*elf->interpreter && !elf->needs_libraries &&
	       !is_glibc_loader_name(elf->soname);
}

bool pl_elf_has_glibc_loader(const pl_elf_t *elf)
{
	const char *slash = strrchr(elf->interpreter, '/');

	return is_glibc_loader_name(slash ? slash + 1 : elf->interpreter);
}
