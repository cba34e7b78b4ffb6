/* SPDX-License-Identifier: MIT */
/* placement: advice of the program's, the prctl about huge pages, bss, limits, the entry guard. */
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/types.h"
#include "fake_machine.h"
#include "fake_ops.h"
#include "placement/advice.h"
#include "placement/break.h"
#include "placement/bss.h"
#include "placement/context.h"
#include "placement/limits.h"
#include "placement/map.h"
#include "placement/process_control.h"
#include "placement/promote.h"
#include "registry/registry.h"
#include "report/counters.h"

extern void *__curbrk;

static const uintptr_t page = 2 * PL_MIB;
static pl_facts_t *facts;

static void set_up(void)
{
	facts = fake_machine();
}

static uintptr_t map(size_t length)
{
	pl_request_t request = { .length = length,
				 .prot = PROT_READ | PROT_WRITE,
				 .flags = MAP_PRIVATE | MAP_ANONYMOUS };
	long start = pl_map(&request, -1, 0);

	ck_assert_int_gt(start, 0);
	fake_forget();
	return (uintptr_t)start;
}

START_TEST(advice_is_passed_on)
{
	static const int advices[] = { MADV_NORMAL,   MADV_DONTNEED, MADV_FREE,       MADV_WILLNEED,
				       MADV_HUGEPAGE, MADV_DONTFORK, MADV_NOHUGEPAGE, 4711 };
	uintptr_t start = map(4 * PL_MIB);
	long result = pl_advise(PL_ORIGIN_PROGRAM, start + 4096, 8193, advices[_i]);

	ck_assert_uint_eq(fake_count(FAKE_ANY), 1);
	ck_assert_uint_eq(fake_last(FAKE_MADVISE)->addr, start + 4096);
	ck_assert_uint_eq(fake_last(FAKE_MADVISE)->length, 8193);
	ck_assert_int_eq(fake_last(FAKE_MADVISE)->prot, advices[_i]);
	ck_assert_int_eq(fake_last(FAKE_MADVISE)->result, result);
	ck_assert_int_eq(result, advices[_i] == 4711 ? -EINVAL : 0);
	fake_fail(FAKE_MADVISE, 1, ENOMEM);
	ck_assert_int_eq(pl_advise(PL_ORIGIN_PROGRAM, start, 4096, advices[_i]), -ENOMEM);
}
END_TEST

START_TEST(programs_advice_is_the_reason)
{
	static const int advices[] = { MADV_HUGEPAGE, MADV_NOHUGEPAGE };
	uintptr_t start = map(4 * PL_MIB);
	pl_segment_t segment;

	ck_assert_int_eq(pl_advise(PL_ORIGIN_LIBC, start, 4096, advices[_i]), 0);
	ck_assert(pl_registry_find(pl_range(start, start + 1), &segment));
	ck_assert_int_eq(segment.reason, PL_REASON_PLACED);
	ck_assert_int_eq(pl_advise(PL_ORIGIN_PROGRAM, start, 4096, advices[_i]), 0);
	ck_assert(pl_registry_find(pl_range(start, start + 1), &segment));
	ck_assert_int_eq(segment.reason, PL_REASON_APPLICATION_ADVICE);
}
END_TEST

/* Advice on a heap that is still small is not overridden when it has grown large. */
START_TEST(programs_advice_on_a_small_heap)
{
	uintptr_t start = fake_break_install(0, 64 * PL_MIB);
	uintptr_t advised = start + 64 * PL_KIB;
	bool overridden;

	pl_break_set_for_libc(start + PL_MIB);
	pl_advise(PL_ORIGIN_PROGRAM, advised, 64 * PL_KIB, MADV_NOHUGEPAGE);
	for (size_t i = 1; i < 100; i++)
		pl_break_set_for_libc(start + PL_MIB + i * 132 * PL_KIB);
	overridden = fake_is_advised(advised, MADV_HUGEPAGE);
	fake_break_leave();
	ck_assert(!overridden);
}
END_TEST

static long disable(unsigned long value)
{
	return pl_process_control(PR_SET_THP_DISABLE, value, 0, 0, 0);
}

static long ask_disabled(void)
{
	return pl_process_control(PR_GET_THP_DISABLE, 0, 0, 0, 0);
}

START_TEST(disable_is_narrowed)
{
	ck_assert_int_eq(ask_disabled(), 0);
	ck_assert_int_eq(disable(1), 0);
	ck_assert_int_eq(fake_thp_disabled, 3);
	ck_assert_int_eq(pl_context_facts()->thp_disabled, 3);
	ck_assert_int_eq(ask_disabled(), 1);
	ck_assert_int_eq(disable(0), 0);
	ck_assert_int_eq(fake_thp_disabled, 0);
	ck_assert_int_eq(pl_context_facts()->thp_disabled, 0);
	ck_assert_int_eq(ask_disabled(), 0);
}
END_TEST

