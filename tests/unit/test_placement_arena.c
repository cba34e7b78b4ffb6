/* SPDX-License-Identifier: MIT */
/* placement/arena: growth, on real reservations as glibc's malloc makes them. */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/types.h"
#include "fake_arena.h"
#include "fake_machine.h"
#include "fake_ops.h"
#include "placement/context.h"
#include "placement/map.h"
#include "registry/registry.h"
#include "report/counters.h"

#define RW (PROT_READ | PROT_WRITE)

static const uintptr_t page = 2 * PL_MIB;
static pl_facts_t *facts;

static void set_up(void)
{
	facts = fake_machine();
	fake_heap_new();
	fake_forget();
}

START_TEST(small_heap_is_exact)
{
	for (int i = 0; i < 32; i++)
		ck_assert_int_eq(fake_heap_grow(64 * PL_KIB), 0);
	ck_assert_uint_eq(fake_heap_end, fake_heap + page);
	ck_assert_uint_eq(fake_count(FAKE_MPROTECT), 32);
	ck_assert_uint_eq(fake_count(FAKE_MADVISE), 0);
	ck_assert(!fake_is_readable(fake_heap_end));
	ck_assert_uint_eq(pl_counters[PL_COUNTER_ARENA_CALLS], 32);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_ARENA_SAVED], 0);
}
END_TEST

START_TEST(large_heap_runs_ahead)
{
	pl_segment_t segment;

	ck_assert_int_eq(fake_heap_grow(page), 0);
	ck_assert_int_eq(fake_heap_grow(4096), 0);
	ck_assert(fake_is_readable(fake_heap + 2 * page - 1));
	ck_assert(!fake_is_readable(fake_heap + 2 * page));
	ck_assert(fake_is_advised(fake_heap, MADV_HUGEPAGE));
	ck_assert(fake_is_advised(fake_heap + FAKE_HEAP_SIZE - 1, MADV_HUGEPAGE));
	ck_assert(!fake_is_advised(fake_heap + FAKE_HEAP_SIZE, MADV_HUGEPAGE));
	ck_assert(pl_registry_find(pl_range(fake_heap, fake_heap + 1), &segment));
	ck_assert_int_eq(segment.kind, PL_KIND_ARENA);
	fake_forget();
	for (int i = 0; i < 31; i++)
		ck_assert_int_eq(fake_heap_grow(64 * PL_KIB), 0);
	ck_assert_uint_eq(fake_count(FAKE_ANY), 0);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_ARENA_SAVED], 31);
	ck_assert_int_eq(fake_heap_grow(page), 0);
	ck_assert_uint_eq(fake_count(FAKE_MPROTECT), 1);
	ck_assert_uint_eq(fake_count(FAKE_MADVISE), 0);
}
END_TEST

START_TEST(grows_to_its_very_end)
{
	ck_assert_int_eq(fake_heap_grow(FAKE_HEAP_SIZE - 4096), 0);
	ck_assert_int_eq(fake_heap_grow(4096), 0);
	ck_assert_uint_eq(fake_heap_end, fake_heap + FAKE_HEAP_SIZE);
}
END_TEST

START_TEST(careful_machines_are_exact)
{
	fake_make_careful(_i);
	ck_assert_int_eq(fake_heap_grow(page + 4096), 0);
	ck_assert(!fake_is_readable(fake_heap_end));
	ck_assert_uint_eq(fake_last(FAKE_MPROTECT)->addr, fake_heap);
	ck_assert_uint_eq(fake_last(FAKE_MPROTECT)->length, page + 4096);
	if (_i >= FAKE_CAREFUL_UNADVISED)
		ck_assert_uint_eq(fake_count(FAKE_MADVISE), 0);
}
END_TEST

