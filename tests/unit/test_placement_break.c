/* SPDX-License-Identifier: MIT */
/*
 * placement/break on a break of the fakes. libc's __curbrk leads there during a test, so the tests
 * run in processes of their own (Check's default) and put it back at their end.
 */
#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/types.h"
#include "fake_machine.h"
#include "fake_ops.h"
#include "placement/break.h"
#include "placement/context.h"
#include "registry/registry.h"
#include "report/counters.h"

extern void *__curbrk;

static const uintptr_t page = 2 * PL_MIB;
static pl_facts_t *facts;
static uintptr_t start;
static uintptr_t first_block; /* the first large page inside the heap */

static void set_up(void)
{
	facts = fake_machine();
	start = fake_break_install(page - 300 * PL_KIB, 64 * PL_MIB);
	first_block = pl_round_up(start, page);
}

/* sbrk of libc (misc/sbrk.c). */
static long libc_sbrk(intptr_t increment)
{
	uintptr_t old = (uintptr_t)__curbrk;

	if (increment && pl_break_set_for_libc(old + (uintptr_t)increment) < 0)
		return -ENOMEM;
	return (long)old;
}

static uintptr_t reported(void)
{
	return (uintptr_t)__curbrk;
}

static void grow(size_t length)
{
	uintptr_t old = reported();

	ck_assert_int_eq(libc_sbrk((intptr_t)length), (long)old);
	ck_assert_uint_eq(reported(), old + length);
	ck_assert_uint_ge(fake_break_now(), reported());
}

static bool is_zero(uintptr_t from, uintptr_t to)
{
	for (const unsigned char *at = (const unsigned char *)from; at < (unsigned char *)to; at++)
		if (*at)
			return false;
	return true;
}

START_TEST(small_heap_is_exact)
{
	grow(132 * PL_KIB);
	grow(page - 132 * PL_KIB);
	ck_assert_uint_eq(fake_break_now(), start + page);
	ck_assert_uint_eq(fake_count(FAKE_MADVISE), 0);
	ck_assert_uint_eq(pl_registry_count(), 0);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_BRK_CALLS], 2);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_BRK_SAVED], 0);
}
END_TEST

START_TEST(large_heap_runs_ahead)
{
	pl_segment_t segment;

	grow(132 * PL_KIB);
	grow(page);
	ck_assert_uint_eq(fake_break_now() % page, 0);
	ck_assert_uint_eq(fake_break_now(), pl_round_up(reported(), page));
	ck_assert(fake_is_advised(first_block, MADV_HUGEPAGE));
	ck_assert(fake_is_advised(fake_break_now() - 1, MADV_HUGEPAGE));
	ck_assert(!fake_is_advised(first_block - 1, MADV_HUGEPAGE));
	ck_assert(pl_registry_find(pl_range(start, start + 1), &segment));
	ck_assert_uint_eq(segment.range.start, start);
	ck_assert_uint_eq(segment.range.end, fake_break_now());
	ck_assert_int_eq(segment.kind, PL_KIND_HEAP);
	ck_assert_int_eq(segment.reason, PL_REASON_PLACED);
}
END_TEST

START_TEST(growth_inside_only_asks)
{
	size_t calls;

	grow(page + 400 * PL_KIB);
	calls = fake_count(FAKE_ANY);
	for (int i = 0; i < 10; i++) {
		uintptr_t old = reported();

		grow(100 * PL_KIB + 8);
		memset((void *)old, 0x77, reported() - old);
	}
	ck_assert_uint_eq(fake_count(FAKE_ANY), calls + 10); /* brk(0): did a raw call move it? */
	ck_assert_uint_eq(fake_count(FAKE_BRK), fake_count(FAKE_ANY) - fake_count(FAKE_MADVISE));
	ck_assert_uint_eq(pl_counters[PL_COUNTER_BRK_SAVED], 10);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_BRK_CALLS], 11);
}
END_TEST

START_TEST(later_growth_is_advised_once)
{
	grow(page + 4096);
	fake_forget();
	grow(3 * page);
	ck_assert_uint_eq(fake_count_advice(MADV_HUGEPAGE), 1);
	ck_assert(fake_is_advised(fake_break_now() - 1, MADV_HUGEPAGE));
	ck_assert_uint_eq(pl_registry_count(), 1);
}
END_TEST