START_TEST(disable_on_an_older_kernel)
{
	fake_knows_except_advised = false;
	ck_assert_int_eq(disable(1), 0);
	ck_assert_uint_eq(fake_last(FAKE_PRCTL)->length, 0);
	ck_assert_int_eq(fake_thp_disabled, 1);
	ck_assert_int_eq(pl_context_facts()->thp_disabled, 1);
	ck_assert_int_eq(ask_disabled(), 1);
}
END_TEST

/* The program that knows the flag sees what it set itself. */
START_TEST(programs_own_flag_is_its_own)
{
	ck_assert_int_eq(pl_process_control(PR_SET_THP_DISABLE, 1, 2, 0, 0), 0);
	ck_assert_int_eq(pl_context_facts()->thp_disabled, 3);
	ck_assert_int_eq(ask_disabled(), 3);
	ck_assert_int_eq(disable(1), 0);
	ck_assert_int_eq(ask_disabled(), 1);
	ck_assert_int_eq(pl_process_control(PR_SET_THP_DISABLE, 1, 2, 0, 0), 0);
	ck_assert_int_eq(ask_disabled(), 3);
}
END_TEST

START_TEST(disable_errors)
{
	ck_assert_int_eq(pl_process_control(PR_SET_THP_DISABLE, 1, 0, 0, 9), -EINVAL);
	ck_assert_int_eq(pl_process_control(PR_SET_THP_DISABLE, 0, 5, 0, 0), -EINVAL);
	ck_assert_int_eq(pl_process_control(PR_GET_THP_DISABLE, 7, 0, 0, 0), -EINVAL);
	ck_assert_int_eq(pl_context_facts()->thp_disabled, 0);
	fake_fail_all(FAKE_PRCTL, EPERM);
	ck_assert_int_eq(disable(1), -EPERM);
	ck_assert_uint_eq(fake_last(FAKE_PRCTL)->length, 0);
	ck_assert_int_eq(pl_context_facts()->thp_disabled, 0);
	ck_assert_int_eq(ask_disabled(), -EPERM);
}
END_TEST

START_TEST(base_narrows_nothing)
{
	pl_context.config.backend = PL_BACKEND_BASE;
	ck_assert_int_eq(disable(1), 0);
	ck_assert_int_eq(fake_thp_disabled, 1);
	ck_assert_uint_eq(fake_count(FAKE_PRCTL), 1);
	ck_assert_int_eq(ask_disabled(), 1);
}
END_TEST

START_TEST(other_prctls_are_passed_on)
{
	ck_assert_int_eq(pl_process_control(PR_SET_NAME, 1, 2, 3, 4), -ENOSYS);
	ck_assert_uint_eq(fake_count(FAKE_ANY), 1);
	ck_assert_uint_eq(fake_last(FAKE_PRCTL)->addr, 1);
	ck_assert_uint_eq(fake_last(FAKE_PRCTL)->length, 2);
	ck_assert_uint_eq(fake_last(FAKE_PRCTL)->new_length, 3);
	ck_assert_uint_eq(fake_last(FAKE_PRCTL)->target, 4);
}
END_TEST

/* A seccomp filter may kill for a call that the program itself never makes. */
START_TEST(confinement_is_noticed)
{
	static const int options[] = { PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_SET_NO_NEW_PRIVS };
	static const unsigned long values[] = { 2, 1, 0 };

	ck_assert_int_eq(pl_process_control(options[_i], values[_i], 0, 0, 0), -ENOSYS);
	ck_assert_int_eq(pl_context_facts()->confined, values[_i] != 0);
	ck_assert_uint_eq(fake_count(FAKE_ANY), 1);
}
END_TEST

static char large_bss[8 * 1024 * 1024];

static bool bss_is_advised(void)
{
	uintptr_t middle = (uintptr_t)large_bss + sizeof(large_bss) / 2;
	pl_segment_t segment;

	pl_bss_advise();
	ck_assert_int_eq(fake_is_advised(middle, MADV_HUGEPAGE),
			 pl_registry_find(pl_range(middle, middle + 1), &segment));
	return fake_is_advised(middle, MADV_HUGEPAGE);
}

START_TEST(bss_by_configuration)
{
	switch (_i) {
	case 0:
		ck_assert(bss_is_advised());
		ck_assert_uint_ge(pl_counters[PL_COUNTER_PLACED], 1);
		return;
	case 1:
		pl_context.config.segments = PL_SET_HEAP | PL_SET_MMAP;
		break;
	case 2:
		pl_context.config.backend = PL_BACKEND_BASE;
		break;
	case 3:
		pl_context.config.min_size = PL_GIB;
		break;
	case 4:
		facts->large_page = 0;
		break;
	case 5:
		fake_fail_all(FAKE_MADVISE, EINVAL);
		break;
	}
	ck_assert(!bss_is_advised());
	ck_assert_uint_eq(pl_counters[PL_COUNTER_PLACED], 0);
	ck_assert_uint_eq(pl_registry_count(), 0);
}
END_TEST

