/* SPDX-License-Identifier: MIT */
/*
 * A scripted life of a program, run once for every kernel operation in it, which then fails. The
 * program may see an error where the kernel would have given it one; never a wrong byte, never an
 * address that is not its own.
 */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "fake_machine.h"
#include "fake_ops.h"
#include "placement/arena.h"
#include "placement/break.h"
#include "placement/map.h"
#include "placement/remap.h"

extern void *__curbrk;

#define RW (PROT_READ | PROT_WRITE)
#define PA (MAP_PRIVATE | MAP_ANONYMOUS)

enum { DONE = 0, WRONG = 1, NOT_REACHED = 2 };

static const uintptr_t heap_size = 64 * PL_MIB;

static bool wrong;

static void expect(bool holds)
{
	wrong = wrong || !holds;
}

static bool holds_byte(uintptr_t from, size_t length, unsigned char byte)
{
	for (size_t at = 0; at < length; at += 512)
		if (((unsigned char *)from)[at] != byte)
			return false;
	return true;
}

static void live_on_maps(void)
{
	pl_request_t request = { .length = 5 * PL_MIB, .prot = RW, .flags = PA };
	pl_remap_request_t resize = { .old_length = 5 * PL_MIB,
				      .new_length = 9 * PL_MIB,
				      .flags = MREMAP_MAYMOVE };
	long start = pl_map(&request, -1, 0);
	long moved;

	if (pl_sys_failed(start))
		return;
	expect(holds_byte((uintptr_t)start, 5 * PL_MIB, 0));
	memset((void *)start, 0x11, 5 * PL_MIB);
	pl_sys_mmap((uintptr_t)start + 5 * PL_MIB, 4096, PROT_NONE, PA | MAP_FIXED_NOREPLACE, -1,
		    0);
	resize.old = (uintptr_t)start;
	moved = pl_remap(PL_ORIGIN_PROGRAM, &resize);
	if (pl_sys_failed(moved)) {
		expect(holds_byte((uintptr_t)start, 5 * PL_MIB, 0x11));
		expect(pl_unmap((uintptr_t)start, 5 * PL_MIB) == 0 || fake_has_failed());
		return;
	}
	expect(holds_byte((uintptr_t)moved, 5 * PL_MIB, 0x11));
	expect(holds_byte((uintptr_t)moved + 5 * PL_MIB, 4 * PL_MIB, 0));
	expect(pl_unmap((uintptr_t)moved, 9 * PL_MIB) == 0 || fake_has_failed());
}

static void live_on_a_reservation(void)
{
	pl_request_t request = { .length = 64 * PL_MIB, .prot = PROT_NONE, .flags = PA };
	long start = pl_map(&request, -1, 0);

	if (pl_sys_failed(start))
		return;
	for (size_t i = 0; i < 4; i++) {
		pl_request_t commit = { .addr = (uintptr_t)start + i * 3 * PL_MIB,
					.length = 3 * PL_MIB,
					.prot = RW,
					.flags = PA | MAP_FIXED };
		long at = pl_map(&commit, -1, 0);

		expect(at == (long)commit.addr || pl_sys_failed(at));
		if (pl_sys_failed(at))
			continue;
		expect(holds_byte((uintptr_t)at, 3 * PL_MIB, 0));
		memset((void *)at, 0x22, 3 * PL_MIB);
	}
	pl_protect(PL_ORIGIN_PROGRAM, (uintptr_t)start, 4096, PROT_READ, -1);
	pl_unmap((uintptr_t)start, 64 * PL_MIB);
}

static void live_on_an_arena(void)
{
	pl_request_t request = { .origin = PL_ORIGIN_LIBC,
				 .length = 2 * heap_size,
				 .prot = PROT_NONE,
				 .flags = PA | MAP_NORESERVE };
	long start = pl_map(&request, -1, 0);
	uintptr_t base = pl_round_up((uintptr_t)start, heap_size);
	uintptr_t grown = base;

	if (pl_sys_failed(start))
		return;
	for (size_t i = 0; i < 60; i++) {
		if (pl_protect(PL_ORIGIN_LIBC, grown, 132 * PL_KIB, RW, -1))
			continue;
		expect(holds_byte(grown, 132 * PL_KIB, 0));
		memset((void *)grown, 0x33, 132 * PL_KIB);
		grown += 132 * PL_KIB;
	}
	pl_arena_retract();
	expect(holds_byte(base, grown - base, 0x33));
	pl_unmap(base, heap_size);
}

static void live_on_the_break(void)
{
	uintptr_t start = fake_break_install(30 * 4096, 64 * PL_MIB);

	for (size_t i = 0; i < 50; i++) {
		uintptr_t old = (uintptr_t)__curbrk;
		size_t length = 150 * PL_KIB + i;

		if (pl_break_set_for_libc(old + length)) {
			expect((uintptr_t)__curbrk == old);
			continue;
		}
		expect((uintptr_t)__curbrk == old + length);
		expect(holds_byte(pl_round_up(old, 4096), length - 4096, 0));
		memset((void *)old, 0x44, length);
		if (i % 10 != 9)
			continue;
		expect(pl_break_set_for_libc(old - 2 * PL_MIB / 3) == 0);
		expect((uintptr_t)__curbrk >= old - 2 * PL_MIB / 3);
	}
	pl_break_retract();
	expect(holds_byte(start, (uintptr_t)__curbrk - start, 0x44));
	fake_break_leave();
}

static void (*const lives[])(void) = { live_on_maps, live_on_a_reservation, live_on_an_arena,
				       live_on_the_break };

/* In a process of its own, as a wrong address may well kill it. */
static int run(void (*live)(void), unsigned int n, int error)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		fake_machine();
		fake_misalign(true);
		fake_fail(FAKE_ANY, n, error);
		live();
		_exit(wrong ? WRONG : fake_has_failed() ? DONE : NOT_REACHED);
	}
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "step %u, errno %d: signal %d", n, error,
		      WTERMSIG(status));
	return WEXITSTATUS(status);
}

START_TEST(every_operation_fails_once)
{
	static const int errors[] = { ENOMEM, EPERM, EINVAL };
	unsigned int n = 1;
	int result;

	while ((result = run(lives[_i / 3], n, errors[_i % 3])) != NOT_REACHED) {
		ck_assert_msg(result == DONE, "step %u, errno %d", n, errors[_i % 3]);
		n++;
	}
	ck_assert_uint_gt(n, 5);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("placement steps");
	TCase *cases = tcase_create("steps");

	tcase_set_timeout(cases, 600);
	tcase_add_loop_test(cases, every_operation_fails_once, 0, 3 * (int)PL_ARRAY_LEN(lives));
	suite_add_tcase(suite, cases);
	return suite;
}
