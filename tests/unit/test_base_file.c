/* SPDX-License-Identifier: MIT */
/* base/file and base/types: files, lines, numbers, ranges. */
#include "harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/types.h"

static char folder[] = "/tmp/pagelift-unit-XXXXXX";

static void make_folder(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/file", folder);
	unlink(path);
	rmdir(folder);
}

static int write_file(const char *data, size_t length)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/file", folder);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(data, 1, length, file), length);
	ck_assert_int_eq(fclose(file), 0);
	return pl_file_open(folder, "/file");
}

START_TEST(read_whole_or_cut)
{
	char buffer[8];

	close(write_file("12345", 5));
	ck_assert_int_eq(pl_file_read(folder, "/file", buffer, sizeof(buffer)), 5);
	ck_assert_str_eq(buffer, "12345");
	close(write_file("1234567", 7));
	ck_assert_int_eq(pl_file_read(folder, "/file", buffer, sizeof(buffer)), 7);
	close(write_file("123456789", 9));
	ck_assert_int_eq(pl_file_read(folder, "/file", buffer, sizeof(buffer)), 7);
	ck_assert_str_eq(buffer, "1234567");
	close(write_file("", 0));
	ck_assert_int_eq(pl_file_read(folder, "/file", buffer, sizeof(buffer)), 0);
	ck_assert_str_eq(buffer, "");
}
END_TEST

START_TEST(errors_are_negative_errno)
{
	char buffer[8];
	char long_path[PL_PATH_MAX + 1];

	errno = 77;
	ck_assert_int_eq(pl_file_open(folder, "/none"), -ENOENT);
	ck_assert_int_eq(pl_file_read(folder, "/none", buffer, sizeof(buffer)), -ENOENT);
	ck_assert_int_eq(pl_file_read(folder, "", buffer, sizeof(buffer)), -EISDIR);
	memset(long_path, '/', PL_PATH_MAX);
	long_path[PL_PATH_MAX] = '\0';
	ck_assert_int_eq(pl_file_open("", long_path), -ENAMETOOLONG);
	long_path[PL_PATH_MAX - 1] = '\0';
	ck_assert_int_ge(pl_file_open("", long_path), 0);
	ck_assert_int_eq(pl_file_open("/", long_path), -ENAMETOOLONG);
	ck_assert_int_eq(errno, 77);
}
END_TEST

static void expect_line(pl_lines_t *lines, const char *expected)
{
	const char *line = pl_lines_next(lines);

	if (!expected)
		ck_assert_ptr_null(line);
	else
		ck_assert_str_eq(line, expected);
}

START_TEST(lines_one_by_one)
{
	pl_lines_t lines;
	int fd = write_file("first\n\nthird\nno newline", 23);

	pl_lines_init(&lines, fd);
	expect_line(&lines, "first");
	expect_line(&lines, "");
	expect_line(&lines, "third");
	expect_line(&lines, "no newline");
	expect_line(&lines, NULL);
	expect_line(&lines, NULL);
	close(fd);
}
END_TEST

START_TEST(empty_file_and_bad_descriptor)
{
	pl_lines_t lines;
	int fd = write_file("", 0);

	pl_lines_init(&lines, fd);
	expect_line(&lines, NULL);
	close(fd);
	pl_lines_init(&lines, -1);
	expect_line(&lines, NULL);
}
END_TEST

/* Lines of every length around the size of the buffer: nothing lost, nothing doubled. */
START_TEST(long_lines_come_in_pieces)
{
	static char data[3 * 4200 + 2];
	size_t length = 4000 + (size_t)_i;
	pl_lines_t lines;
	size_t total = 0;
	char *line;
	int fd;

	memset(data, 'a', length);
	data[length] = '\n';
	memset(data + length + 1, 'b', 10);
	data[length + 11] = '\n';
	fd = write_file(data, length + 12);
	pl_lines_init(&lines, fd);
	while ((line = pl_lines_next(&lines)) && line[0] != 'b') {
		ck_assert_uint_eq(strspn(line, "a"), strlen(line));
		total += strlen(line);
	}
	ck_assert_uint_eq(total, length);
	ck_assert_ptr_nonnull(line);
	ck_assert_str_eq(line, "bbbbbbbbbb");
	expect_line(&lines, NULL);
	close(fd);
}
END_TEST

START_TEST(many_lines_across_refills)
{
	static char data[40000];
	size_t length = 0;
	pl_lines_t lines;
	char expected[32];
	int count = 0;
	int fd;

	while (length < sizeof(data) - 32)
		length += (size_t)sprintf(data + length, "line %d of many\n", count++);
	fd = write_file(data, length);
	pl_lines_init(&lines, fd);
	for (int i = 0; i < count; i++) {
		snprintf(expected, sizeof(expected), "line %d of many", i);
		expect_line(&lines, expected);
	}
	expect_line(&lines, NULL);
	close(fd);
}
END_TEST

static void check_number(const char *text, unsigned int base, uint64_t expected, size_t length)
{
	uint64_t value = 99;

	ck_assert_uint_eq((size_t)(pl_parse_number(text, base, &value) - text), length);
	ck_assert_uint_eq(value, expected);
}

