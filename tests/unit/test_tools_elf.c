/* SPDX-License-Identifier: MIT */
/*
 * tools/elf_inspect: files are made here byte by byte, so that every kind of program and damage can
 * be had on any machine.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "tools/elf_inspect.h"

enum { SEGMENTS = 4, IMAGE_SIZE = 4096, ADDRESS = 0x400000 };

/* A program of 64 bits whose parts a test switches on. Strings lie at a fixed place. */
typedef struct {
	union {
		unsigned char bytes[IMAGE_SIZE];
		Elf64_Ehdr header;
	};
	unsigned int segments;
	unsigned int dynamic;
} image_t;

enum { AT_SEGMENTS = 64, AT_INTERP = 512, AT_DYNAMIC = 1024, AT_STRINGS = 2048, AT_NOTE = 3072 };

#define NATIVE_DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

static image_t image;

static void add_segment(uint32_t type, uint64_t offset, uint64_t size)
{
	Elf64_Phdr segment = { .p_type = type,
			       .p_offset = offset,
			       .p_vaddr = ADDRESS + offset,
			       .p_filesz = size,
			       .p_align = 4 };

	memcpy(image.bytes + AT_SEGMENTS + image.segments++ * sizeof(segment), &segment,
	       sizeof(segment));
	image.header.e_phnum = (Elf64_Half)image.segments;
}

static void add_dynamic(int64_t tag, uint64_t value)
{
	Elf64_Dyn entry = { .d_tag = tag, .d_un.d_val = value };

	memcpy(image.bytes + AT_DYNAMIC + image.dynamic++ * sizeof(entry), &entry, sizeof(entry));
}

static void add_interpreter(const char *path)
{
	strcpy((char *)image.bytes + AT_INTERP, path);
	add_segment(PT_INTERP, AT_INTERP, strlen(path) + 1);
}

static void add_note(const char *owner, uint32_t type)
{
	Elf64_Nhdr note = { .n_namesz = 4, .n_descsz = 8, .n_type = type };

	memcpy(image.bytes + AT_NOTE, &note, sizeof(note));
	memcpy(image.bytes + AT_NOTE + sizeof(note), owner, 4);
	add_segment(PT_NOTE, AT_NOTE, sizeof(note) + 4 + 8);
}

static void start_image(void)
{
	memset(&image, 0, sizeof(image));
	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = NATIVE_DATA;
	image.header.e_type = ET_EXEC;
	image.header.e_machine = EM_X86_64;
	image.header.e_phoff = AT_SEGMENTS;
	image.header.e_phentsize = sizeof(Elf64_Phdr);
	add_segment(PT_LOAD, 0, IMAGE_SIZE);
}

static int inspect_bytes(const void *bytes, size_t size, pl_elf_t *ret_elf)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	int result;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	result = pl_elf_inspect(fd, ret_elf);
	close(fd);
	return result;
}

static pl_elf_t inspect_image(void)
{
	pl_elf_t elf;

	ck_assert_int_eq(inspect_bytes(image.bytes, sizeof(image.bytes), &elf), 0);
	ck_assert(elf.complete);
	return elf;
}

START_TEST(elf_of_this_program)
{
	pl_elf_t elf;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(pl_elf_inspect(fd, &elf), 0);
	close(fd);
	ck_assert_uint_eq(elf.bits, sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
	ck_assert(elf.complete);
	ck_assert(elf.needs_libraries);
	ck_assert(!elf.is_go);
	ck_assert(!pl_elf_is_static(&elf));
	ck_assert(pl_elf_has_glibc_loader(&elf));
}
END_TEST

START_TEST(elf_static)
{
	pl_elf_t elf;

	start_image();
	elf = inspect_image();
	ck_assert(pl_elf_is_static(&elf));
	ck_assert(!elf.is_gnu && !elf.is_go);
	ck_assert_uint_eq(elf.machine, EM_X86_64);

	/* A static PIE has a dynamic section, but neither loader nor libraries. */
	add_dynamic(DT_NULL, 0);
	add_segment(PT_DYNAMIC, AT_DYNAMIC, image.dynamic * sizeof(Elf64_Dyn));
	elf = inspect_image();
	ck_assert(pl_elf_is_static(&elf));
}
END_TEST

START_TEST(elf_loaders)
{
	static const struct {
		const char *path;
		int is_glibc;
	} loaders[] = {
		{ "/lib64/ld-linux-x86-64.so.2", 1 },
		{ "/lib/ld-linux-aarch64.so.1", 1 },
		{ "/lib64/ld64.so.2", 1 },
		{ "/gnu/store/abc/lib/ld-linux-x86-64.so.2", 1 },
		{ "/lib/ld-musl-x86_64.so.1", 0 },
		{ "/system/bin/linker64", 0 },
	};

	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
		pl_elf_t elf;

		start_image();
		add_interpreter(loaders[i].path);
		elf = inspect_image();
		ck_assert_str_eq(elf.interpreter, loaders[i].path);
		ck_assert(!pl_elf_is_static(&elf));
		ck_assert_int_eq(pl_elf_has_glibc_loader(&elf), loaders[i].is_glibc);
	}
}
END_TEST

