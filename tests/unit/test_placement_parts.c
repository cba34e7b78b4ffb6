/* SPDX-License-Identifier: MIT */
/* placement/parts: what is left of hugetlb pages of which the program unmapped something. */
#include "harness.h"

#include "placement/parts.h"
#include "report/counters.h"

static const pl_range_t page = { 4 * PL_MIB, 6 * PL_MIB };

/* A part in KiB from the start of the page. */
static pl_range_t part(uintptr_t from, uintptr_t to)
{
	return pl_range(page.start + from * PL_KIB, page.start + to * PL_KIB);
}

static void forget_all(void)
{
	pl_parts_forget(pl_range(0, UINTPTR_MAX));
	ck_assert(pl_range_empty(pl_parts_find(pl_range(0, UINTPTR_MAX))));
}

START_TEST(last_part_completes_the_page)
{
	ck_assert(!pl_parts_add(page, part(0, 4)));
	ck_assert(!pl_parts_add(page, part(1024, 2048)));
	ck_assert(!pl_parts_add(page, part(8, 1024)));
	ck_assert(pl_parts_add(page, part(4, 8)));
	ck_assert(pl_range_empty(pl_parts_find(page)));
}
END_TEST

START_TEST(parts_may_overlap)
{
	ck_assert(!pl_parts_add(page, part(100, 200)));
	ck_assert(!pl_parts_add(page, part(100, 200)));
	ck_assert(!pl_parts_add(page, part(300, 400)));
	ck_assert(!pl_parts_add(page, part(150, 350)));
	ck_assert_uint_eq(pl_parts_find(page).start, part(100, 400).start);
	ck_assert_uint_eq(pl_parts_find(page).end, part(100, 400).end);
	ck_assert(pl_parts_add(page, pl_range(0, UINTPTR_MAX)));
}
END_TEST

/* In pieces of 4K, from both ends and every second one first: more than there is room for at once
 * would be lost. */
START_TEST(many_small_parts)
{
	for (uintptr_t at = 0; at < 1024; at += 4)
		ck_assert(!pl_parts_add(page, part(at, at + 4)));
	for (uintptr_t at = 2044; at > 1024; at -= 4)
		ck_assert(!pl_parts_add(page, part(at, at + 4)));
	ck_assert(pl_parts_add(page, part(1024, 1028)));
	ck_assert_uint_eq(pl_counters[PL_COUNTER_CUTS_KEPT], 0);
}
END_TEST

START_TEST(too_many_parts_are_counted)
{
	unsigned int kept = 0;

	for (uintptr_t at = 0; at < 2048; at += 8)
		kept += !pl_parts_add(page, part(at, at + 4));
	ck_assert_uint_eq(kept, 256);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_CUTS_KEPT], 256 - 64);
}
END_TEST

/* What is mapped there next has nothing to do with it. */
START_TEST(forgotten_with_the_page)
{
	ck_assert(!pl_parts_add(page, part(0, 1024)));
	pl_parts_forget(page);
	ck_assert(!pl_parts_add(page, part(1024, 2048)));
	pl_parts_forget(part(1500, 1600));
	ck_assert_uint_eq(pl_range_length(pl_parts_find(page)), 476 * PL_KIB);
	ck_assert_uint_eq(pl_range_length(pl_parts_find(part(1600, 2048))), 448 * PL_KIB);
}
END_TEST

START_TEST(pages_are_apart)
{
	pl_range_t next = pl_range(page.end, page.end + 2 * PL_MIB);

	ck_assert(!pl_parts_add(page, part(1024, 4096)));
	ck_assert(!pl_parts_add(next, pl_range(next.start, next.end - 4096)));
	ck_assert(pl_parts_add(page, part(0, 1024)));
	ck_assert(pl_parts_add(next, pl_range(next.end - 4096, next.end)));
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("placement-parts");
	TCase *cases = tcase_create("parts");

	tcase_add_checked_fixture(cases, NULL, forget_all);
	tcase_add_test(cases, last_part_completes_the_page);
	tcase_add_test(cases, parts_may_overlap);
	tcase_add_test(cases, many_small_parts);
	tcase_add_test(cases, too_many_parts_are_counted);
	tcase_add_test(cases, forgotten_with_the_page);
	tcase_add_test(cases, pages_are_apart);
	suite_add_tcase(suite, cases);
	return suite;
}
