/* SPDX-License-Identifier: MIT */
/* placement/map and placement/reserve: where maps go, what is counted, and that whatever fails on
 * our side ends in the exact original call. */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sys.h"
#include "fake_machine.h"
#include "fake_ops.h"
#include "placement/advice.h"
#include "placement/context.h"
#include "placement/map.h"
#include "registry/registry.h"
#include "report/counters.h"

#define RW (PROT_READ | PROT_WRITE)
#define PA (MAP_PRIVATE | MAP_ANONYMOUS)

static const uintptr_t page = 2 * PL_MIB;
static pl_facts_t *facts;

static void set_up(void)
{
	facts = fake_machine();
}

static pl_request_t ask(uintptr_t addr, size_t length, int prot, int flags)
{
	return (pl_request_t){ .addr = addr, .length = length, .prot = prot, .flags = flags };
}

/* The last mmap is the program's own call, to the letter, and its result is what came back. */
static void check_original(const pl_request_t *request, int fd, off_t offset, long result)
{
	const fake_call_t *call = fake_last(FAKE_MMAP);

	ck_assert_uint_eq(call->addr, request->addr);
	ck_assert_uint_eq(call->length, request->length);
	ck_assert_int_eq(call->prot, request->prot);
	ck_assert_int_eq(call->flags, request->flags);
	ck_assert_int_eq(call->fd, fd);
	ck_assert_int_eq(call->offset, offset);
	ck_assert_int_eq(call->result, result);
}

static void check_equations(void)
{
	uint64_t reasons = 0;

	for (pl_reason_t i = 0; i < PL_REASONS; i++)
		reasons += pl_reason_counts[i];
	ck_assert_uint_eq(pl_counters[PL_COUNTER_MAP_DECIDED], reasons);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_MMAP_PROGRAM] + pl_counters[PL_COUNTER_MMAP_LIBC],
			  pl_counters[PL_COUNTER_MAP_DECIDED] + pl_counters[PL_COUNTER_MAP_PASSED]);
	ck_assert_uint_le(pl_counters[PL_COUNTER_ALIGNED], pl_counters[PL_COUNTER_PLACED]);
}

START_TEST(large_map_is_placed)
{
	pl_request_t request = ask(0, 5 * PL_MIB + 1, RW, PA);
	long start;
	pl_segment_t segment;

	fake_misalign(true);
	start = pl_map(&request, -1, 0);
	ck_assert_uint_eq((uintptr_t)start % page, 0);
	ck_assert(fake_is_advised((uintptr_t)start, MADV_HUGEPAGE));
	ck_assert(pl_registry_find(pl_range((uintptr_t)start, (uintptr_t)start + 1), &segment));
	ck_assert_uint_eq(segment.asked, 5 * PL_MIB + 1);
	ck_assert_int_eq(segment.kind, PL_KIND_MAP);
	ck_assert_int_eq(segment.reason, PL_REASON_PLACED);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_PLACED], 1);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_ALIGNED], 1);
	check_equations();
	ck_assert_int_eq(pl_unmap((uintptr_t)start, request.length), 0);
	ck_assert_uint_eq(pl_registry_count(), 0);
	ck_assert_uint_eq(fake_mapped(), 0);
}
END_TEST

static const struct {
	size_t length;
	int prot;
	int flags;
	pl_reason_t reason;
} left[] = {
	{ 4096, RW, PA, PL_REASON_TOO_SMALL },
	{ 2 * PL_MIB - 1, RW, PA, PL_REASON_TOO_SMALL },
	{ 0, RW, PA, PL_REASON_TOO_SMALL },
	{ 4 * PL_MIB, RW, PA | MAP_STACK, PL_REASON_STACK },
	{ 4 * PL_MIB, RW, MAP_PRIVATE, PL_REASON_NOT_ANONYMOUS },
	{ 4 * PL_MIB, RW, MAP_ANONYMOUS, PL_REASON_SHARED },
};

