/* SPDX-License-Identifier: MIT */
/* backend/thp: on memory of the kernel, through fakes that fail every step. */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "backend/ops.h"
#include "backend/thp.h"
#include "base/sys.h"
#include "fake_machine.h"
#include "fake_ops.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

#define RW (PROT_READ | PROT_WRITE)
#define PA (MAP_PRIVATE | MAP_ANONYMOUS)

static const uintptr_t page = 2 * PL_MIB;

static const size_t lengths[] = {
	1,          4096,           2 * PL_MIB - 1,    2 * PL_MIB,        2 * PL_MIB + 1,
	5 * PL_MIB, 5 * PL_MIB + 7, 6 * PL_MIB - 4096, 6 * PL_MIB + 4096,
};

START_TEST(start_is_aligned_and_all_is_usable)
{
	size_t length = lengths[_i % (int)PL_ARRAY_LEN(lengths)];
	size_t whole = pl_round_up(length, pl_base_page);
	long start;

	fake_misalign(_i >= (int)PL_ARRAY_LEN(lengths));
	start = pl_thp_map(length, RW, PA, page);
	ck_assert(!pl_sys_failed(start));
	ck_assert_uint_eq((uintptr_t)start % page, 0);
	ck_assert_uint_eq(fake_mapped(), whole);
	memset((void *)start, 0x5a, whole);
	ck_assert(fake_is_advised((uintptr_t)start, MADV_HUGEPAGE));
	ck_assert(fake_is_advised((uintptr_t)start + whole - 1, MADV_HUGEPAGE));
	ck_assert(!fake_is_advised((uintptr_t)start + whole, MADV_HUGEPAGE));
	ck_assert_int_eq(munmap((void *)start, length), 0);
}
END_TEST

START_TEST(protection_and_flags_go_through)
{
	long start = pl_thp_map(5 * PL_MIB, PROT_READ, PA | MAP_NORESERVE, page);

	ck_assert(!pl_sys_failed(start));
	ck_assert_int_eq(fake_call(FAKE_MMAP, 0)->prot, PROT_READ);
	ck_assert_int_eq(fake_call(FAKE_MMAP, 0)->flags, PA | MAP_NORESERVE);
}
END_TEST

START_TEST(populate_comes_after_the_advice)
{
	static const int prots[] = { RW, PROT_READ };
	static const int advices[] = { MADV_POPULATE_WRITE, MADV_POPULATE_READ };
	long start = pl_thp_map(5 * PL_MIB, prots[_i], PA | MAP_POPULATE, page);

	ck_assert(!pl_sys_failed(start));
	ck_assert_int_eq(fake_call(FAKE_MMAP, 0)->flags & MAP_POPULATE, 0);
	ck_assert_int_eq(fake_call(FAKE_MADVISE, 0)->prot, MADV_HUGEPAGE);
	ck_assert_int_eq(fake_call(FAKE_MADVISE, 1)->prot, advices[_i]);
	ck_assert_uint_eq(fake_call(FAKE_MADVISE, 1)->addr, (uintptr_t)start);
	ck_assert_uint_eq(fake_count(FAKE_MADVISE), 2);
}
END_TEST

START_TEST(nonblock_populates_nothing)
{
	ck_assert(
		!pl_sys_failed(pl_thp_map(5 * PL_MIB, RW, PA | MAP_POPULATE | MAP_NONBLOCK, page)));
	ck_assert_uint_eq(fake_count(FAKE_MADVISE), 1);
}
END_TEST

/* What populating gives back is silent, as with MAP_POPULATE, but for a kernel without it. */
START_TEST(populate_errors)
{
	static const int errors[] = { ENOMEM, EFAULT, EHWPOISON, EINVAL };
	static const int expected[] = { 0, 0, 0, -EOPNOTSUPP };
	long result;

	fake_fail(FAKE_MADVISE, 2, errors[_i]);
	result = pl_thp_map(5 * PL_MIB, RW, PA | MAP_POPULATE, page);
	if (expected[_i]) {
		ck_assert_int_eq(result, expected[_i]);
		ck_assert_uint_eq(fake_mapped(), 0);
	} else {
		ck_assert(!pl_sys_failed(result));
		ck_assert_uint_eq(fake_mapped(), 5 * PL_MIB);
	}
}
END_TEST

/* Fails the nth operation for every n until the whole goes through: nothing is left mapped, and the
 * errno is the kernel's. Returns how many operations could fail. */
static unsigned int fail_every_step(size_t length, int flags, int error, bool misaligned)
{
	for (unsigned int n = 1;; n++) {
		long result;

		fake_install();
		fake_misalign(misaligned);
		fake_fail(FAKE_ANY, n, error);
		result = pl_thp_map(length, RW, PA | flags, page);
		if (!fake_has_failed()) {
			ck_assert(!pl_sys_failed(result));
			munmap((void *)result, length);
			return n - 1;
		}
		if (pl_sys_failed(result)) {
			ck_assert_msg(fake_mapped() == 0, "step %u, errno %d: %zu bytes left", n,
				      error, fake_mapped());
			ck_assert(result == -error || result == -EOPNOTSUPP);
		} else {
			ck_assert_msg(fake_mapped() == pl_round_up(length, pl_base_page),
				      "step %u, errno %d: %zu bytes", n, error, fake_mapped());
			munmap((void *)result, length);
		}
	}
}