/* Small pages from before the advice are collapsed, and only where something may be resident. */
START_TEST(first_advice_collapses_what_is_there)
{
	enum { COLLAPSE = 25 };

	grow(page);
	memset((void *)start, 1, page);
	grow(10 * page);
	ck_assert_uint_ge(fake_count_advice(COLLAPSE), 1);
	ck_assert(fake_is_advised(first_block, COLLAPSE));
	ck_assert(!fake_is_advised(pl_round_up(start + page, page), COLLAPSE));
	fake_forget();
	grow(10 * page);
	ck_assert_uint_eq(fake_count_advice(COLLAPSE), 0);
}
END_TEST

/* Rule 1: the two sides of every large page, and no multiple of a page at all. */
START_TEST(regrown_memory_reads_zero)
{
	static const intptr_t steps[] = {
		4096, 100, 1, 300000, 2097152, 2097153, 5000000, 6291456
	};
	size_t step = (size_t)steps[_i];
	uintptr_t low;

	grow(page + 4 * PL_MIB + 123);
	low = reported();
	grow(step);
	memset((void *)low, 0xee, step);
	ck_assert_int_eq(libc_sbrk(-(intptr_t)step), (long)(low + step));
	ck_assert_uint_eq(reported(), low);
	grow(step);
	ck_assert(is_zero(pl_round_up(low, pl_base_page), reported()));
}
END_TEST

START_TEST(whole_large_pages_go_back)
{
	grow(20 * page);
	ck_assert_int_ge(libc_sbrk(-(intptr_t)(15 * page)), 0);
	ck_assert_uint_eq(reported(), start + 5 * page);
	ck_assert_uint_eq(fake_break_now(), pl_round_up(reported(), page));
	grow(15 * page);
	ck_assert(fake_is_advised(fake_break_now() - 1, MADV_HUGEPAGE));
}
END_TEST

/* The memory below the heap's start is not the heap's to advise. */
START_TEST(shrunk_below_its_first_block)
{
	grow(3 * page);
	if (_i)
		pl_break_retract();
	ck_assert_int_ge(libc_sbrk(-(intptr_t)(3 * page - 100 * PL_KIB)), 0);
	ck_assert_uint_eq(reported(), start + 100 * PL_KIB);
	fake_forget();
	grow(3 * page);
	ck_assert(fake_is_advised(first_block, MADV_HUGEPAGE));
	ck_assert(!fake_is_advised(start - 1, MADV_HUGEPAGE));
}
END_TEST

/* The kernel leaves the break unmoved then, and libc calls that success. */
START_TEST(below_the_start)
{
	uintptr_t before;

	grow(page + 4096);
	before = reported();
	ck_assert_int_eq(pl_break_set_for_libc(start - 4096), 0);
	ck_assert_uint_eq(reported(), before);
}
END_TEST

START_TEST(kernel_refuses_to_shrink)
{
	uintptr_t before;

	grow(9 * page);
	before = reported();
	fake_fail(FAKE_BRK, 2, ENOMEM); /* the first only asks */
	ck_assert_int_eq(pl_break_set_for_libc(start + 4 * page), 0);
	ck_assert_uint_eq(reported(), before);
}
END_TEST

START_TEST(asks_exactly_when_ahead_fails)
{
	grow(page);
	fake_fail(FAKE_BRK, 2, ENOMEM); /* the first asks where the break is */
	grow(page);
	ck_assert(fake_has_failed());
	ck_assert_uint_eq(fake_break_now(), reported());
	grow(4096);
	ck_assert_uint_eq(fake_break_now(), pl_round_up(reported(), page));
}
END_TEST

START_TEST(fails_when_exactly_fails_too)
{
	uintptr_t before;

	grow(page);
	before = reported();
	fake_fail_all(FAKE_BRK, ENOMEM);
	ck_assert_int_eq(libc_sbrk((intptr_t)page), -ENOMEM);
	fake_fail_all(FAKE_BRK, 0);
	ck_assert_uint_eq(reported(), before);
	ck_assert_int_eq(libc_sbrk((intptr_t)PL_GIB), -ENOMEM);
	ck_assert_uint_eq(reported(), before);
	grow(page);
}
END_TEST