START_TEST(others_are_left_alone)
{
	pl_request_t request = ask(0, left[_i].length, left[_i].prot, left[_i].flags);
	long result = pl_map(&request, -1, 4096);

	ck_assert_uint_eq(fake_count(FAKE_ANY), 1);
	check_original(&request, -1, 4096, result);
	ck_assert_uint_eq(pl_reason_counts[result < 0 ? PL_REASON_CALL_FAILED : left[_i].reason],
			  1);
	ck_assert_uint_eq(pl_registry_count(), 0);
	check_equations();
}
END_TEST

/* Every step of ours fails, one by one, with each errno; the program sees its own call alone. */
START_TEST(failures_end_in_the_original_call)
{
	static const int errors[] = { ENOMEM, EINVAL, EPERM, EAGAIN };
	static const size_t lengths[] = { 4 * PL_MIB, 5 * PL_MIB + 1 };

	for (unsigned int n = 1;; n++) {
		pl_request_t request = ask(0, lengths[_i & 1], RW, PA | MAP_POPULATE);
		uint64_t failed = pl_counters[PL_COUNTER_PLACE_FAILED];
		pl_segment_t segment = { .reason = PL_REASONS };
		long start;

		facts = fake_machine();
		fake_misalign(true);
		fake_fail(FAKE_ANY, n, errors[_i / 2]);
		start = pl_map(&request, -1, 0);
		ck_assert(!pl_sys_failed(start));
		memset((void *)start, 1, request.length);
		check_equations();
		if (pl_counters[PL_COUNTER_PLACE_FAILED] > failed) {
			check_original(&request, -1, 0, start);
			/* Not advised: nobody may read "placed". */
			if (pl_registry_find(pl_map_range((uintptr_t)start, 1), &segment))
				ck_assert_int_ne(segment.reason, PL_REASON_PLACED);
		}
		ck_assert_uint_eq(fake_mapped(), pl_round_up(request.length, 4096));
		pl_unmap((uintptr_t)start, request.length);
		if (!fake_has_failed())
			break;
	}
}
END_TEST

START_TEST(refused_advice_is_not_placed)
{
	pl_request_t request = ask(0, 4 * PL_MIB, PROT_NONE, PA);
	pl_segment_t segment;
	long start;

	fake_fail(FAKE_MADVISE, 1, EINVAL);
	start = pl_map(&request, -1, 0);
	check_original(&request, -1, 0, start);
	if (pl_registry_find(pl_map_range((uintptr_t)start, 1), &segment))
		ck_assert_int_eq(segment.reason, PL_REASON_ADVICE_REFUSED);
	ck_assert_uint_eq(pl_reason_counts[PL_REASON_ADVICE_REFUSED], 1);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_PLACED], 0);
}
END_TEST

/* EINVAL says that the kernel knows no such advice; EAGAIN, that it had no memory this time. */
START_TEST(passing_trouble_is_not_for_ever)
{
	pl_request_t request = ask(0, 4 * PL_MIB, PROT_NONE, PA);

	fake_fail(FAKE_MADVISE, 1, EAGAIN);
	ck_assert(!pl_sys_failed(pl_map(&request, -1, 0)));
	request.prot = RW;
	ck_assert(!pl_sys_failed(pl_map(&request, -1, 0)));
	ck_assert_uint_eq(pl_counters[PL_COUNTER_ALIGNED], 1);
}
END_TEST

/* The original call fails as well: its errno comes back, and nothing is booked. */
START_TEST(failure_of_the_original_call)
{
	pl_request_t request = ask(0, 4 * PL_MIB, RW, PA);

	fake_fail_all(FAKE_MMAP, EPERM);
	ck_assert_int_eq(pl_map(&request, 7, 4096), -EPERM);
	check_original(&request, 7, 4096, -EPERM);
	request.length = SIZE_MAX - 100;
	ck_assert_int_eq(pl_map(&request, -1, 0), -EPERM);
	fake_fail_all(FAKE_MMAP, 0);
	ck_assert(pl_sys_failed(pl_map(&request, -1, 0)));
	ck_assert_uint_eq(pl_registry_count(), 0);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_PLACED], 0);
	check_equations();
}
END_TEST