START_TEST(elf_needed_names)
{
	static const char strings[] = "\0libm.so.6\0libasan.so.8\0ld-linux-x86-64.so.2";
	pl_elf_t elf;

	start_image();
	memcpy(image.bytes + AT_STRINGS, strings, sizeof(strings));
	add_dynamic(DT_NEEDED, 1);
	add_dynamic(DT_NEEDED, 11);
	add_dynamic(DT_STRTAB, ADDRESS + AT_STRINGS);
	add_dynamic(DT_NULL, 0);
	add_segment(PT_DYNAMIC, AT_DYNAMIC, image.dynamic * sizeof(Elf64_Dyn));
	elf = inspect_image();
	ck_assert(elf.needs_libraries);
	ck_assert_str_eq(elf.sanitizer, "libasan.so.8");
	ck_assert_str_eq(elf.soname, "");

	/* ld.so started as a program is no static program: it heeds LD_PRELOAD. */
	image.dynamic = 0;
	add_dynamic(DT_SONAME, 24);
	add_dynamic(DT_STRTAB, ADDRESS + AT_STRINGS);
	elf = inspect_image();
	ck_assert_str_eq(elf.soname, "ld-linux-x86-64.so.2");
}
END_TEST

START_TEST(elf_notes)
{
	pl_elf_t elf;

	start_image();
	add_note("Go\0", 4);
	elf = inspect_image();
	ck_assert(elf.is_go && !elf.is_gnu);

	start_image();
	add_note("GNU", NT_GNU_ABI_TAG);
	elf = inspect_image();
	ck_assert(elf.is_gnu && !elf.is_go);

	/* GNU's build id is not the ABI tag. */
	start_image();
	add_note("GNU", NT_GNU_BUILD_ID);
	elf = inspect_image();
	ck_assert(!elf.is_gnu && !elf.is_go);
}
END_TEST

START_TEST(elf_of_other_byte_order)
{
	unsigned char bytes[20] = ELFMAG;
	pl_elf_t elf;

	bytes[EI_CLASS] = ELFCLASS64;
	bytes[EI_DATA] = NATIVE_DATA == ELFDATA2LSB ? ELFDATA2MSB : ELFDATA2LSB;
	bytes[NATIVE_DATA == ELFDATA2LSB ? 19 : 18] = EM_S390;
	ck_assert_int_eq(inspect_bytes(bytes, sizeof(bytes), &elf), 0);
	ck_assert_uint_eq(elf.machine, EM_S390);
	ck_assert(!elf.complete);
	ck_assert(!pl_elf_is_static(&elf));
}
END_TEST

START_TEST(elf_of_32_bits)
{
	Elf32_Ehdr header = { .e_ident = ELFMAG,
			      .e_machine = EM_386,
			      .e_phentsize = sizeof(Elf32_Phdr) };
	pl_elf_t elf;

	header.e_ident[EI_CLASS] = ELFCLASS32;
	header.e_ident[EI_DATA] = NATIVE_DATA;
	ck_assert_int_eq(inspect_bytes(&header, sizeof(header), &elf), 0);
	ck_assert_uint_eq(elf.bits, ELFCLASS32);
	ck_assert_uint_eq(elf.machine, EM_386);
	ck_assert(elf.complete);
}
END_TEST

