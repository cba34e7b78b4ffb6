/* SPDX-License-Identifier: MIT */
/* backend/measure, on real memory. A kernel without PAGEMAP_SCAN (Linux 6.7) answers ENOTTY, and
 * one that gives no large pages gives none: then there is less to compare. */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "backend/measure.h"
#include "backend/thp.h"
#include "report/smaps.h"

enum { BLOCKS = 4 };

static const uintptr_t page = 2 * PL_MIB;
static uintptr_t start;

/* Not advised: fresh blocks are on small pages, unless the machine's THP is "always". */
static void map_blocks(void)
{
	void *at = mmap(NULL, (BLOCKS + 1) * page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	start = pl_round_up((uintptr_t)at, page);
}

/* Returns false when this kernel (or valgrind) cannot tell. */
static bool measure(pl_range_t range, pl_usage_t *usage)
{
	int result = pl_measure(range, page, usage);

	ck_assert(result == 0 || result == -ENOTTY || result == -ENOENT || result == -EINVAL);
	return result == 0;
}

START_TEST(small_pages)
{
	pl_usage_t usage = { 0 };

	if (madvise((void *)start, BLOCKS * page, MADV_NOHUGEPAGE))
		return;
	for (size_t i = 0; i < 10; i++)
		*(volatile char *)(start + i * 3 * 4096) = 1;
	if (!measure(pl_range(start, start + BLOCKS * page), &usage))
		return;
	ck_assert_uint_eq(usage.resident, 10 * pl_base_page);
	ck_assert_uint_eq(usage.large, 0);
}
END_TEST

START_TEST(results_add_up)
{
	pl_usage_t usage = { .resident = 5, .large = 3 };

	*(volatile char *)start = 1;
	if (!measure(pl_range(start, start + page), &usage))
		return;
	ck_assert_uint_ge(usage.resident, 5 + pl_base_page);
}
END_TEST

/* smaps does not count it either, and tells where a kernel has none and gave memory to read. */
START_TEST(zero_page_is_not_counted)
{
	pl_range_t range = pl_range(start, start + BLOCKS * page);
	pl_usage_t usage = { 0 };
	pl_usage_t by_smaps = { 0 };
	int sum = 0;

	if (madvise((void *)start, BLOCKS * page, MADV_NOHUGEPAGE))
		return;
	for (size_t i = 0; i < 100; i++)
		sum += *(volatile char *)(start + i * 4096);
	ck_assert_int_eq(sum, 0);
	if (!measure(range, &usage))
		return;
	ck_assert_int_eq(pl_smaps_range("", range, &by_smaps), 0);
	ck_assert_uint_eq(usage.resident, by_smaps.resident);
	ck_assert_uint_eq(usage.large, 0);
}
END_TEST

START_TEST(untouched_and_unmapped)
{
	pl_usage_t usage = { 0 };

	if (!measure(pl_range(start, start + BLOCKS * page), &usage))
		return;
	ck_assert_uint_eq(usage.resident, 0);
	ck_assert_int_eq(munmap((void *)start, BLOCKS * page), 0);
	ck_assert(measure(pl_range(start, start + BLOCKS * page), &usage));
	ck_assert_uint_eq(usage.resident, 0);
}
END_TEST

START_TEST(whole_blocks_only)
{
	pl_usage_t usage = { 0 };

	memset((void *)start, 1, 2 * page);
	ck_assert_int_eq(pl_measure(pl_range(start + 1, start + page), page, &usage), 0);
	ck_assert_int_eq(pl_measure(pl_range(start, start), page, &usage), 0);
	ck_assert_uint_eq(usage.resident, 0);
	if (!measure(pl_range(start + 4096, start + 2 * page + 4096), &usage))
		return;
	ck_assert_uint_eq(usage.resident, page);
}
END_TEST

START_TEST(collapsed_block_is_large)
{
	pl_usage_t usage = { 0 };

	memset((void *)start, 1, 2 * page);
	if (pl_thp_collapse(pl_range(start, start + page), page))
		return;
	if (!measure(pl_range(start, start + BLOCKS * page), &usage))
		return;
	ck_assert_uint_eq(usage.resident, 2 * page);
	ck_assert_uint_ge(usage.large, page);
	usage = (pl_usage_t){ 0 };
	ck_assert(measure(pl_range(start, start + page), &usage));
	ck_assert_uint_eq(usage.large, page);
}
END_TEST

/* More changes than one call of the ioctl returns. */
START_TEST(many_regions)
{
	pl_usage_t usage = { 0 };
	size_t touched = 0;

	if (madvise((void *)start, BLOCKS * page, MADV_NOHUGEPAGE))
		return;
	for (size_t at = 0; at < BLOCKS * page; at += 3 * 4096, touched++)
		*(volatile char *)(start + at) = 1;
	if (!measure(pl_range(start, start + BLOCKS * page), &usage))
		return;
	ck_assert_uint_eq(usage.resident, touched * pl_base_page);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("backend measure");
	TCase *cases = tcase_create("measure");

	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, map_blocks, NULL);
	tcase_add_test(cases, small_pages);
	tcase_add_test(cases, results_add_up);
	tcase_add_test(cases, zero_page_is_not_counted);
	tcase_add_test(cases, untouched_and_unmapped);
	tcase_add_test(cases, whole_blocks_only);
	tcase_add_test(cases, collapsed_block_is_large);
	tcase_add_test(cases, many_regions);
	suite_add_tcase(suite, cases);
	return suite;
}