START_TEST(no_failing_step_leaves_anything_mapped)
{
	static const int errors[] = { ENOMEM, EINVAL, EPERM, EAGAIN };
	int error = errors[_i];

	ck_assert_uint_ge(fail_every_step(5 * PL_MIB, 0, error, true), 4);
	ck_assert_uint_ge(fail_every_step(5 * PL_MIB + 100, MAP_POPULATE, error, true), 5);
	ck_assert_uint_ge(fail_every_step(4 * PL_MIB, 0, error, true), 5);
	ck_assert_uint_ge(fail_every_step(4 * PL_MIB, 0, error, false), 2);
}
END_TEST

/* madvise(2): ENOMEM says that a part is not mapped, and that the rest was advised. */
START_TEST(advice_errors)
{
	fake_fail(FAKE_MADVISE, 1, ENOMEM);
	ck_assert_int_eq(pl_thp_advise(pl_range(page, 2 * page)), 0);
	fake_fail(FAKE_MADVISE, 1, EINVAL);
	ck_assert_int_eq(pl_thp_advise(pl_range(page, 2 * page)), -EINVAL);
	ck_assert_int_eq(pl_thp_advise(pl_range(page, 3 * page)), 0);
	ck_assert_uint_eq(fake_last(FAKE_MADVISE)->addr, page);
	ck_assert_uint_eq(fake_last(FAKE_MADVISE)->length, 2 * page);
}
END_TEST

START_TEST(collapse_takes_whole_blocks)
{
	ck_assert_int_eq(pl_thp_collapse(pl_range(page + 1, 2 * page), page), 0);
	ck_assert_int_eq(pl_thp_collapse(pl_range(page + 1, 3 * page - 1), page), 0);
	ck_assert_uint_eq(fake_count(FAKE_MADVISE), 0);
	ck_assert_int_eq(pl_thp_collapse(pl_range(page + 1, 4 * page + 1), page), 0);
	ck_assert_uint_eq(fake_last(FAKE_MADVISE)->addr, 2 * page);
	ck_assert_uint_eq(fake_last(FAKE_MADVISE)->length, 2 * page);
	fake_fail(FAKE_MADVISE, 1, EBUSY);
	ck_assert_int_eq(pl_thp_collapse(pl_range(page, 2 * page), page), -EBUSY);
}
END_TEST

/* valgrind has no room by EINVAL. */
static void check_no_memory(long result)
{
	ck_assert(result == -ENOMEM || (fake_under_valgrind() && result == -EINVAL));
}

START_TEST(lengths_near_the_end_of_the_address_space)
{
	static const size_t huge[] = { SIZE_MAX,
				       SIZE_MAX - 1,
				       SIZE_MAX - 4095,
				       SIZE_MAX - 2 * PL_MIB,
				       SIZE_MAX - 2 * PL_MIB + 1,
				       SIZE_MAX - 4 * PL_MIB + 1,
				       SIZE_MAX - 4 * PL_MIB,
				       SIZE_MAX / 2 };

	for (size_t i = 0; i < PL_ARRAY_LEN(huge); i++)
		check_no_memory(pl_thp_map(huge[i], RW, PA, page));
	ck_assert_uint_eq(fake_mapped(), 0);
}
END_TEST

static uintptr_t neighbour;

/* Another thread maps at once what was just given back in front of the map. */
static void map_where_the_head_was(const fake_call_t *call)
{
	static uintptr_t head;
	static size_t length;

	if (call->op != FAKE_MUNMAP || neighbour)
		return;
	if (!head) {
		head = call->addr;
		length = call->length;
		return;
	}
	if (pl_sys_mmap(head, length, RW, PA | MAP_FIXED_NOREPLACE, -1, 0) == (long)head)
		neighbour = head;
}

/* The memory of others is not unmapped when trimming fails half-way. */
START_TEST(failed_trim_spares_what_others_mapped)
{
	unsigned char resident;

	fake_misalign(true);
	fake_set_hook(map_where_the_head_was);
	fake_fail(FAKE_MUNMAP, 2, ENOMEM);
	ck_assert_int_eq(pl_thp_map(5 * PL_MIB, RW, PA, page), -ENOMEM);
	ck_assert(neighbour);
	ck_assert_int_eq(mincore((void *)neighbour, pl_base_page, &resident), 0);
}
END_TEST

static long map_filled(size_t length)
{
	long start = pl_thp_map(length, RW, PA, page);

	ck_assert(!pl_sys_failed(start));
	for (size_t at = 0; at < length; at += 4096)
		*(size_t *)((uintptr_t)start + at) = at;
	fake_forget();
	return start;
}