START_TEST(promotion)
{
	enum { COLLAPSE = 25 };

	pl_promote_resident(pl_range(page + 1, 4 * page));
	ck_assert_uint_eq(fake_count_advice(COLLAPSE), 2);
	fake_fail(FAKE_MADVISE, 1, EINVAL);
	pl_promote_resident(pl_range(page, 3 * page));
	ck_assert_uint_eq(pl_counters[PL_COUNTER_COLLAPSED], 3);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_COLLAPSE_FAILED], 1);
	facts->thp_mode = PL_THP_NEVER;
	pl_promote_resident(pl_range(page, 3 * page));
	facts->thp_mode = PL_THP_MADVISE;
	facts->thp_disabled = 1;
	pl_promote_resident(pl_range(page, 3 * page));
	facts->thp_disabled = 0;
	facts->large_page = 0;
	pl_promote_resident(pl_range(page, 3 * page));
	ck_assert_uint_eq(fake_count_advice(COLLAPSE), 4);
}
END_TEST

START_TEST(entry)
{
	ck_assert(pl_enter());
	ck_assert(!pl_enter());
	pl_leave();
	for (pl_state_t state = PL_UNINIT; state <= PL_OFF; state++) {
		pl_context.state = state;
		ck_assert_int_eq(pl_enter(), state == PL_READY);
		if (state == PL_READY)
			pl_leave();
	}
}
END_TEST

START_TEST(facts_learnt_later)
{
	pl_verdict_t verdict;

	ck_assert_uint_eq(pl_context_facts_for(page - 1)->large_page, page);
	ck_assert_ptr_ne(pl_context_facts_for(page - 1), pl_context_facts());
	ck_assert_ptr_eq(pl_context_facts_for(page), pl_context_facts());
	pl_context_note_advice(-EAGAIN);
	ck_assert_uint_eq(pl_context_facts()->large_page, page);
	ck_assert(pl_policy_in_place(PL_KIND_MAP, &pl_context.config, pl_context_facts()).advise);
	pl_context_note_advice(-EINVAL);
	ck_assert_uint_eq(pl_context_facts()->large_page, page); /* others divide by it */
	verdict = pl_policy_in_place(PL_KIND_MAP, &pl_context.config, pl_context_facts());
	ck_assert(!verdict.advise);
	ck_assert_int_eq(verdict.reason, PL_REASON_NO_LARGE_PAGES);
	pl_context_limits_are_tight();
	ck_assert(pl_context_facts()->limits_tight);
	pl_context.measures = true;
	ck_assert(pl_context_measures());
	pl_context_is_confined();
	ck_assert(pl_context_facts()->confined);
	ck_assert(!pl_context_measures());
	pl_context_after_fork();
	ck_assert(pl_context_facts()->confined);
}
END_TEST

START_TEST(call_ranges)
{
	pl_range_t range = pl_map_range(4097, 1);

	ck_assert(range.start == 4096 && range.end == 8192);
	ck_assert(pl_range_empty(pl_map_range(4096, 0)));
	ck_assert(pl_range_empty(pl_map_range(0, SIZE_MAX)));
	ck_assert(pl_range_empty(pl_map_range(UINTPTR_MAX, 1)));
	ck_assert(pl_range_empty(pl_map_range(8192, SIZE_MAX - 4096)));
	ck_assert_uint_eq(pl_range_length(pl_map_range(0, 1UL << 47)), 1UL << 47);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("placement rest");
	TCase *cases = tcase_create("rest");

	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_loop_test(cases, advice_is_passed_on, 0, 8);
	tcase_add_loop_test(cases, programs_advice_is_the_reason, 0, 2);
	tcase_add_test(cases, programs_advice_on_a_small_heap);
	tcase_add_test(cases, disable_is_narrowed);
	tcase_add_test(cases, disable_on_an_older_kernel);
	tcase_add_test(cases, programs_own_flag_is_its_own);
	tcase_add_test(cases, disable_errors);
	tcase_add_test(cases, base_narrows_nothing);
	tcase_add_test(cases, other_prctls_are_passed_on);
	tcase_add_loop_test(cases, confinement_is_noticed, 0, 3);
	tcase_add_loop_test(cases, bss_by_configuration, 0, 6);
	tcase_add_test(cases, promotion);
	tcase_add_test(cases, entry);
	tcase_add_test(cases, facts_learnt_later);
	tcase_add_test(cases, call_ranges);
	suite_add_tcase(suite, cases);
	return suite;
}
