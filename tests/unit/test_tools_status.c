/* SPDX-License-Identifier: MIT */
/*
 * What `pagelift status` reads: /proc/PID/smaps from text, and the symbol of a library whose tables
 * are made here byte by byte, whole and damaged.
 */
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "tools/elf_symbol.h"
#include "tools/process_maps.h"

static const char smaps_text[] =
	"55d000000000-55d000400000 rw-p 00000000 00:00 0                          [heap]\n"
	"Size:               4096 kB\n"
	"KernelPageSize:        4 kB\n"
	"Rss:                3000 kB\n"
	"Anonymous:          3000 kB\n"
	"AnonHugePages:      2048 kB\n"
	"Swap:                 12 kB\n"
	"VmFlags: rd wr mr mw me ac hg\n"
	"7f0000000000-7f0000400000 rw-s 00000000 00:01 77                         /dev/zero "
	"(deleted)\n"
	"KernelPageSize:     2048 kB\n"
	"Rss:                   0 kB\n"
	"Shared_Hugetlb:     2048 kB\n"
	"Private_Hugetlb:    2048 kB\n"
	"VmFlags: rd wr sh mr mw me ms de ht\n"
	"7f0000400000-7f0000800000 rw-s 00000000 00:01 78                         /dev/zero "
	"(deleted)\n"
	"KernelPageSize:        4 kB\n"
	"Rss:                4096 kB\n"
	"ShmemPmdMapped:     4096 kB\n"
	"VmFlags: rd wr sh mr mw me ms\n"
	"7f0000800000-7f0000801000 rw-s 00002000 00:1a 9                          /srv/a b\n"
	"7f0000801000-7f0000802000 r-xp 00000000 08:01 5                          /lib/libc.so.6\n"
	"7f0000802000-7f0000803000 rw-s 00000000 00:01 6                          /SYSV0000002a\n"
	"7f0000803000-7f0000804000 rw-s 00000000 00:01 7                          /memfd:x "
	"(deleted)\n"
	"7f0000804000-7f0000805000 rw-p 00000000 00:00 0 \n"
	"7f0000805000-7f0000806000 rw-p 00000000 00:00 0                          [anon:name]\n"
	"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n";

static const char mountinfo_text[] = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
				     "23 22 0:26 / /srv rw - tmpfs tmpfs rw,size=1k\n"
				     "damaged\n";

static FILE *open_text(const char *text)
{
	FILE *stream = tmpfile();

	ck_assert_ptr_nonnull(stream);
	fputs(text, stream);
	rewind(stream);
	return stream;
}

static int read_text(const char *text, pl_maps_t *ret_maps)
{
	FILE *smaps = open_text(text);
	FILE *mountinfo = open_text(mountinfo_text);
	int error = pl_maps_read(smaps, mountinfo, ret_maps);

	fclose(smaps);
	fclose(mountinfo);
	return error;
}

START_TEST(maps_kinds)
{
	static const pl_map_kind_t want[] = {
		PL_MAP_HEAP, PL_MAP_HUGETLB, PL_MAP_SHARED,    PL_MAP_TMPFS,     PL_MAP_FILE,
		PL_MAP_SHM,  PL_MAP_MEMFD,   PL_MAP_ANONYMOUS, PL_MAP_ANONYMOUS, PL_MAP_STACK,
	};
	pl_maps_t maps;

	ck_assert_int_eq(read_text(smaps_text, &maps), 0);
	ck_assert_uint_eq(maps.count, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < maps.count; i++)
		ck_assert_int_eq(maps.list[i].kind, want[i]);
	ck_assert_str_eq(maps.list[3].path, "/srv/a b");
	ck_assert_uint_eq(maps.list[3].offset, 0x2000);
	ck_assert_uint_eq(maps.list[3].inode, 9);
	ck_assert_str_eq(maps.list[7].path, "");
	pl_maps_free(&maps);
}
END_TEST

