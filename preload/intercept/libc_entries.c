/* SPDX-License-Identifier: MIT */
/*
 * A call that arrives here is libc's own (malloc, thread stacks, sbrk) or that of somebody who
 * looked the function up in libc. The contract is that of the function replaced, errno included.
 */
#include "intercept/libc_entries.h"

#include <sys/mman.h>

#include "intercept/calls.h"
#include "intercept/elf_symbols.h"

static bool arrived;

static void *entry_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	const pl_request_t request = { .origin = PL_ORIGIN_LIBC,
				       .addr = (uintptr_t)addr,
				       .length = length,
				       .prot = prot,
				       .flags = flags };

	return (void *)pl_libc_result(pl_call_mmap(&request, fd, offset));
}

static int entry_munmap(void *addr, size_t length)
{
	arrived = arrived || !addr;
	return (int)pl_libc_result(pl_call_munmap((uintptr_t)addr, length));
}

/* Variadic in libc; the register of the fifth argument is read whether it was passed or not. */
static void *entry_mremap(void *old, size_t old_length, size_t new_length, int flags, void *target)
{
	const pl_remap_request_t request = { .old = (uintptr_t)old,
					     .old_length = old_length,
					     .new_length = new_length,
					     .flags = flags,
					     .target = (uintptr_t)target };

	return (void *)pl_libc_result(pl_call_mremap(PL_ORIGIN_LIBC, &request));
}

static int entry_mprotect(void *addr, size_t length, int prot)
{
	return (int)pl_libc_result(pl_call_mprotect(PL_ORIGIN_LIBC, (uintptr_t)addr, length, prot));
}

static int entry_madvise(void *addr, size_t length, int advice)
{
	return (int)pl_libc_result(
		pl_call_madvise(PL_ORIGIN_LIBC, (uintptr_t)addr, length, advice));
}

static int entry_brk(void *addr)
{
	return (int)pl_libc_result(pl_call_brk(PL_ORIGIN_LIBC, (uintptr_t)addr));
}

static bool self_check(void)
{
	int (*libc_munmap)(void *, size_t) = (int (*)(void *, size_t))pl_redirect_entry("munmap");

	arrived = false;
	libc_munmap(NULL, 0);
	return arrived;
}

/* glibc 2.32 and later tell. Of older ones the loader's word must do: it runs the constructors of
 * preloaded objects before any thread can exist. Looked up by hand, because a reference to the
 * symbol would tie the shim to that glibc. */
static bool has_threads(void)
{
	pl_elf_object_t libc;
	uintptr_t addr;
	size_t size;

	return pl_elf_find_libc(&libc) &&
	       pl_elf_find_symbol(&libc, "__libc_single_threaded", STT_OBJECT, &addr, &size) &&
	       !*(const char *)addr;
}

pl_condition_t pl_libc_entries_take(void)
{
	static const pl_redirection_t redirections[] = {
		{ "mmap", (void (*)(void))entry_mmap },
		{ "munmap", (void (*)(void))entry_munmap },
		{ "mremap", (void (*)(void))entry_mremap },
		{ "mprotect", (void (*)(void))entry_mprotect },
		{ "madvise", (void (*)(void))entry_madvise },
		{ "brk", (void (*)(void))entry_brk },
	};
	pl_condition_t condition;

	if (has_threads())
		return PL_CONDITION_MULTI_THREADED;
	condition = pl_redirect_all(redirections, sizeof(redirections) / sizeof(*redirections));
	if (condition != PL_CONDITION_OK || self_check())
		return condition;
	pl_redirect_undo();
	return PL_CONDITION_SELF_CHECK_FAILED;
}
