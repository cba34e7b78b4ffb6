/* SPDX-License-Identifier: MIT */
/*
 * The symbols that the program binds to instead of libc's. Shells only. Each has the contract of
 * its manual page; libpagelift.map lists them.
 */
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/types.h"
#include "intercept/calls.h"

PL_EXPORT void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	const pl_request_t request = { .origin = PL_ORIGIN_PROGRAM,
				       .addr = (uintptr_t)addr,
				       .length = length,
				       .prot = prot,
				       .flags = flags };

	return (void *)pl_libc_result(pl_call_mmap(&request, fd, offset));
}

PL_EXPORT void *mmap64(void *addr, size_t length, int prot, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));

PL_EXPORT int munmap(void *addr, size_t length)
{
	return (int)pl_libc_result(pl_call_munmap((uintptr_t)addr, length));
}

PL_EXPORT void *mremap(void *old, size_t old_length, size_t new_length, int flags, ...)
{
	pl_remap_request_t request = { .old = (uintptr_t)old,
				       .old_length = old_length,
				       .new_length = new_length,
				       .flags = flags };
	va_list arguments;

	/* Read always, as libc does (sysdeps/unix/sysv/linux/mremap.c): the kernel wants it for
	 * MREMAP_FIXED and as a hint for MREMAP_DONTUNMAP. */
	va_start(arguments, flags);
	request.target = (uintptr_t)va_arg(arguments, void *);
	va_end(arguments);
	return (void *)pl_libc_result(pl_call_mremap(PL_ORIGIN_PROGRAM, &request));
}

PL_EXPORT int mprotect(void *addr, size_t length, int prot)
{
	return (int)pl_libc_result(
		pl_call_mprotect(PL_ORIGIN_PROGRAM, (uintptr_t)addr, length, prot));
}

PL_EXPORT int pkey_mprotect(void *addr, size_t length, int prot, int pkey)
{
	return (int)pl_libc_result(pl_call_pkey_mprotect((uintptr_t)addr, length, prot, pkey));
}

PL_EXPORT int madvise(void *addr, size_t length, int advice)
{
	return (int)pl_libc_result(
		pl_call_madvise(PL_ORIGIN_PROGRAM, (uintptr_t)addr, length, advice));
}

PL_EXPORT int brk(void *addr)
{
	return (int)pl_libc_result(pl_call_brk(PL_ORIGIN_PROGRAM, (uintptr_t)addr));
}

PL_EXPORT void *sbrk(intptr_t increment)
{
	return (void *)pl_libc_result(pl_call_sbrk(increment));
}

PL_EXPORT int shmget(key_t key, size_t size, int flags)
{
	return (int)pl_libc_result(pl_call_shmget(key, size, flags));
}

PL_EXPORT void *shmat(int id, const void *addr, int flags)
{
	return (void *)pl_libc_result(pl_call_shmat(id, (uintptr_t)addr, flags));
}

PL_EXPORT int shmdt(const void *addr)
{
	return (int)pl_libc_result(pl_call_shmdt((uintptr_t)addr));
}

PL_EXPORT int prctl(int option, ...)
{
	unsigned long argument[4];
	va_list arguments;

	va_start(arguments, option);
	for (size_t i = 0; i < PL_ARRAY_LEN(argument); i++)
		argument[i] = va_arg(arguments, unsigned long);
	va_end(arguments);
	return (int)pl_libc_result(
		pl_call_prctl(option, argument[0], argument[1], argument[2], argument[3]));
}

PL_EXPORT int mlockall(int flags)
{
	return (int)pl_libc_result(pl_call_mlockall(flags));
}

PL_EXPORT int munlockall(void)
{
	return (int)pl_libc_result(pl_call_mlockall(0));
}

/* On 64-bit the two forms of struct rlimit are one (bits/resource.h). */
PL_EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return (int)pl_libc_result(pl_call_prlimit(0, (int)resource, limit, NULL));
}

PL_EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
	__attribute__((alias("setrlimit")));

PL_EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit,
		      struct rlimit *old)
{
	return (int)pl_libc_result(pl_call_prlimit(pid, (int)resource, limit, old));
}

PL_EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *limit,
			struct rlimit64 *old) __attribute__((alias("prlimit")));