START_TEST(asks_exactly_when_rounding_fails)
{
	ck_assert_int_eq(fake_heap_grow(page), 0);
	fake_fail(FAKE_MPROTECT, 1, ENOMEM);
	ck_assert_int_eq(fake_heap_grow(4096), 0);
	ck_assert_uint_eq(fake_count(FAKE_MPROTECT), 3);
	ck_assert_uint_eq(fake_last(FAKE_MPROTECT)->addr, fake_heap + page);
	ck_assert_uint_eq(fake_last(FAKE_MPROTECT)->length, 4096);
	ck_assert(!fake_is_readable(fake_heap_end));
}
END_TEST

/* The call that ends at a large page has nothing to round, but it may start behind libc's own. */
START_TEST(asks_exactly_when_a_shortened_call_fails)
{
	ck_assert_int_eq(fake_heap_grow(page + 4096), 0);
	fake_fail(FAKE_MPROTECT, 1, ENOMEM);
	ck_assert_int_eq(fake_heap_grow(2 * page - 4096), 0);
	ck_assert_uint_eq(fake_last(FAKE_MPROTECT)->addr, fake_heap + page + 4096);
	ck_assert_uint_eq(fake_last(FAKE_MPROTECT)->length, 2 * page - 4096);
}
END_TEST

START_TEST(failure_is_the_kernels)
{
	ck_assert_int_eq(fake_heap_grow(page + 4096), 0);
	fake_fail_all(FAKE_MPROTECT, ENOMEM);
	ck_assert_int_eq(fake_heap_protect(fake_heap_end, fake_heap_end + 3 * page, RW), -ENOMEM);
	fake_fail_all(FAKE_MPROTECT, 0);
	ck_assert_int_eq(fake_heap_grow(3 * page), 0);
}
END_TEST

START_TEST(refused_advice_is_not_reported)
{
	fake_fail_all(FAKE_MADVISE, EINVAL);
	ck_assert_int_eq(fake_heap_grow(page + 4096), 0);
	ck_assert_uint_eq(pl_registry_count(), 0);
}
END_TEST

/* Only libc's read-write call at the mark is growth. */
START_TEST(other_calls_go_through)
{
	uintptr_t start;
	int prot = RW;
	pl_origin_t origin = PL_ORIGIN_LIBC;

	ck_assert_int_eq(fake_heap_grow(page + 64 * PL_KIB), 0);
	start = fake_heap_end;
	switch (_i) {
	case 0:
		prot = PROT_READ;
		break;
	case 1:
		prot = PROT_NONE;
		break;
	case 2:
		prot = RW | PROT_EXEC;
		break;
	case 3:
		start = fake_heap_end - 4096;
		break;
	case 4:
		start = fake_heap_end + 4096;
		break;
	case 5:
		origin = PL_ORIGIN_PROGRAM;
		break;
	}
	fake_forget();
	ck_assert_int_eq(pl_protect(origin, start, 8192, prot, -1), 0);
	ck_assert_uint_eq(fake_count(FAKE_ANY), 1);
	ck_assert_uint_eq(fake_last(FAKE_MPROTECT)->addr, start);
	ck_assert_uint_eq(fake_last(FAKE_MPROTECT)->length, 8192);
	ck_assert_int_eq(fake_last(FAKE_MPROTECT)->prot, prot);
	/* Nothing ahead is believed to be read-write after that. */
	ck_assert_int_eq(fake_heap_grow(64 * PL_KIB), 0);
	ck_assert_uint_ge(fake_count(FAKE_MPROTECT), 2);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("placement arena");
	TCase *cases = tcase_create("arena");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, small_heap_is_exact);
	tcase_add_test(cases, large_heap_runs_ahead);
	tcase_add_test(cases, grows_to_its_very_end);
	tcase_add_loop_test(cases, careful_machines_are_exact, 0,
			    FAKE_CAREFUL_WAYS);
	tcase_add_test(cases, asks_exactly_when_rounding_fails);
	tcase_add_test(cases, asks_exactly_when_a_shortened_call_fails);
	tcase_add_test(cases, failure_is_the_kernels);
	tcase_add_test(cases, refused_advice_is_not_reported);
	tcase_add_loop_test(cases, other_calls_go_through, 0, 6);
	suite_add_tcase(suite, cases);
	return suite;
}