static void check_filled(uintptr_t start, size_t length)
{
	for (size_t at = 0; at < length; at += 4096)
		ck_assert_uint_eq(*(size_t *)(start + at), at);
}

START_TEST(remap_keeps_contents_and_alignment)
{
	size_t length = lengths[_i] + 3 * PL_MIB;
	uintptr_t old = (uintptr_t)map_filled(3 * PL_MIB);
	long result = pl_thp_remap(old, 3 * PL_MIB, length, page);

	ck_assert(!pl_sys_failed(result));
	ck_assert_uint_eq((uintptr_t)result % page, 0);
	check_filled((uintptr_t)result, 3 * PL_MIB);
	ck_assert_uint_eq(fake_mapped(), pl_round_up(length, pl_base_page));
	memset((void *)result, 1, length);
}
END_TEST

START_TEST(failed_remap_leaves_the_old_map)
{
	static const int errors[] = { ENOMEM, EINVAL, EPERM, EAGAIN, EFAULT };
	const size_t left = 7 * PL_MIB + 4096;
	unsigned int steps = 0;

	for (unsigned int n = 1;; n++) {
		uintptr_t old;
		long result;

		fake_install();
		old = (uintptr_t)map_filled(3 * PL_MIB);
		fake_misalign(true);
		fake_fail(FAKE_ANY, n, errors[_i]);
		result = pl_thp_remap(old, 3 * PL_MIB, 7 * PL_MIB + 1, page);
		if (!fake_has_failed())
			break;
		steps++;
		ck_assert_int_eq(result, -errors[_i]);
		check_filled(old, 3 * PL_MIB);
		/* The target of a failed mremap may be somebody else's by now and is left. */
		ck_assert_msg(fake_mapped() == 3 * PL_MIB + (fake_count(FAKE_MREMAP) ? left : 0),
			      "step %u: %zu bytes", n, fake_mapped());
	}
	ck_assert_uint_ge(steps, 4);
}
END_TEST

START_TEST(remap_to_nonsense)
{
	uintptr_t old = (uintptr_t)map_filled(3 * PL_MIB);

	check_no_memory(pl_thp_remap(old, 3 * PL_MIB, SIZE_MAX, page));
	check_no_memory(pl_thp_remap(old, 3 * PL_MIB, SIZE_MAX - page, page));
	check_no_memory(pl_thp_remap(old, 3 * PL_MIB, SIZE_MAX / 2, page));
	check_filled(old, 3 * PL_MIB);
	ck_assert_uint_eq(fake_mapped(), 3 * PL_MIB);
}
END_TEST

/* What goes wrong is the kernel's negative errno, and errno itself is left alone. */
START_TEST(kernel_table)
{
	uintptr_t now = pl_ops_kernel.brk(0);

	errno = 77;
	ck_assert_int_eq(pl_ops_kernel.mmap(0, 0, RW, PA, -1, 0), -EINVAL);
	ck_assert_int_eq(pl_ops_kernel.munmap(1, 4096), -EINVAL);
	ck_assert_int_eq(pl_ops_kernel.mremap(1, 4096, 4096, 0, 0), -EINVAL);
	ck_assert_int_eq(pl_ops_kernel.mprotect(1, 4096, PROT_READ), -EINVAL);
	ck_assert_int_eq(pl_ops_kernel.madvise(1, 4096, MADV_NORMAL), -EINVAL);
	ck_assert_int_eq(pl_ops_kernel.prctl(-1, 0, 0, 0, 0), -EINVAL);
	ck_assert_uint_eq(pl_ops_kernel.brk(1), now);
	ck_assert_int_eq(errno, 77);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("backend thp");
	TCase *cases = tcase_create("thp");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, fake_install, NULL);
	tcase_add_loop_test(cases, start_is_aligned_and_all_is_usable, 0,
			    2 * PL_ARRAY_LEN(lengths));
	tcase_add_test(cases, protection_and_flags_go_through);
	tcase_add_loop_test(cases, populate_comes_after_the_advice, 0, 2);
	tcase_add_test(cases, nonblock_populates_nothing);
	tcase_add_loop_test(cases, populate_errors, 0, 4);
	tcase_add_loop_test(cases, no_failing_step_leaves_anything_mapped, 0, 4);
	tcase_add_test(cases, advice_errors);
	tcase_add_test(cases, collapse_takes_whole_blocks);
	tcase_add_test(cases, lengths_near_the_end_of_the_address_space);
	tcase_add_test(cases, failed_trim_spares_what_others_mapped);
	tcase_add_loop_test(cases, remap_keeps_contents_and_alignment, 0, PL_ARRAY_LEN(lengths));
	tcase_add_loop_test(cases, failed_remap_leaves_the_old_map, 0, 5);
	tcase_add_test(cases, remap_to_nonsense);
	tcase_add_test(cases, kernel_table);
	suite_add_tcase(suite, cases);
	return suite;
}