START_TEST(future_locks_and_limits)
{
	pl_request_t request = ask(0, 4 * PL_MIB, RW, PA);
	long result;

	pl_context.locks_future = true;
	result = pl_map(&request, -1, 0);
	ck_assert_uint_eq(fake_count(FAKE_ANY), 1);
	check_original(&request, -1, 0, result);
	ck_assert_uint_eq(pl_reason_counts[PL_REASON_LOCKED], 1);
}
END_TEST

START_TEST(hint_and_fixed_stay)
{
	pl_request_t request = ask(0, 8 * PL_MIB, RW, PA);
	uintptr_t start = (uintptr_t)pl_map(&request, -1, 0);
	uintptr_t inside = start + PL_MIB;

	request = ask(inside, 4 * PL_MIB, RW, PA | (_i ? MAP_FIXED_NOREPLACE : MAP_FIXED));
	if (_i && fake_under_valgrind())
		return;
	if (_i) {
		ck_assert_int_eq(pl_map(&request, -1, 0), -EEXIST);
		ck_assert_uint_eq(pl_registry_count(), 1);
	} else {
		ck_assert_int_eq(pl_map(&request, -1, 0), (long)inside);
		ck_assert_uint_eq(pl_registry_count(), 3);
		ck_assert(fake_is_advised(inside, MADV_HUGEPAGE));
	}
	check_original(&request, -1, 0, _i ? -EEXIST : (long)inside);
}
END_TEST

/* Calls that the kernel refuses change no books. */
START_TEST(nonsense_changes_nothing)
{
	pl_request_t request = ask(0, 8 * PL_MIB, RW, PA);
	uintptr_t start = (uintptr_t)pl_map(&request, -1, 0);
	pl_segment_t segment;

	ck_assert_int_eq(pl_unmap(start + 1, 4096), -EINVAL);
	ck_assert_int_eq(pl_unmap(start + 4096, 0), -EINVAL);
	ck_assert_int_eq(pl_unmap(start + 4096, SIZE_MAX - 4096), -EINVAL);
	ck_assert_int_eq(pl_protect(PL_ORIGIN_PROGRAM, start + 1, 4096, PROT_NONE, -1), -EINVAL);
	ck_assert_int_eq(pl_protect(PL_ORIGIN_PROGRAM, start, SIZE_MAX, PROT_NONE, -1), -ENOMEM);
	request = ask(start + page, 0, RW, PA | MAP_FIXED);
	ck_assert_int_eq(pl_map(&request, -1, 0), -EINVAL);
	request = ask(start + page + 1, 4096, RW, PA | MAP_FIXED);
	ck_assert_int_eq(pl_map(&request, -1, 0), -EINVAL);
	ck_assert(pl_registry_find(pl_range(start, start + 1), &segment));
	ck_assert_uint_eq(segment.range.end, start + 8 * PL_MIB);
	ck_assert_uint_eq(pl_registry_count(), 1);
}
END_TEST

static uintptr_t reserve(void)
{
	pl_request_t request = ask(0, PL_GIB, PROT_NONE, PA | MAP_NORESERVE);
	long start = pl_map(&request, -1, 0);

	check_original(&request, -1, 0, start);
	fake_forget();
	return (uintptr_t)start;
}

static void commit(uintptr_t at, size_t length)
{
	pl_request_t request = ask(at, length, RW, PA | MAP_FIXED);

	ck_assert_int_eq(pl_map(&request, -1, 0), (long)at);
	check_original(&request, -1, 0, (long)at);
	memset((void *)at, 1, length);
}

START_TEST(commits_in_a_reservation)
{
	uintptr_t start = reserve();
	pl_segment_t segment;

	ck_assert(pl_registry_find(pl_range(start, start + 1), &segment));
	ck_assert_int_eq(segment.kind, PL_KIND_RESERVE);
	commit(start, 64 * PL_KIB);
	ck_assert(fake_is_advised(pl_round_up(start + 64 * PL_KIB, page) - 1, MADV_HUGEPAGE));
	commit(start + 64 * PL_KIB, 4 * PL_MIB);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_COMMITS], 2);
	ck_assert_uint_eq(pl_registry_count(), 1);
	check_equations();
}
END_TEST