START_TEST(numbers)
{
	check_number("0", 10, 0, 1);
	check_number("", 10, 0, 0);
	check_number("x1", 10, 0, 0);
	check_number("-1", 10, 0, 0);
	check_number("123 kB", 10, 123, 3);
	check_number("0012", 10, 12, 4);
	check_number("18446744073709551615", 10, UINT64_MAX, 20);
	check_number("7fffF000-7f", 16, 0x7ffff000, 8);
	check_number("ffffffffffffffff ", 16, UINT64_MAX, 16);
	check_number("19a", 10, 19, 2);
	check_number("0x10", 16, 0, 1);
	check_number("178", 8, 15, 2);
}
END_TEST

START_TEST(fields)
{
	uint64_t value = 99;

	ck_assert(!pl_parse_field("AnonHugePages: 2048 kB", "Anonymous:", &value));
	ck_assert(!pl_parse_field("", "Rss:", &value));
	ck_assert(!pl_parse_field("Rs", "Rss:", &value));
	ck_assert_uint_eq(value, 99);
	ck_assert(pl_parse_field("AnonHugePages:   2048 kB", "AnonHugePages:", &value));
	ck_assert_uint_eq(value, 2048);
	ck_assert(pl_parse_field("Rss:\t \t4", "Rss:", &value));
	ck_assert_uint_eq(value, 4);
	ck_assert(pl_parse_field("Rss:", "Rss:", &value));
	ck_assert_uint_eq(value, 0);
}
END_TEST

START_TEST(rounding)
{
	ck_assert_uint_eq(pl_round_down(0, 4096), 0);
	ck_assert_uint_eq(pl_round_up(0, 4096), 0);
	ck_assert_uint_eq(pl_round_up(1, 4096), 4096);
	ck_assert_uint_eq(pl_round_up(4096, 4096), 4096);
	ck_assert_uint_eq(pl_round_down(8191, 4096), 4096);
	ck_assert_uint_eq(pl_round_up(UINTPTR_MAX, 4096), 0);
	ck_assert_uint_eq(pl_round_down(UINTPTR_MAX, 4096), UINTPTR_MAX - 4095);
}
END_TEST

START_TEST(ranges)
{
	pl_range_t a = pl_range(100, 200);
	pl_range_t clipped;

	ck_assert(pl_range_empty(pl_range(5, 5)));
	ck_assert(pl_range_empty(pl_range(6, 5)));
	ck_assert_uint_eq(pl_range_length(pl_range(6, 5)), 0);
	ck_assert_uint_eq(pl_range_length(pl_range(0, UINTPTR_MAX)), UINTPTR_MAX);
	ck_assert(!pl_range_meets(a, pl_range(200, 300)));
	ck_assert(!pl_range_meets(a, pl_range(0, 100)));
	ck_assert(pl_range_meets(a, pl_range(199, 300)));
	ck_assert(pl_range_meets(a, pl_range(0, UINTPTR_MAX)));
	clipped = pl_range_clip(a, pl_range(150, 500));
	ck_assert(clipped.start == 150 && clipped.end == 200);
	ck_assert(pl_range_empty(pl_range_clip(a, pl_range(300, 500))));
	clipped = pl_range_whole_blocks(pl_range(1, 3 * PL_MIB), PL_MIB);
	ck_assert(clipped.start == PL_MIB && clipped.end == 3 * PL_MIB);
	ck_assert(pl_range_empty(pl_range_whole_blocks(pl_range(1, PL_MIB + 1), PL_MIB)));
	ck_assert(pl_range_empty(pl_range_whole_blocks(pl_range(1, 2), PL_MIB)));
}
END_TEST

START_TEST(empty_range_meets_nothing)
{
	ck_assert(!pl_range_meets(pl_range(100, 200), pl_range(150, 150)));
	ck_assert(!pl_range_meets(pl_range(150, 150), pl_range(100, 200)));
}
END_TEST

/* The last block of the address space has no end that can be rounded up to. */
START_TEST(whole_blocks_at_the_end_of_the_address_space)
{
	pl_range_t range = pl_range(UINTPTR_MAX - 100, UINTPTR_MAX - 10);

	ck_assert_uint_eq(pl_range_length(pl_range_whole_blocks(range, PL_MIB)), 0);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("base file");
	TCase *files = tcase_create("files");
	TCase *values = tcase_create("values");

	tcase_add_checked_fixture(files, make_folder, remove_folder);
	tcase_set_timeout(files, 60);
	tcase_add_test(files, read_whole_or_cut);
	tcase_add_test(files, errors_are_negative_errno);
	tcase_add_test(files, lines_one_by_one);
	tcase_add_test(files, empty_file_and_bad_descriptor);
	tcase_add_loop_test(files, long_lines_come_in_pieces, 85, 105);
	tcase_add_test(files, many_lines_across_refills);
	suite_add_tcase(suite, files);
	tcase_add_test(values, numbers);
	tcase_add_test(values, fields);
	tcase_add_test(values, rounding);
	tcase_add_test(values, ranges);
	tcase_add_test(values, empty_range_meets_nothing);
	tcase_add_test(values, whole_blocks_at_the_end_of_the_address_space);
	suite_add_tcase(suite, values);
	return suite;
}