START_TEST(elf_not)
{
	pl_elf_t elf = { .machine = 77 };

	ck_assert_int_eq(inspect_bytes("", 0, &elf), -ENOEXEC);
	ck_assert_int_eq(inspect_bytes("#!/bin/sh\n", 10, &elf), -ENOEXEC);
	ck_assert_int_eq(inspect_bytes("\177ELF", 4, &elf), -ENOEXEC);
	ck_assert_uint_eq(elf.machine, 77);
	ck_assert_int_eq(pl_elf_inspect(-1, &elf), -EBADF);
	ck_assert_uint_eq(elf.machine, 77);
}
END_TEST

START_TEST(elf_damaged)
{
	pl_elf_t elf;

	start_image();
	image.header.e_phoff = IMAGE_SIZE - 8;
	ck_assert_int_eq(inspect_bytes(image.bytes, IMAGE_SIZE, &elf), -EBADMSG);
	image.header.e_phoff = UINT64_MAX - 8;
	ck_assert_int_eq(inspect_bytes(image.bytes, IMAGE_SIZE, &elf), -EBADMSG);

	start_image();
	image.header.e_phnum = 0xffff;
	ck_assert_int_eq(inspect_bytes(image.bytes, IMAGE_SIZE, &elf), -EBADMSG);

	start_image();
	image.header.e_phentsize = 8;
	ck_assert_int_eq(inspect_bytes(image.bytes, IMAGE_SIZE, &elf), -EBADMSG);

	start_image();
	add_segment(PT_DYNAMIC, AT_DYNAMIC, UINT64_MAX);
	ck_assert_int_eq(inspect_bytes(image.bytes, IMAGE_SIZE, &elf), -EBADMSG);

	start_image();
	add_segment(PT_NOTE, AT_NOTE, 1U << 30);
	ck_assert_int_eq(inspect_bytes(image.bytes, IMAGE_SIZE, &elf), -EBADMSG);

	/* A loader name that lies outside of the file is no name. */
	start_image();
	add_segment(PT_INTERP, UINT64_MAX - 4, 100);
	elf = inspect_image();
	ck_assert_str_eq(elf.interpreter, "");
}
END_TEST

/* Any cut and any changed byte: an answer in bounded time, no read outside of the buffers. */
START_TEST(elf_noise)
{
	unsigned int seed = 1;

	start_image();
	add_interpreter("/lib64/ld-linux-x86-64.so.2");
	add_dynamic(DT_NEEDED, 1);
	add_dynamic(DT_STRTAB, ADDRESS + AT_STRINGS);
	add_segment(PT_DYNAMIC, AT_DYNAMIC, image.dynamic * sizeof(Elf64_Dyn));
	add_note("GNU", NT_GNU_ABI_TAG);
	for (size_t size = 0; size < AT_STRINGS; size += 7) {
		pl_elf_t elf;
		int result = inspect_bytes(image.bytes, size, &elf);

		ck_assert(!result || result == -ENOEXEC || result == -EBADMSG);
	}
	for (int round = 0; round < 3000; round++) {
		image_t saved = image;
		pl_elf_t elf;
		int result;

		for (int i = 0; i < 4; i++)
			image.bytes[(size_t)rand_r(&seed) % (AT_SEGMENTS + SEGMENTS * 56)] =
				(unsigned char)rand_r(&seed);
		result = inspect_bytes(image.bytes, IMAGE_SIZE, &elf);
		ck_assert(!result || result == -ENOEXEC || result == -EBADMSG);
		if (!result)
			ck_assert_uint_lt(strlen(elf.interpreter), PL_ELF_NAME_MAX);
		image = saved;
	}
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("tools/elf");
	TCase *tcase = tcase_create("elf");

	tcase_add_test(tcase, elf_of_this_program);
	tcase_add_test(tcase, elf_static);
	tcase_add_test(tcase, elf_loaders);
	tcase_add_test(tcase, elf_needed_names);
	tcase_add_test(tcase, elf_notes);
	tcase_add_test(tcase, elf_of_other_byte_order);
	tcase_add_test(tcase, elf_of_32_bits);
	tcase_add_test(tcase, elf_not);
	tcase_add_test(tcase, elf_damaged);
	tcase_add_test(tcase, elf_noise);
	suite_add_tcase(suite, tcase);
	return suite;
}
