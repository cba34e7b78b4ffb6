/* SPDX-License-Identifier: MIT */
/* The layout is that of elf(5); both classes are read into the 64-bit structures. */
#include "tools/elf_inspect.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "tools/elf_file.h"

/* Far above what linkers produce; a file beyond it is called damaged instead of read on. */
enum { NOTES_MAX = 16384 };

#define NATIVE_DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

typedef struct {
	pl_elf_file_t file;
	pl_elf_t *elf;
} elf_reader_t;

/* A string of the file, cut at the size of the buffer; "" if it lies outside of the file. */
static void read_name(int fd, uint64_t offset, uint64_t most, char buffer[PL_ELF_NAME_MAX])
{
	size_t length = most < PL_ELF_NAME_MAX ? (size_t)most : PL_ELF_NAME_MAX;
	ssize_t got = 0;

	if (offset <= INT64_MAX - PL_ELF_NAME_MAX)
		got = pread(fd, buffer, length, (off_t)offset);
	buffer[got < 0 ? 0 : got < PL_ELF_NAME_MAX ? got : PL_ELF_NAME_MAX - 1] = '\0';
}

/* Looks at the name of one DT_NEEDED or DT_SONAME entry. */
static void take_name(const elf_reader_t *reader, const Elf64_Dyn *entry, uint64_t strings,
		      uint64_t left)
{
	char name[PL_ELF_NAME_MAX];

	if (entry->d_un.d_val >= left)
		return;
	read_name(reader->file.fd, strings + entry->d_un.d_val, left - entry->d_un.d_val, name);
	if (entry->d_tag == DT_SONAME)
		memcpy(reader->elf->soname, name, sizeof(name));
	/* gcc links libasan.so.N, clang -shared-libasan libclang_rt.asan-ARCH.so. */
	else if (!strncmp(name, "libasan.so", 10) || !strncmp(name, "libclang_rt.asan", 16))
		memcpy(reader->elf->sanitizer, name, sizeof(name));
}

/* Calls take_name for each entry with a name, once DT_STRTAB has told where names are. */
static int read_dynamic(const elf_reader_t *reader, const Elf64_Phdr *segment)
{
	unsigned int count;
	uint64_t strings = 0;
	uint64_t left = 0;
	bool found = false;
	int error = pl_elf_file_dynamic_count(&reader->file, segment, &count);

	if (error)
		return error;
	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < count; i++) {
			Elf64_Dyn entry;

			error = pl_elf_file_dynamic(&reader->file, segment, i, &entry);
			if (error)
				return error;
			if (entry.d_tag == DT_NULL)
				break;
			if (entry.d_tag == DT_NEEDED)
				reader->elf->needs_libraries = true;
			if (!found && entry.d_tag == DT_STRTAB)
				found = pl_elf_file_find(&reader->file, entry.d_un.d_ptr, &strings,
							 &left);
			if (round && (entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME))
				take_name(reader, &entry, strings, left);
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
static int read_notes(const elf_reader_t *reader, const Elf64_Phdr *segment)
{
	uint64_t align = segment->p_align == 8 ? 8 : 4;
	uint64_t at = 0;

	if (segment->p_filesz > NOTES_MAX)
		return -EBADMSG;
	while (at + sizeof(Elf64_Nhdr) + 4 <= segment->p_filesz) {
		Elf64_Nhdr note;
		char owner[4];
		int error =
			pl_elf_read(reader->file.fd, &note, sizeof(note), segment->p_offset + at);

		if (!error)
			error = pl_elf_read(reader->file.fd, owner, sizeof(owner),
					    segment->p_offset + at + sizeof(note));
		if (error)
			return error;
		take_note(reader->elf, &note, owner);
		at += sizeof(note) + note.n_namesz;
		at = (at + align - 1) & ~(align - 1);
		at += note.n_descsz;
		at = (at + align - 1) & ~(align - 1);
	}
	return 0;
}

static int read_segments(const elf_reader_t *reader)
{
	for (unsigned int i = 0; i < reader->file.count; i++) {
		Elf64_Phdr segment;
		int error = pl_elf_file_segment(&reader->file, i, &segment);

		if (!error && segment.p_type == PT_INTERP)
			read_name(reader->file.fd, segment.p_offset, segment.p_filesz,
				  reader->elf->interpreter);
		if (!error && segment.p_type == PT_DYNAMIC)
			error = read_dynamic(reader, &segment);
		if (!error && segment.p_type == PT_NOTE)
			error = read_notes(reader, &segment);
		if (error)
			return error;
	}
	reader->elf->complete = true;
	return 0;
}

/* e_type and e_machine follow the identification in both classes. */
static int read_identity(int fd, pl_elf_t *elf)
{
	unsigned char start[EI_NIDENT + 4];
	const unsigned char *half = start + EI_NIDENT;
	bool little;
	int error = pl_elf_read(fd, start, sizeof(start), 0);

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
	elf_reader_t reader = { .elf = &elf };
	int error = read_identity(fd, &elf);

	if (!error && elf.byte_order == NATIVE_DATA) {
		error = pl_elf_file_start(fd, elf.bits == ELFCLASS64, &reader.file);
		if (!error)
			error = read_segments(&reader);
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
