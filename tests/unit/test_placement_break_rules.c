/* SPDX-License-Identifier: MIT */
/* placement/break: what ends running ahead (rules 2 and 3 of break.h), the program's own calls,
 * fork. */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/types.h"
#include "fake_machine.h"
#include "fake_ops.h"
#include "placement/advice.h"
#include "placement/break.h"
#include "placement/context.h"
#include "placement/limits.h"
#include "placement/map.h"
#include "registry/registry.h"
#include "report/counters.h"

extern void *__curbrk;

#define PA (MAP_PRIVATE | MAP_ANONYMOUS)

static const uintptr_t page = 2 * PL_MIB;
static uintptr_t start;

static void set_up(void)
{
	fake_machine();
	start = fake_break_install(page - 300 * PL_KIB, 64 * PL_MIB);
}

static uintptr_t reported(void)
{
	return (uintptr_t)__curbrk;
}

static void grow(size_t length)
{
	uintptr_t wanted = reported() + length;

	ck_assert_int_eq(pl_break_set_for_libc(wanted), 0);
	ck_assert_uint_eq(reported(), wanted);
}

static void run_ahead(void)
{
	grow(page + 4096);
	ck_assert_uint_gt(fake_break_now(), reported());
}

static void check_given_up(void)
{
	ck_assert_uint_eq(pl_counters[PL_COUNTER_BRK_EXACT], 1);
	ck_assert_uint_eq(fake_break_now(), reported());
	grow(3 * page + 100);
	ck_assert_uint_eq(fake_break_now(), reported());
	ck_assert_uint_eq(pl_counters[PL_COUNTER_BRK_EXACT], 1);
}

START_TEST(retracted)
{
	uintptr_t before;

	run_ahead();
	before = reported();
	pl_break_retract();
	ck_assert_uint_eq(reported(), before);
	check_given_up();
}
END_TEST

START_TEST(retracted_before_anything)
{
	pl_break_retract();
	ck_assert_uint_eq(fake_break_now(), start);
	grow(4 * page + 100);
	ck_assert_uint_eq(fake_break_now(), reported());
}
END_TEST

/* What was given back has lost its advice when it comes again. */
START_TEST(retracted_memory_is_advised_again)
{
	uintptr_t given_back;

	run_ahead();
	given_back = reported();
	pl_break_retract();
	fake_forget();
	for (int i = 0; i < 40; i++)
		grow(132 * PL_KIB);
	ck_assert(fake_is_advised(pl_round_up(given_back, pl_base_page), MADV_HUGEPAGE));
}
END_TEST

START_TEST(yields_to_what_lies_ahead)
{
	run_ahead();
	pl_break_yield(pl_range(fake_break_now() - 4096, fake_break_now() + page));
	check_given_up();
}
END_TEST

START_TEST(does_not_yield_to_others)
{
	uintptr_t ahead;

	run_ahead();
	ahead = fake_break_now();
	pl_break_yield(pl_range(start, pl_round_down(reported(), 4096)));
	pl_break_yield(pl_range(ahead, ahead + page));
	pl_break_yield(pl_range(0, 4096));
	pl_break_yield_attributes(pl_range(ahead, ahead + page));
	pl_break_yield_attributes(pl_range(start - 8192, start));
	ck_assert_uint_eq(fake_break_now(), ahead);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_BRK_EXACT], 0);
}
END_TEST

/* A map around a break that is not ahead meets nothing that the program does not know. */
START_TEST(does_not_yield_when_not_ahead)
{
	grow(4096);
	pl_break_yield(pl_range(start - page, start + page));
	ck_assert_uint_eq(pl_counters[PL_COUNTER_BRK_EXACT], 0);
}
END_TEST

START_TEST(yields_attributes_of_the_whole_heap)
{
	run_ahead();
	pl_break_yield_attributes(
		pl_range(pl_round_up(start, 4096), pl_round_up(start, 4096) + 4096));
	check_given_up();
}
END_TEST