START_TEST(last_bytes_below_the_limit)
{
	grow(page);
	ck_assert_int_ge(
		libc_sbrk((intptr_t)(pl_round_down(start, page) + 64 * PL_MIB - 8 - reported())),
		0);
	ck_assert_int_eq(libc_sbrk(9), -ENOMEM);
	ck_assert_int_ge(libc_sbrk(8), 0);
}
END_TEST

static void check_exact(void)
{
	grow(page + 5000);
	ck_assert_uint_eq(fake_break_now(), reported());
	grow(3 * page);
	ck_assert_uint_eq(fake_break_now(), reported());
	ck_assert_int_ge(libc_sbrk(-(intptr_t)(page + 9000)), 0);
	ck_assert_uint_eq(fake_break_now(), reported());
}

START_TEST(careful_machines_are_exact)
{
	fake_make_careful(_i);
	check_exact();
	if (_i >= FAKE_CAREFUL_UNADVISED)
		ck_assert_uint_eq(fake_count(FAKE_MADVISE), 0);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_BRK_EXACT], 0);
}
END_TEST

START_TEST(refused_advice_is_not_reported)
{
	grow(page);
	fake_fail_all(FAKE_MADVISE, EINVAL);
	grow(page);
	ck_assert_uint_eq(pl_registry_count(), 0);
	grow(page);
	ck_assert_uint_eq(fake_break_now(), reported());
	ck_assert_uint_eq(fake_count(FAKE_MADVISE), 1);
}
END_TEST

/* Against what a plain break does: where it is, what is kept, what reads zero. */
START_TEST(as_a_plain_break)
{
	uint64_t seed = 42 + (uint64_t)_i;
	uintptr_t mark = start;

	grow(4096);
	for (int step = 0; step < 400; step++) {
		uintptr_t old = reported();
		size_t length;

		seed = seed * 6364136223846793005U + 1442695040888963407U;
		length = (seed >> 33) % (seed >> 60 ? 300000 : 5000000) + 1;
		if (seed >> 32 & 1 && old + length < start + 40 * PL_MIB) {
			grow(length);
			ck_assert(is_zero(pl_round_up(old, pl_base_page), reported()));
			memset((void *)old, 0xa5, length);
		} else if (old - start > length + 4096) {
			ck_assert_int_eq(libc_sbrk(-(intptr_t)length), (long)old);
			ck_assert_uint_eq(reported(), old - length);
		}
		mark = start + 4096 + (seed >> 20) % (reported() - start - 4095);
		ck_assert(mark >= reported() || *(unsigned char *)mark == 0xa5);
	}
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("placement break");
	TCase *cases = tcase_create("break");

	tcase_set_timeout(cases, 300);
	tcase_add_checked_fixture(cases, set_up, fake_break_leave);
	tcase_add_test(cases, small_heap_is_exact);
	tcase_add_test(cases, large_heap_runs_ahead);
	tcase_add_test(cases, growth_inside_only_asks);
	tcase_add_test(cases, later_growth_is_advised_once);
	tcase_add_test(cases, first_advice_collapses_what_is_there);
	tcase_add_loop_test(cases, regrown_memory_reads_zero, 0, 8);
	tcase_add_test(cases, whole_large_pages_go_back);
	tcase_add_loop_test(cases, shrunk_below_its_first_block, 0, 2);
	tcase_add_test(cases, below_the_start);
	tcase_add_test(cases, kernel_refuses_to_shrink);
	tcase_add_test(cases, asks_exactly_when_ahead_fails);
	tcase_add_test(cases, fails_when_exactly_fails_too);
	tcase_add_test(cases, last_bytes_below_the_limit);
	tcase_add_loop_test(cases, careful_machines_are_exact, 0,
			    FAKE_CAREFUL_WAYS);
	tcase_add_test(cases, refused_advice_is_not_reported);
	tcase_add_loop_test(cases, as_a_plain_break, 0, 4);
	suite_add_tcase(suite, cases);
	return suite;
}
