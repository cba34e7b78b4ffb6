/* SPDX-License-Identifier: MIT */
/* report: the file it is written to, smaps below a root, and what was closed before. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "report/report.h"

#define FIXTURES PL_SRC "/tests/fixtures/smaps/"

static char folder[] = "/tmp/pagelift-unit-XXXXXX";
static char path[256];

static void make_folder(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	static const char *const names[] = { "report", "report.77", "link", "77-77%d%", "target" };

	for (size_t i = 0; i < PL_ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(folder), 0);
}

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void check_created(const char *asked, const char *name)
{
	struct stat status;
	int fd;

	umask(0);
	fd = pl_report_open(in_folder(asked), 77);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_WRONLY);
	ck_assert_int_eq(access(in_folder(name), F_OK), 0);
	close(fd);
}

START_TEST(file_is_new_and_private)
{
	errno = 5;
	check_created("report", "report");
	ck_assert_int_eq(pl_report_open(in_folder("report"), 77), -EEXIST);
}
END_TEST

START_TEST(pid_in_the_path)
{
	check_created("report.%p", "report.77");
	check_created("%p-%p%d%", "77-77%d%");
}
END_TEST

START_TEST(links_are_refused)
{
	char target[300];

	snprintf(target, sizeof(target), "%s/target", folder);
	ck_assert_int_eq(symlink(target, in_folder("link")), 0);
	ck_assert_int_eq(pl_report_open(in_folder("link"), 77), -EEXIST);
	ck_assert_int_eq(access(target, F_OK), -1);
}
END_TEST

START_TEST(other_errors)
{
	char long_path[PL_PATH_MAX + 1];

	ck_assert_int_eq(pl_report_open(in_folder("none/report"), 77), -ENOENT);
	ck_assert_int_eq(pl_report_open("", 77), -ENOENT);
	memset(long_path, 'x', PL_PATH_MAX);
	long_path[PL_PATH_MAX] = '\0';
	ck_assert_int_eq(pl_report_open(long_path, 77), -ENAMETOOLONG);
}
END_TEST

START_TEST(process_by_rollup)
{
	pl_process_usage_t usage = { 1, 2 };

	ck_assert_int_eq(pl_smaps_process(FIXTURES "mixed", &usage), 0);
	ck_assert_uint_eq(usage.anonymous, 12420 * PL_KIB);
	ck_assert_uint_eq(usage.anonymous_large, 10240 * PL_KIB);
	ck_assert_int_eq(pl_smaps_process(FIXTURES "none", &usage), -ENOENT);
	ck_assert_uint_eq(usage.anonymous, 12420 * PL_KIB);
	ck_assert_int_eq(pl_smaps_process(FIXTURES "empty", &usage), 0);
	ck_assert_uint_eq(usage.anonymous, 0);
	ck_assert_int_eq(pl_smaps_process(FIXTURES "garbage", &usage), 0);
	ck_assert_uint_eq(usage.anonymous, 0);
	ck_assert_uint_eq(usage.anonymous_large, 0);
}
END_TEST

static const struct {
	uintptr_t start;
	uintptr_t end;
	uint64_t resident_kib;
	uint64_t large_kib;
} ranges[] = {
	{ 0x555555000000, 0x555555021000, 132, 0 },
	{ 0x7f0000000000, 0x7f0000400000, 4096, 2048 },
	{ 0x7f0000000000, 0x7f0000200000, 2048, 1024 },
	{ 0x7f0000100000, 0x7f0000200000, 1024, 512 },
	{ 0x7f0000800000, 0x7f0001800000, 8192, 8192 },
	{ 0x7f0000000000, 0x7f0001800000, 4096 + 100 + 8192, 2048 + 8192 },
	{ 0x7f0000600000, 0x7f0000800000, 0, 0 },
	{ 0x7f0000400000, 0x7f0000600000, 100, 0 },
	{ 0x7f0040000000, 0x7f0080000000, 1048576, 1048576 },
	{ 0x7f0080000000, 0x7f0080800000, 6144, 6144 },
	{ 0x7f0080800000, 0x7f0081000000, 6144, 4096 },
	{ 0, UINTPTR_MAX, 132 + 4096 + 100 + 8192 + 1048576 + 6144 + 6144,
	  2048 + 8192 + 1048576 + 6144 + 4096 },
	{ 0x1000, 0x2000, 0, 0 },
};

START_TEST(range_by_smaps)
{
	pl_usage_t usage = { .resident = 3, .large = 1 };

	ck_assert_int_eq(pl_smaps_range(FIXTURES "mixed",
					pl_range(ranges[_i].start, ranges[_i].end), &usage),
			 0);
	ck_assert_uint_eq(usage.resident, 3 + ranges[_i].resident_kib * PL_KIB);
	ck_assert_uint_eq(usage.large, 1 + ranges[_i].large_kib * PL_KIB);
}
END_TEST

START_TEST(range_by_odd_smaps)
{
	pl_usage_t usage = { 0 };

	ck_assert_int_eq(pl_smaps_range(FIXTURES "empty", pl_range(0, UINTPTR_MAX), &usage), 0);
	ck_assert_int_eq(pl_smaps_range(FIXTURES "garbage", pl_range(0, UINTPTR_MAX), &usage), 0);
	ck_assert_int_eq(pl_smaps_range(FIXTURES "none", pl_range(0, UINTPTR_MAX), &usage),
			 -ENOENT);
	ck_assert_uint_eq(usage.resident, 0);
	ck_assert_uint_eq(usage.large, 0);
}
END_TEST

START_TEST(closed_by_kind)
{
	const uintptr_t page = 2 * PL_MIB;
	uintptr_t start;
	void *at = mmap(NULL, 9 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	start = pl_round_up((uintptr_t)at, page);
	memset((void *)start, 1, 8 * page);
	for (size_t i = 0; i < 4; i++)
		pl_registry_add(&(pl_segment_t){
			.range = pl_range(start + 2 * i * page, start + (2 * i + 1) * page),
			.kind = i % 2 ? PL_KIND_CHUNK : PL_KIND_MAP });
	pl_collect_closing(pl_range(start + 8 * page, start + 9 * page), page);
	pl_collect_closing(pl_range(start, start), page);
	ck_assert_uint_eq(pl_collect_closed(PL_KIND_MAP).segments, 0);
	pl_collect_closing(pl_range(start, start + 5 * page), page);
	ck_assert_uint_eq(pl_collect_closed(PL_KIND_MAP).segments, 2);
	ck_assert_uint_eq(pl_collect_closed(PL_KIND_MAP).length, 2 * page);
	ck_assert_uint_eq(pl_collect_closed(PL_KIND_CHUNK).segments, 1);
	ck_assert_uint_eq(pl_collect_closed(PL_KIND_HEAP).segments, 0);
	ck_assert_uint_le(pl_collect_closed(PL_KIND_MAP).usage.resident, 2 * page);
	/* Half of a segment is half of its length. */
	pl_collect_closing(pl_range(start + 6 * page, start + 6 * page + page / 2), page);
	ck_assert_uint_eq(pl_collect_closed(PL_KIND_CHUNK).length, page + page / 2);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("report files");
	TCase *files = tcase_create("files");
	TCase *usage = tcase_create("usage");

	tcase_set_timeout(files, 60);
	tcase_add_checked_fixture(files, make_folder, remove_folder);
	tcase_add_test(files, file_is_new_and_private);
	tcase_add_test(files, pid_in_the_path);
	tcase_add_test(files, links_are_refused);
	tcase_add_test(files, other_errors);
	suite_add_tcase(suite, files);
	tcase_set_timeout(usage, 60);
	tcase_add_test(usage, process_by_rollup);
	tcase_add_loop_test(usage, range_by_smaps, 0, PL_ARRAY_LEN(ranges));
	tcase_add_test(usage, range_by_odd_smaps);
	tcase_add_test(usage, closed_by_kind);
	suite_add_tcase(suite, usage);
	return suite;
}
