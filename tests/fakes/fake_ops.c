/* SPDX-License-Identifier: MIT */
#include "fake_ops.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "backend/ops.h"
#include "base/sys.h"
#include "base/types.h"

enum { CALLS_MAX = 4096, RANGES_MAX = 512 };

static fake_call_t calls[CALLS_MAX];
static size_t call_count;
static struct {
	fake_op_t op;
	unsigned int left; /* 0 = nothing to fail */
	int error;
	bool done;
} failure;
static int always[FAKE_OPS];
static bool misaligned;
static void (*hook)(const fake_call_t *call);

static pl_range_t mapped[RANGES_MAX];
static size_t mapped_count;

long fake_thp_disabled;
bool fake_knows_except_advised;

static void map_note(pl_range_t range)
{
	if (mapped_count < RANGES_MAX && !pl_range_empty(range))
		mapped[mapped_count++] = range;
}

static void map_drop(pl_range_t range)
{
	for (size_t i = 0; i < mapped_count; i++) {
		pl_range_t old = mapped[i];

		if (!pl_range_meets(old, range))
			continue;
		mapped[i] = pl_range(0, 0);
		if (old.start < range.start)
			map_note(pl_range(old.start, range.start));
		if (range.end < old.end)
			map_note(pl_range(range.end, old.end));
	}
}

static pl_range_t rounded(uintptr_t addr, size_t length)
{
	return pl_range(addr, addr + pl_round_up(length, pl_base_page));
}

size_t fake_mapped(void)
{
	size_t total = 0;

	for (size_t i = 0; i < mapped_count; i++)
		total += pl_range_length(mapped[i]);
	return total;
}

/* Records a call. Returns its record; its result is set when it is to fail. */
static fake_call_t *record(fake_call_t call)
{
	static fake_call_t overflow;
	fake_call_t *kept = call_count < CALLS_MAX ? &calls[call_count++] : &overflow;
	int error = always[call.op];

	if (failure.left && (failure.op == FAKE_ANY || failure.op == call.op) && !--failure.left) {
		failure.done = true;
		error = failure.error;
	}
	call.failed = error != 0;
	call.result = -error;
	*kept = call;
	if (hook)
		hook(kept);
	return kept;
}

static long map_misaligned(size_t length, int prot, int flags, int fd, off_t offset)
{
	long start = pl_sys_mmap(0, length + 4 * PL_MIB, prot, flags, fd, offset);
	uintptr_t wanted = pl_round_up((uintptr_t)start, 2 * PL_MIB) + 16 * pl_base_page;
	uintptr_t end = wanted + pl_round_up(length, pl_base_page);

	if (pl_sys_failed(start))
		return start;
	pl_sys_munmap((uintptr_t)start, wanted - (uintptr_t)start);
	pl_sys_munmap(end, (uintptr_t)start + pl_round_up(length, pl_base_page) + 4 * PL_MIB - end);
	return (long)wanted;
}

static long fake_mmap(uintptr_t addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	fake_call_t *call = record((fake_call_t){ .op = FAKE_MMAP,
						  .addr = addr,
						  .length = length,
						  .prot = prot,
						  .flags = flags,
						  .fd = fd,
						  .offset = offset });

	if (call->failed)
		return call->result;
	call->result = misaligned && !addr && length < PL_GIB
			       ? map_misaligned(length, prot, flags, fd, offset)
			       : pl_sys_mmap(addr, length, prot, flags, fd, offset);
	if (!pl_sys_failed(call->result)) {
		map_drop(rounded((uintptr_t)call->result, length));
		map_note(rounded((uintptr_t)call->result, length));
	}
	return call->result;
}

static long fake_munmap(uintptr_t addr, size_t length)
{
	fake_call_t *call =
		record((fake_call_t){ .op = FAKE_MUNMAP, .addr = addr, .length = length });

	if (call->failed)
		return call->result;
	call->result = pl_sys_munmap(addr, length);
	if (!call->result)
		map_drop(rounded(addr, length));
	return call->result;
}

static long fake_mremap(uintptr_t old, size_t old_length, size_t new_length, int flags,
			uintptr_t target)
{
	fake_call_t *call = record((fake_call_t){ .op = FAKE_MREMAP,
						  .addr = old,
						  .length = old_length,
						  .new_length = new_length,
						  .flags = flags,
						  .target = target });

	if (call->failed)
		return call->result;
	call->result = pl_sys_mremap(old, old_length, new_length, flags, target);
	if (!pl_sys_failed(call->result)) {
		map_drop(rounded(old, old_length));
		map_drop(rounded((uintptr_t)call->result, new_length));
		map_note(rounded((uintptr_t)call->result, new_length));
	}
	return call->result;
}

