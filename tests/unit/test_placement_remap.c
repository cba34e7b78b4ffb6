/* SPDX-License-Identifier: MIT */
/* placement/remap: contents, alignment, and the exact original call when ours fail. */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sys.h"
#include "fake_machine.h"
#include "fake_ops.h"
#include "placement/map.h"
#include "placement/remap.h"
#include "registry/registry.h"
#include "report/counters.h"

#define RW (PROT_READ | PROT_WRITE)
#define PA (MAP_PRIVATE | MAP_ANONYMOUS)

static const uintptr_t page = 2 * PL_MIB;

static void set_up(void)
{
	fake_machine();
}

static uintptr_t map(pl_origin_t origin, size_t length)
{
	pl_request_t request = { .origin = origin, .length = length, .prot = RW, .flags = PA };
	long start = pl_map(&request, -1, 0);

	ck_assert(!pl_sys_failed(start));
	for (size_t at = 0; at < length; at += 4096)
		*(size_t *)((uintptr_t)start + at) = at + 1;
	return (uintptr_t)start;
}

static void check_filled(uintptr_t start, size_t length)
{
	for (size_t at = 0; at < length; at += 4096)
		ck_assert_uint_eq(*(size_t *)(start + at), at + 1);
}

/* Nothing can grow where it is. */
static void block_growth(uintptr_t end)
{
	pl_sys_mmap(end, 4096, PROT_NONE, PA | MAP_FIXED_NOREPLACE, -1, 0);
}

static pl_remap_request_t ask(uintptr_t old, size_t old_length, size_t new_length, int flags)
{
	return (pl_remap_request_t){
		.old = old, .old_length = old_length, .new_length = new_length, .flags = flags
	};
}

static void check_original(const pl_remap_request_t *request, long result)
{
	const fake_call_t *call = fake_last(FAKE_MREMAP);

	ck_assert_uint_eq(call->addr, request->old);
	ck_assert_uint_eq(call->length, request->old_length);
	ck_assert_uint_eq(call->new_length, request->new_length);
	ck_assert_int_eq(call->flags, request->flags);
	ck_assert_uint_eq(call->target, request->target);
	ck_assert_int_eq(call->result, result);
}

START_TEST(moved_map_stays_aligned)
{
	uintptr_t old = map(_i ? PL_ORIGIN_LIBC : PL_ORIGIN_PROGRAM, 4 * PL_MIB);
	pl_remap_request_t request = ask(old, 4 * PL_MIB, 9 * PL_MIB + 4096, MREMAP_MAYMOVE);
	pl_segment_t segment;
	long result;

	block_growth(old + 4 * PL_MIB);
	fake_misalign(true);
	result = pl_remap(_i ? PL_ORIGIN_LIBC : PL_ORIGIN_PROGRAM, &request);
	ck_assert(!pl_sys_failed(result));
	ck_assert_uint_eq((uintptr_t)result % page, 0);
	check_filled((uintptr_t)result, 4 * PL_MIB);
	ck_assert(pl_registry_find(pl_range((uintptr_t)result, (uintptr_t)result + 1), &segment));
	ck_assert_uint_eq(segment.asked, 9 * PL_MIB + 4096);
	ck_assert_int_eq(segment.kind, _i ? PL_KIND_CHUNK : PL_KIND_MAP);
	ck_assert_uint_eq(pl_registry_count(), 1);
	ck_assert_uint_eq(pl_counters[PL_COUNTER_REMAP_ALIGNED], 1);
	ck_assert_uint_eq(fake_mapped(), 9 * PL_MIB + 4096);
}
END_TEST