/* Each of these is a call of the program's that touches the heap or what lies ahead of it. */
START_TEST(calls_that_make_it_yield)
{
	pl_request_t request = { .length = 4096, .prot = PROT_READ | PROT_WRITE, .flags = PA };
	uintptr_t inside = pl_round_up(start, 4096);
	struct rlimit limit = { .rlim_cur = PL_GIB, .rlim_max = RLIM_INFINITY };

	run_ahead();
	request.addr = pl_round_up(reported(), 4096) + 4096;
	switch (_i) {
	case 0: /* a hint is enough */
		ck_assert_uint_eq((uintptr_t)pl_map(&request, -1, 0) % 4096, 0);
		break;
	case 1:
		pl_unmap(request.addr, 4096);
		break;
	case 2:
		pl_protect(PL_ORIGIN_PROGRAM, request.addr, 4096, PROT_NONE, -1);
		break;
	case 3:
		pl_protect(PL_ORIGIN_PROGRAM, inside, 4096, PROT_READ | PROT_WRITE, -1);
		break;
	case 4:
		pl_advise(PL_ORIGIN_PROGRAM, inside, 4096, MADV_DONTFORK);
		break;
	case 5:
		pl_advise(PL_ORIGIN_PROGRAM, request.addr, 4096, MADV_DONTNEED);
		break;
	case 6:
		pl_limits_before_set(RLIMIT_DATA, &limit);
		break;
	case 7:
		pl_limits_before_set(RLIMIT_AS, &limit);
		break;
	case 8:
		pl_limits_before_lock(MCL_FUTURE);
		break;
	case 9:
		pl_limits_before_lock(MCL_CURRENT);
		break;
	}
	check_given_up();
}
END_TEST

START_TEST(calls_that_do_not)
{
	uintptr_t inside = pl_round_up(start, 4096);
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY };
	struct rlimit finite = { .rlim_cur = 100, .rlim_max = 100 };

	run_ahead();
	pl_limits_before_set(RLIMIT_AS, &limit);
	pl_limits_before_set(RLIMIT_NOFILE, &finite);
	pl_limits_before_set(RLIMIT_AS, NULL);
	pl_limits_before_lock(0);
	pl_advise(PL_ORIGIN_PROGRAM, inside, 4096, MADV_DONTNEED);
	pl_advise(PL_ORIGIN_LIBC, inside, 4096, MADV_FREE);
	ck_assert_uint_gt(fake_break_now(), reported());
	ck_assert_uint_eq(pl_counters[PL_COUNTER_BRK_EXACT], 0);
}
END_TEST

/* Rule 3. A raw call grew the break behind our back: nothing of it is handed out. */
START_TEST(follows_a_raw_growth)
{
	uintptr_t raw;

	run_ahead();
	raw = fake_break_move(fake_break_now() + 3 * page);
	ck_assert_int_eq(pl_break_set_for_libc(raw + 4096), 0);
	ck_assert_uint_eq(reported(), raw + 4096);
	check_given_up();
}
END_TEST

/* Somebody set libc's idea as well, as libc's own brk before us would have. */
START_TEST(follows_a_new_idea_of_libc)
{
	uintptr_t moved;

	run_ahead();
	moved = fake_break_move(reported() + 5 * page + 8);
	__curbrk = (void *)moved;
	grow(4096);
	ck_assert_uint_eq(reported(), moved + 4096);
	check_given_up();
}
END_TEST

START_TEST(program_sets_the_break)
{
	uintptr_t before;

	run_ahead();
	before = reported();
	ck_assert_int_eq(pl_break_set_for_program(before + 12345), 0);
	ck_assert_uint_eq(reported(), before + 12345);
	check_given_up();
	ck_assert_int_eq(pl_break_set_for_program(start + PL_GIB), -ENOMEM);
	ck_assert_int_eq(pl_break_set_for_program(start + 4096), 0);
	ck_assert_uint_eq(fake_break_now(), start + 4096);
	ck_assert_uint_eq(reported(), start + 4096);
}
END_TEST

