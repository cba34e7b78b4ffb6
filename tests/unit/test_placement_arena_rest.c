/* SPDX-License-Identifier: MIT */
/* placement/arena: shrinking, advice of the program's, what is a heap and what is none any more. */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "fake_arena.h"
#include "fake_machine.h"
#include "fake_ops.h"
#include "placement/advice.h"
#include "placement/arena.h"
#include "placement/context.h"
#include "placement/map.h"
#include "registry/registry.h"
#include "report/counters.h"

#define RW       (PROT_READ | PROT_WRITE)
#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

static const uintptr_t page = 2 * PL_MIB;

static void set_up(void)
{
	fake_machine();
	fake_heap_new();
	fake_forget();
}

START_TEST(shrinks_by_map_fixed)
{
	uintptr_t top;

	ck_assert_int_eq(fake_heap_grow(5 * page + 4096), 0);
	top = fake_heap_end;
	fake_forget();
	ck_assert_int_eq(fake_heap_shrink(fake_heap + page + 8192),
			 (long)(fake_heap + page + 8192));
	ck_assert_uint_eq(fake_last(FAKE_MMAP)->length, top - fake_heap_end);
	ck_assert(!fake_is_readable(fake_heap_end));
	ck_assert(!fake_is_readable(top));
	ck_assert(!fake_is_readable(pl_round_up(top, page) - 1));
	ck_assert(fake_is_readable(fake_heap_end - 1));
	ck_assert(fake_is_advised(fake_heap_end, MADV_HUGEPAGE));
	ck_assert_uint_eq(pl_registry_count(), 1);
	ck_assert_int_eq(fake_heap_grow(64 * PL_KIB), 0);
	ck_assert_int_eq(fake_heap_grow(3 * page), 0);
}
END_TEST

/* The program's own advice stands: nothing is advised anew. */
START_TEST(shrinking_keeps_the_programs_advice)
{
	ck_assert_int_eq(fake_heap_grow(5 * page + 4096), 0);
	ck_assert_int_eq(pl_advise(PL_ORIGIN_PROGRAM, fake_heap, 4096, MADV_NOHUGEPAGE), 0);
	fake_forget();
	ck_assert_int_eq(fake_heap_shrink(fake_heap + page + 8192),
			 (long)(fake_heap + page + 8192));
	ck_assert_uint_eq(fake_count_advice(MADV_HUGEPAGE), 0);
}
END_TEST

/* A confined process makes no call of ours. */
START_TEST(confined_shrinking_is_alone)
{
	ck_assert_int_eq(fake_heap_grow(5 * page), 0);
	pl_context_is_confined();
	fake_forget();
	ck_assert_int_eq(fake_heap_shrink(fake_heap + page), (long)(fake_heap + page));
	ck_assert_uint_eq(fake_count(FAKE_MADVISE), 0);
}
END_TEST

START_TEST(programs_advice_before_ours)
{
	ck_assert_int_eq(fake_heap_grow(page), 0);
	ck_assert_int_eq(pl_advise(PL_ORIGIN_PROGRAM, fake_heap, page, MADV_NOHUGEPAGE), 0);
	ck_assert_int_eq(fake_heap_grow(page), 0);
	ck_assert_uint_eq(fake_count_advice(MADV_HUGEPAGE), 0);
	ck_assert_uint_eq(pl_registry_count(), 0);
}
END_TEST

START_TEST(retracts)
{
	ck_assert_int_eq(fake_heap_grow(page + 4096), 0);
	ck_assert(fake_is_readable(fake_heap_end));
	pl_arena_retract();
	ck_assert(!fake_is_readable(fake_heap_end));
	ck_assert(fake_is_readable(fake_heap_end - 1));
	ck_assert_int_eq(fake_heap_grow(4096), 0);
}
END_TEST

START_TEST(forgotten_heap_is_not_ours)
{
	ck_assert_int_eq(fake_heap_grow(page + 4096), 0);
	ck_assert_int_eq(pl_unmap(fake_heap, FAKE_HEAP_SIZE), 0);
	ck_assert_uint_eq(pl_registry_count(), 0);
	ck_assert_int_eq(fake_heap_protect(fake_heap_end, fake_heap_end + 4096, RW), -ENOMEM);
}
END_TEST