/* A chunk that was too small for us grows to one that is not. */
START_TEST(small_chunk_grows_large)
{
	uintptr_t old = map(PL_ORIGIN_LIBC, PL_MIB);
	pl_remap_request_t request = ask(old, PL_MIB, 5 * PL_MIB, MREMAP_MAYMOVE);
	pl_segment_t segment;
	long result;

	ck_assert_uint_eq(pl_registry_count(), 0);
	block_growth(old + PL_MIB);
	result = pl_remap(PL_ORIGIN_LIBC, &request);
	ck_assert_uint_eq((uintptr_t)result % page, 0);
	check_filled((uintptr_t)result, PL_MIB);
	ck_assert(fake_is_advised((uintptr_t)result, MADV_HUGEPAGE));
	ck_assert(pl_registry_find(pl_range((uintptr_t)result, (uintptr_t)result + 1), &segment));
	ck_assert_int_eq(segment.kind, PL_KIND_CHUNK);
	ck_assert_int_eq(segment.reason, PL_REASON_PLACED);
}
END_TEST

START_TEST(shrunk_map_stays_booked)
{
	uintptr_t old = map(PL_ORIGIN_PROGRAM, 8 * PL_MIB);
	pl_remap_request_t request = ask(old, 8 * PL_MIB, 3 * PL_MIB, MREMAP_MAYMOVE);
	pl_segment_t segment;

	ck_assert_int_eq(pl_remap(PL_ORIGIN_PROGRAM, &request), (long)old);
	check_original(&request, (long)old);
	ck_assert(pl_registry_find(pl_range(old, old + 8 * PL_MIB), &segment));
	ck_assert_uint_eq(segment.range.end, old + 3 * PL_MIB);
	check_filled(old, 3 * PL_MIB);
}
END_TEST

/* Maps of unknown nature, and calls that say more than MAYMOVE, are passed on unchanged. */
START_TEST(others_are_passed_on)
{
	uintptr_t old = map(PL_ORIGIN_PROGRAM, 8 * PL_MIB);
	pl_remap_request_t request = ask(old, 8 * PL_MIB, 16 * PL_MIB, MREMAP_MAYMOVE);
	long result;

	switch (_i) {
	case 0: /* part of a map */
		request = ask(old + page, page, 4 * page, MREMAP_MAYMOVE);
		break;
	case 1:
		request.flags = 0;
		block_growth(old + 8 * PL_MIB);
		break;
	case 2:
		request.flags |= 4; /* MREMAP_DONTUNMAP */
		request.new_length = request.old_length;
		break;
	case 3:
		request.old_length = 0;
		break;
	case 4:
		request.old++;
		break;
	case 5:
		request.new_length = 0;
		break;
	case 6:
		request.new_length = SIZE_MAX;
		break;
	}
	fake_forget();
	result = pl_remap(PL_ORIGIN_PROGRAM, &request);
	if (_i != 6) /* growing in place was refused, and moving would be */
		check_original(&request, result);
	if (pl_sys_failed(result)) {
		check_filled(old, 8 * PL_MIB);
		ck_assert_int_eq(pl_sys_mremap(request.old, request.old_length, request.new_length,
					       request.flags, 0),
				 result);
	}
}
END_TEST

START_TEST(fixed_target_is_forgotten)
{
	uintptr_t old = map(PL_ORIGIN_PROGRAM, 4 * PL_MIB);
	uintptr_t target = map(PL_ORIGIN_PROGRAM, 4 * PL_MIB);
	pl_remap_request_t request =
		ask(old, 4 * PL_MIB, 4 * PL_MIB, MREMAP_MAYMOVE | MREMAP_FIXED);

	request.target = target;
	ck_assert_int_eq(pl_remap(PL_ORIGIN_PROGRAM, &request), (long)target);
	check_original(&request, (long)target);
	check_filled(target, 4 * PL_MIB);
	ck_assert_uint_eq(pl_registry_count(), 0);
}
END_TEST