START_TEST(maps_figures)
{
	pl_maps_t maps;

	ck_assert_int_eq(read_text(smaps_text, &maps), 0);
	ck_assert_uint_eq(maps.list[0].resident, 3000 << 10);
	ck_assert_uint_eq(maps.list[0].large, 2 << 20);
	ck_assert_uint_eq(maps.list[0].swap, 12 << 10);
	/* Hugetlb pages are not in Rss, yet they are resident. */
	ck_assert_uint_eq(maps.list[1].resident, 4 << 20);
	ck_assert_uint_eq(maps.list[1].large, 4 << 20);
	ck_assert_uint_eq(maps.list[1].page, 2 << 20);
	ck_assert_uint_eq(maps.list[2].large, 4 << 20);
	ck_assert_uint_eq(maps.list[2].hugetlb, 0);
	pl_maps_free(&maps);
}
END_TEST

START_TEST(maps_search)
{
	pl_maps_t maps;

	ck_assert_int_eq(read_text(smaps_text, &maps), 0);
	ck_assert_uint_eq(pl_maps_behind(&maps, 0), 0);
	ck_assert_uint_eq(pl_maps_behind(&maps, 0x55d000400000 - 1), 0);
	ck_assert_uint_eq(pl_maps_behind(&maps, 0x55d000400000), 1);
	ck_assert_uint_eq(pl_maps_behind(&maps, UINT64_MAX), maps.count);
	pl_maps_free(&maps);
}
END_TEST

START_TEST(maps_damaged)
{
	pl_maps_t maps;

	ck_assert_int_eq(read_text("", &maps), -ESRCH);
	ck_assert_int_eq(read_text("Rss: 5 kB\nno map\n", &maps), -ESRCH);
	ck_assert_int_eq(read_text("2000-1000 rw-p 0 0:0 0\n", &maps), -ESRCH);
}
END_TEST

/* A library: header, two segments, dynamic section, hash, symbols, names; address = offset. */
enum { AT_SEGMENTS = 64, AT_DYNAMIC = 256, AT_HASH = 512, AT_SYMBOLS = 640, AT_NAMES = 1024 };
enum { IMAGE_SIZE = 2048, BASE = 0x10000 };

static union {
	unsigned char bytes[IMAGE_SIZE];
	Elf64_Ehdr header;
} image;

static void put(size_t at, const void *what, size_t size)
{
	memcpy(image.bytes + at, what, size);
}

static void make_image(int64_t hash_tag, const uint32_t *hash, size_t words)
{
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = IMAGE_SIZE },
		{ .p_type = PT_DYNAMIC, .p_offset = AT_DYNAMIC, .p_filesz = 4 * sizeof(Elf64_Dyn) },
	};
	const Elf64_Dyn dynamic[] = {
		{ .d_tag = DT_SYMTAB, .d_un.d_ptr = BASE + AT_SYMBOLS },
		{ .d_tag = DT_STRTAB, .d_un.d_ptr = BASE + AT_NAMES },
		{ .d_tag = hash_tag, .d_un.d_ptr = BASE + AT_HASH },
	};
	const Elf64_Sym symbols[] = {
		{ 0 },
		{ .st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 1 },
		{ .st_name = 1,
		  .st_info = STT_OBJECT,
		  .st_shndx = 1,
		  .st_value = 99,
		  .st_size = 8 },
	};

	memset(&image, 0, sizeof(image));
	image.header = (Elf64_Ehdr){ .e_type = ET_DYN,
				     .e_machine = EM_X86_64,
				     .e_phoff = AT_SEGMENTS,
				     .e_phentsize = sizeof(Elf64_Phdr),
				     .e_phnum = 2 };
	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	put(AT_SEGMENTS, segments, sizeof(segments));
	put(AT_DYNAMIC, dynamic, sizeof(dynamic));
	put(AT_SYMBOLS, symbols, sizeof(symbols));
	put(AT_HASH, hash, words * sizeof(*hash));
	put(AT_NAMES, "\0wanted", 8);
}