/* What the program gave back is neither reported nor believed to be advised. */
START_TEST(program_lowers_the_break)
{
	pl_segment_t segment;

	grow(9 * page);
	ck_assert_int_eq(pl_break_set_for_program(start + 3 * page), 0);
	ck_assert(pl_registry_find(pl_range(start, start + 1), &segment));
	ck_assert_uint_le(segment.range.end, start + 3 * page);
	fake_forget();
	grow(5 * page);
	ck_assert(fake_is_advised(start + 5 * page, MADV_HUGEPAGE));
}
END_TEST

START_TEST(program_moves_the_break)
{
	uintptr_t before;

	run_ahead();
	before = reported();
	ck_assert_int_eq(pl_break_move(0, false), (long)before);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_BRK_EXACT], 0);
	ck_assert_int_eq(pl_break_move(100, false), (long)before);
	ck_assert_uint_eq(fake_break_now(), before + 100);
	ck_assert_int_eq(pl_break_move(-100, false), (long)(before + 100));
	ck_assert_uint_eq(fake_break_now(), before);
	ck_assert_int_eq(pl_break_move(INTPTR_MAX, false), -ENOMEM);
	ck_assert_int_eq(pl_break_move(INTPTR_MIN, false), -ENOMEM);
	ck_assert_int_eq(pl_break_move((intptr_t)PL_GIB, false), -ENOMEM);
	ck_assert_uint_eq(reported(), before);
	check_given_up();
}
END_TEST

/* From inside the shim, or with it off: the kernel's break is what sbrk makes it. */
START_TEST(passes_through)
{
	uintptr_t before;

	run_ahead();
	before = reported();
	ck_assert_int_eq(pl_break_move(4096, true), (long)before);
	ck_assert_uint_eq(fake_break_now(), before + 4096);
	ck_assert_uint_eq(reported(), before + 4096);
	grow(100);
	check_given_up();
}
END_TEST

START_TEST(first_call_asks_for_nothing)
{
	ck_assert_int_eq(pl_break_set_for_libc(0), 0);
	ck_assert_uint_eq(reported(), start);
	ck_assert_uint_eq(fake_break_now(), start);
	__curbrk = NULL;
	ck_assert_int_eq(pl_break_move(0, false), (long)start);
}
END_TEST

/* The child's break is a copy; both go on by themselves. */
START_TEST(goes_on_after_fork)
{
	pid_t child;
	int status;

	run_ahead();
	child = fork();
	if (child == 0) {
		pl_break_after_fork();
		grow(100000);
		memset((void *)(reported() - 100000), 1, 100000);
		grow(3 * page);
		_exit(pl_counters[PL_COUNTER_BRK_SAVED] == 1 && fake_break_now() % page == 0 ? 0
											     : 1);
	}
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	grow(3 * page);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("placement break rules");
	TCase *cases = tcase_create("rules");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, set_up, fake_break_leave);
	tcase_add_test(cases, retracted);
	tcase_add_test(cases, retracted_before_anything);
	tcase_add_test(cases, retracted_memory_is_advised_again);
	tcase_add_test(cases, yields_to_what_lies_ahead);
	tcase_add_test(cases, does_not_yield_to_others);
	tcase_add_test(cases, does_not_yield_when_not_ahead);
	tcase_add_test(cases, yields_attributes_of_the_whole_heap);
	tcase_add_loop_test(cases, calls_that_make_it_yield, 0, 10);
	tcase_add_test(cases, calls_that_do_not);
	tcase_add_test(cases, follows_a_raw_growth);
	tcase_add_test(cases, follows_a_new_idea_of_libc);
	tcase_add_test(cases, program_sets_the_break);
	tcase_add_test(cases, program_lowers_the_break);
	tcase_add_test(cases, program_moves_the_break);
	tcase_add_test(cases, passes_through);
	tcase_add_test(cases, first_call_asks_for_nothing);
	tcase_add_test(cases, goes_on_after_fork);
	suite_add_tcase(suite, cases);
	return suite;
}