/* Whatever fails of ours, the program's own call is the last and gives the result. */
START_TEST(failures_end_in_the_original_call)
{
	static const int errors[] = { ENOMEM, EINVAL, EPERM };

	if (fake_under_valgrind())
		return;
	for (unsigned int n = 1;; n++) {
		uintptr_t old;
		pl_remap_request_t request;
		long result;

		fake_machine();
		old = map(_i & 1 ? PL_ORIGIN_LIBC : PL_ORIGIN_PROGRAM, 4 * PL_MIB);
		request = ask(old, 4 * PL_MIB, 9 * PL_MIB, MREMAP_MAYMOVE);
		block_growth(old + 4 * PL_MIB);
		fake_misalign(true);
		fake_forget();
		fake_fail(FAKE_ANY, n, errors[_i / 2]);
		result = pl_remap(_i & 1 ? PL_ORIGIN_LIBC : PL_ORIGIN_PROGRAM, &request);
		ck_assert_msg(!pl_sys_failed(result), "step %u: %ld", n, result);
		check_filled((uintptr_t)result, 4 * PL_MIB);
		memset((void *)result, 1, 9 * PL_MIB);
		/* In place, to our target, the original call: after the second failed, what was
		 * reserved for it may be somebody else's and is left. */
		ck_assert_uint_eq(fake_mapped(),
				  (fake_count(FAKE_MREMAP) == 3 ? 18 : 9) * PL_MIB);
		if (!fake_has_failed())
			break;
	}
}
END_TEST

START_TEST(failure_keeps_the_books)
{
	uintptr_t old = map(PL_ORIGIN_PROGRAM, 4 * PL_MIB);
	pl_remap_request_t request = ask(old, 4 * PL_MIB, 9 * PL_MIB, MREMAP_MAYMOVE);
	pl_segment_t segment;

	fake_fail_all(FAKE_MREMAP, ENOMEM);
	ck_assert_int_eq(pl_remap(PL_ORIGIN_PROGRAM, &request), -ENOMEM);
	check_original(&request, -ENOMEM);
	check_filled(old, 4 * PL_MIB);
	ck_assert_uint_eq(fake_mapped(), 13 * PL_MIB); /* the target is left, see pl_thp_remap */
	ck_assert(pl_registry_find(pl_range(old, old + 1), &segment));
	ck_assert_uint_eq(segment.range.end, old + 4 * PL_MIB);
}
END_TEST

static uint64_t collapses(void)
{
	return pl_counters[PL_COUNTER_COLLAPSED] + pl_counters[PL_COUNTER_COLLAPSE_FAILED];
}

/* A move between offsets that differ cuts every large page, so all that was in use is lifted; a
 * move in step leaves whole ones whole, and lifts the block in which the map used to end. */
START_TEST(moves_out_of_step_are_lifted)
{
	static const struct {
		uintptr_t offset;
		uint64_t collapses;
	} rows[] = { { 0, 1 }, { 4096, 3 } };
	long ground = pl_sys_mmap(0, 12 * PL_MIB, RW, PA, -1, 0);
	uintptr_t old = pl_round_up((uintptr_t)ground, page) + rows[_i].offset;
	pl_remap_request_t request = ask(old, 5 * PL_MIB, 9 * PL_MIB, MREMAP_MAYMOVE);
	uint64_t before = collapses();
	long result;

	ck_assert(!pl_sys_failed(ground));
	for (size_t at = 0; at < 5 * PL_MIB; at += 4096)
		*(size_t *)(old + at) = at + 1;
	result = pl_remap(PL_ORIGIN_LIBC, &request);
	ck_assert(!pl_sys_failed(result));
	ck_assert_uint_eq((uintptr_t)result % page, 0);
	check_filled((uintptr_t)result, 5 * PL_MIB);
	ck_assert_uint_eq(collapses() - before, rows[_i].collapses);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("placement remap");
	TCase *cases = tcase_create("remap");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_loop_test(cases, moved_map_stays_aligned, 0, 2);
	tcase_add_test(cases, small_chunk_grows_large);
	tcase_add_loop_test(cases, moves_out_of_step_are_lifted, 0, 2);
	tcase_add_test(cases, shrunk_map_stays_booked);
	tcase_add_loop_test(cases, others_are_passed_on, 0, 7);
	tcase_add_test(cases, fixed_target_is_forgotten);
	tcase_add_loop_test(cases, failures_end_in_the_original_call, 0, 6);
	tcase_add_test(cases, failure_keeps_the_books);
	suite_add_tcase(suite, cases);
	return suite;
}