static long fake_mprotect(uintptr_t addr, size_t length, int prot)
{
	fake_call_t *call = record(
		(fake_call_t){ .op = FAKE_MPROTECT, .addr = addr, .length = length, .prot = prot });

	if (!call->failed)
		call->result = pl_sys_mprotect(addr, length, prot);
	return call->result;
}

static bool needs_large_pages(int advice)
{
	return advice == MADV_HUGEPAGE || advice == MADV_NOHUGEPAGE ||
	       (advice >= 22 && advice <= 25); /* MADV_POPULATE_*, MADV_COLLAPSE */
}

static long fake_madvise(uintptr_t addr, size_t length, int advice)
{
	fake_call_t *call = record((fake_call_t){
		.op = FAKE_MADVISE, .addr = addr, .length = length, .prot = advice });

	if (!call->failed)
		call->result = needs_large_pages(advice) ? 0 : pl_sys_madvise(addr, length, advice);
	return call->result;
}

static uintptr_t fake_brk(uintptr_t addr)
{
	fake_call_t *call = record((fake_call_t){ .op = FAKE_BRK, .addr = addr });

	call->result = (long)(call->failed ? fake_break_now() : fake_break_move(addr));
	return (uintptr_t)call->result;
}

static long set_thp_disable(unsigned long a, unsigned long b)
{
	if (b && !(b == 2 && a && fake_knows_except_advised))
		return -EINVAL;
	fake_thp_disabled = a ? (long)(1 | b) : 0;
	return 0;
}

static long fake_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
		       unsigned long d)
{
	fake_call_t *call = record((fake_call_t){ .op = FAKE_PRCTL,
						  .addr = a,
						  .length = b,
						  .new_length = c,
						  .target = d,
						  .prot = option });

	if (call->failed)
		return call->result;
	if (option == PR_GET_THP_DISABLE)
		call->result = a || b || c || d ? -EINVAL : fake_thp_disabled;
	else if (option == PR_SET_THP_DISABLE)
		call->result = c || d ? -EINVAL : set_thp_disable(a, b);
	else
		call->result = -ENOSYS;
	return call->result;
}

static const pl_ops_t fakes = {
	.mmap = fake_mmap,
	.munmap = fake_munmap,
	.mremap = fake_mremap,
	.mprotect = fake_mprotect,
	.madvise = fake_madvise,
	.brk = fake_brk,
	.prctl = fake_prctl,
};

void fake_install(void)
{
	fake_forget();
	misaligned = false;
	hook = NULL;
	mapped_count = 0;
	fake_thp_disabled = 0;
	fake_knows_except_advised = true;
	pl_ops = &fakes;
}

void fake_forget(void)
{
	call_count = 0;
	memset(&failure, 0, sizeof(failure));
	memset(always, 0, sizeof(always));
}

void fake_fail(fake_op_t op, unsigned int nth, int error)
{
	failure.op = op;
	failure.left = nth;
	failure.error = error;
	failure.done = false;
}

void fake_fail_all(fake_op_t op, int error)
{
	always[op] = error;
}

bool fake_has_failed(void)
{
	return failure.done;
}

size_t fake_count(fake_op_t op)
{
	size_t count = 0;

	for (size_t i = 0; i < call_count; i++)
		count += op == FAKE_ANY || calls[i].op == op;
	return count;
}

const fake_call_t *fake_call(fake_op_t op, size_t number)
{
	for (size_t i = 0; i < call_count; i++)
		if ((op == FAKE_ANY || calls[i].op == op) && !number--)
			return &calls[i];
	return NULL;
}

const fake_call_t *fake_last(fake_op_t op)
{
	return fake_call(op, fake_count(op) - 1);
}

size_t fake_count_advice(int advice)
{
	size_t count = 0;

	for (size_t i = 0; i < call_count; i++)
		count += calls[i].op == FAKE_MADVISE && calls[i].prot == advice;
	return count;
}

bool fake_is_advised(uintptr_t addr, int advice)
{
	for (size_t i = 0; i < call_count; i++)
		if (calls[i].op == FAKE_MADVISE && calls[i].prot == advice && !calls[i].failed &&
		    calls[i].addr <= addr && addr - calls[i].addr < calls[i].length)
			return true;
	return false;
}

void fake_set_hook(void (*new_hook)(const fake_call_t *call))
{
	hook = new_hook;
}

void fake_misalign(bool now)
{
	misaligned = now;
}