static int find(const char *name, size_t size, pl_elf_symbol_t *ret_symbol)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	int error;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, image.bytes, size), (ssize_t)size);
	error = pl_elf_find_data(fd, name, ret_symbol);
	close(fd);
	return error;
}

/* Buckets, chains. */
static const uint32_t sysv[] = { 1, 3, 0, 0, 0, 0 };
/* One bucket, symbols from 1, one Bloom word; the bucket, and the chain with its end mark. */
static const uint32_t gnu[] = { 1, 1, 1, 0, 0, 0, 1, 2, 3 };

START_TEST(symbol_found)
{
	pl_elf_symbol_t symbol;

	make_image(DT_HASH, sysv, 6);
	ck_assert_int_eq(find("wanted", IMAGE_SIZE, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 99);
	ck_assert_uint_eq(symbol.size, 8);
	ck_assert_uint_eq(symbol.first_address, BASE);
	ck_assert_uint_eq(symbol.first_offset, 0);

	make_image(DT_GNU_HASH, gnu, 9);
	ck_assert_int_eq(find("wanted", IMAGE_SIZE, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 99);
	ck_assert_int_eq(find("wante", IMAGE_SIZE, &symbol), -ENOENT);
	ck_assert_int_eq(find("wanted_more", IMAGE_SIZE, &symbol), -ENOENT);
}
END_TEST

START_TEST(symbol_damaged)
{
	static const uint32_t many[] = { 1, 60000, 0 };
	static const uint32_t huge[] = { UINT32_MAX, UINT32_MAX, UINT32_MAX, 0 };
	static const uint32_t astray[] = { 1, 1, 1, 0, 0, 0, 65000 };
	pl_elf_symbol_t symbol = { .value = 7 };

	make_image(DT_HASH, many, 3);
	ck_assert_int_eq(find("wanted", IMAGE_SIZE, &symbol), -EBADMSG);
	make_image(DT_GNU_HASH, huge, 4);
	ck_assert_int_eq(find("wanted", IMAGE_SIZE, &symbol), -EBADMSG);
	make_image(DT_GNU_HASH, astray, 7);
	ck_assert_int_eq(find("wanted", IMAGE_SIZE, &symbol), -EBADMSG);
	make_image(DT_NULL, sysv, 6);
	ck_assert_int_eq(find("wanted", IMAGE_SIZE, &symbol), -EBADMSG);
	make_image(DT_HASH, sysv, 6);
	image.header.e_type = ET_EXEC;
	ck_assert_int_eq(find("wanted", IMAGE_SIZE, &symbol), -ENOEXEC);
	ck_assert_uint_eq(symbol.value, 7);
}
END_TEST

/* Cut anywhere and with any byte of the tables changed it is read to an end. */
START_TEST(symbol_fuzz)
{
	pl_elf_symbol_t symbol;

	make_image(DT_GNU_HASH, gnu, 9);
	for (size_t size = 0; size < AT_NAMES; size += 8)
		ck_assert_int_lt(find("wanted", size, &symbol), 0);
	for (size_t at = 0; at < AT_NAMES; at++) {
		make_image(DT_GNU_HASH, gnu, 9);
		image.bytes[at] ^= 0xff;
		ck_assert_int_le(find("wanted", IMAGE_SIZE, &symbol), 0);
	}
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("tools-status");
	TCase *maps = tcase_create("maps");
	TCase *symbols = tcase_create("symbols");

	tcase_add_test(maps, maps_kinds);
	tcase_add_test(maps, maps_figures);
	tcase_add_test(maps, maps_search);
	tcase_add_test(maps, maps_damaged);
	suite_add_tcase(suite, maps);
	tcase_add_test(symbols, symbol_found);
	tcase_add_test(symbols, symbol_damaged);
	tcase_add_test(symbols, symbol_fuzz);
	suite_add_tcase(suite, symbols);
	return suite;
}