START_TEST(commit_errors)
{
	uintptr_t start = reserve();
	pl_request_t request = ask(start + page, page, RW, PA | MAP_FIXED);

	fake_fail(FAKE_MMAP, 1, ENOMEM);
	ck_assert_int_eq(pl_map(&request, -1, 0), -ENOMEM);
	check_original(&request, -1, 0, -ENOMEM);
	ck_assert_uint_eq(fake_count(FAKE_MMAP), 1);
	fake_fail(FAKE_MADVISE, 1, EINVAL);
	commit(start + page, page);
	check_equations();
}
END_TEST

/* fd and offset of an anonymous map mean nothing, but an offset that is none is refused. */
START_TEST(commit_is_the_exact_call)
{
	uintptr_t start = reserve();
	pl_request_t request = ask(start, page, RW, PA | MAP_FIXED);
	long result = pl_map(&request, 0, 1);

	check_original(&request, 0, 1, result);
	ck_assert_int_eq(result, -EINVAL);
}
END_TEST

START_TEST(decommit_keeps_the_reservation)
{
	uintptr_t start = reserve();
	pl_request_t request = ask(start, page, PROT_NONE, PA | MAP_FIXED | MAP_NORESERVE);

	commit(start, 2 * page);
	fake_forget();
	ck_assert_int_eq(pl_map(&request, -1, 0), (long)start);
	ck_assert_uint_eq(fake_count_advice(MADV_HUGEPAGE), 0);
	ck_assert_uint_eq(pl_registry_count(), 1);
	commit(start, page);
}
END_TEST

START_TEST(programs_advice_stands_in_a_reservation)
{
	uintptr_t start = reserve();
	pl_segment_t segment;

	ck_assert_int_eq(pl_advise(PL_ORIGIN_PROGRAM, start, PL_GIB, MADV_NOHUGEPAGE), 0);
	fake_forget();
	commit(start, 4 * page);
	ck_assert_uint_eq(fake_count_advice(MADV_HUGEPAGE), 0);
	ck_assert(pl_registry_find(pl_range(start, start + 1), &segment));
	ck_assert_int_eq(segment.reason, PL_REASON_APPLICATION_ADVICE);
}
END_TEST

/* Not one call more than the program's own. */
START_TEST(confined_commit_is_alone)
{
	uintptr_t start = reserve();

	pl_context_is_confined();
	commit(start, 64 * PL_KIB);
	commit(start + 64 * PL_KIB, 4 * PL_MIB);
	ck_assert_uint_eq(fake_count(FAKE_ANY), 2);
}
END_TEST

START_TEST(maps_of_other_kinds_in_a_reservation)
{
	uintptr_t start = reserve();
	pl_request_t request = ask(start + page, page, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED);

	ck_assert_int_eq(pl_map(&request, -1, 0), (long)(start + page));
	ck_assert_uint_eq(fake_count(FAKE_MADVISE), 0);
	ck_assert_uint_eq(pl_registry_count(), 2);
	check_equations();
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("placement map");
	TCase *cases = tcase_create("map");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, large_map_is_placed);
	tcase_add_loop_test(cases, others_are_left_alone, 0, PL_ARRAY_LEN(left));
	tcase_add_loop_test(cases, failures_end_in_the_original_call, 0, 8);
	tcase_add_test(cases, refused_advice_is_not_placed);
	tcase_add_test(cases, passing_trouble_is_not_for_ever);
	tcase_add_test(cases, failure_of_the_original_call);
	tcase_add_test(cases, future_locks_and_limits);
	tcase_add_loop_test(cases, hint_and_fixed_stay, 0, 2);
	tcase_add_test(cases, nonsense_changes_nothing);
	tcase_add_test(cases, commits_in_a_reservation);
	tcase_add_test(cases, commit_errors);
	tcase_add_test(cases, commit_is_the_exact_call);
	tcase_add_test(cases, decommit_keeps_the_reservation);
	tcase_add_test(cases, programs_advice_stands_in_a_reservation);
	tcase_add_test(cases, confined_commit_is_alone);
	tcase_add_test(cases, maps_of_other_kinds_in_a_reservation);
	suite_add_tcase(suite, cases);
	return suite;
}