/* A raw munmap was not seen, and the same place is reserved again: old marks are no marks. */
START_TEST(reserved_again_at_the_same_place)
{
	pl_request_t request = { .origin = PL_ORIGIN_LIBC,
				 .length = FAKE_HEAP_SIZE,
				 .prot = PROT_NONE,
				 .flags = RESERVED };

	ck_assert_int_eq(fake_heap_grow(page + 4096), 0);
	ck_assert_int_eq(pl_sys_munmap(fake_heap, FAKE_HEAP_SIZE), 0);
	ck_assert_int_eq(
		pl_sys_mmap(fake_heap, FAKE_HEAP_SIZE, PROT_NONE, RESERVED | MAP_FIXED, -1, 0),
		(long)fake_heap);
	pl_arena_note_reservation(&request, fake_heap);
	ck_assert_int_eq(fake_heap_protect(fake_heap_end, fake_heap_end + 4096, RW), 0);
	ck_assert(fake_is_readable(fake_heap_end));
	fake_heap_end = fake_heap;
	ck_assert_int_eq(fake_heap_grow(4096), 0);
}
END_TEST

START_TEST(other_reservations_are_no_heaps)
{
	pl_request_t request = { .origin = PL_ORIGIN_LIBC,
				 .length = FAKE_HEAP_SIZE,
				 .prot = PROT_NONE,
				 .flags = RESERVED };
	uintptr_t elsewhere = fake_heap + 1000 * FAKE_HEAP_SIZE;
	long result;

	request.flags |= MAP_STACK;
	pl_arena_note_reservation(&request, elsewhere);
	request.flags = RESERVED;
	request.length = 8 * PL_MIB;
	pl_arena_note_reservation(&request, elsewhere);
	request.length = FAKE_HEAP_SIZE;
	pl_arena_note_reservation(&request, elsewhere + 4096);
	request.prot = RW;
	pl_arena_note_reservation(&request, elsewhere);
	ck_assert(!pl_arena_protect(PL_ORIGIN_LIBC, pl_range(elsewhere, elsewhere + 4096), RW,
				    &result));
	ck_assert(!pl_arena_shrunk(pl_range(elsewhere + 4096, elsewhere + 8192)));
}
END_TEST

/* The lowest 64M have the fake_heap 0, which an unused slot has as well. */
START_TEST(low_addresses_are_no_heap)
{
	ck_assert(!pl_arena_shrunk(pl_range(4 * PL_MIB, 5 * PL_MIB)));
}
END_TEST

START_TEST(many_heaps)
{
	pl_request_t request = { .origin = PL_ORIGIN_LIBC,
				 .length = FAKE_HEAP_SIZE,
				 .prot = PROT_NONE,
				 .flags = RESERVED };

	for (uintptr_t i = 1; i <= 6000; i++)
		pl_arena_note_reservation(&request, fake_heap + i * FAKE_HEAP_SIZE);
	ck_assert_uint_gt(pl_counters[PL_COUNTER_ARENAS_UNTRACKED], 0);
	ck_assert_int_eq(fake_heap_grow(page + 4096), 0);
	pl_arena_forget(pl_range(fake_heap + FAKE_HEAP_SIZE, fake_heap + 6001 * FAKE_HEAP_SIZE));
	ck_assert_int_eq(fake_heap_grow(page), 0);
}
END_TEST

START_TEST(goes_on_after_fork)
{
	pid_t child;
	int status;

	ck_assert_int_eq(fake_heap_grow(page + 4096), 0);
	child = fork();
	if (child == 0) {
		pl_arena_after_fork();
		ck_assert_int_eq(fake_heap_grow(4096), 0);
		ck_assert_int_eq(fake_heap_grow(3 * page), 0);
		pl_arena_retract();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(fake_heap_grow(3 * page), 0);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("placement arena rest");
	TCase *cases = tcase_create("arena");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, shrinks_by_map_fixed);
	tcase_add_test(cases, shrinking_keeps_the_programs_advice);
	tcase_add_test(cases, confined_shrinking_is_alone);
	tcase_add_test(cases, programs_advice_before_ours);
	tcase_add_test(cases, retracts);
	tcase_add_test(cases, forgotten_heap_is_not_ours);
	tcase_add_test(cases, reserved_again_at_the_same_place);
	tcase_add_test(cases, other_reservations_are_no_heaps);
	tcase_add_test(cases, low_addresses_are_no_heap);
	tcase_add_test(cases, many_heaps);
	tcase_add_test(cases, goes_on_after_fork);
	suite_add_tcase(suite, cases);
	return suite;
}
