/* SPDX-License-Identifier: MIT */
/*
 * Raw system calls, each with the arguments of its manual page (section 2). All return what the
 * kernel returns: a value, or a negative errno. errno itself is never written here.
 */
#ifndef PL_BASE_SYS_H
#define PL_BASE_SYS_H

#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/arch.h"
#include "base/types.h"

/* True for a system call's result that is a negative errno (the kernel's own bound, 4095). */
static inline bool pl_sys_failed(long result)
{
	return (unsigned long)result > -4096UL;
}

static inline long pl_sys_mmap(uintptr_t addr, size_t length, int prot, int flags, int fd,
			       off_t offset)
{
	return pl_syscall6(SYS_mmap, (long)addr, (long)length, prot, flags, fd, offset);
}

static inline long pl_sys_munmap(uintptr_t addr, size_t length)
{
	return pl_syscall6(SYS_munmap, (long)addr, (long)length, 0, 0, 0, 0);
}

static inline long pl_sys_mremap(uintptr_t old, size_t old_length, size_t new_length, int flags,
				 uintptr_t target)
{
	return pl_syscall6(SYS_mremap, (long)old, (long)old_length, (long)new_length, flags,
			   (long)target, 0);
}

static inline long pl_sys_mprotect(uintptr_t addr, size_t length, int prot)
{
	return pl_syscall6(SYS_mprotect, (long)addr, (long)length, prot, 0, 0, 0);
}

static inline long pl_sys_madvise(uintptr_t addr, size_t length, int advice)
{
	return pl_syscall6(SYS_madvise, (long)addr, (long)length, advice, 0, 0, 0);
}

/* Returns the break that is in force after the call; it never fails otherwise (brk(2), NOTES). */
static inline uintptr_t pl_sys_brk(uintptr_t addr)
{
	return (uintptr_t)pl_syscall6(SYS_brk, (long)addr, 0, 0, 0, 0, 0);
}

static inline long pl_sys_shmget(int key, size_t size, int flags)
{
	return pl_syscall6(SYS_shmget, key, (long)size, flags, 0, 0, 0);
}

static inline long pl_sys_shmat(int id, uintptr_t addr, int flags)
{
	return pl_syscall6(SYS_shmat, id, (long)addr, flags, 0, 0, 0);
}

static inline long pl_sys_shmctl(int id, int command, void *data)
{
	return pl_syscall6(SYS_shmctl, id, command, (long)data, 0, 0, 0);
}

static inline long pl_sys_shmdt(uintptr_t addr)
{
	return pl_syscall6(SYS_shmdt, (long)addr, 0, 0, 0, 0, 0);
}

static inline long pl_sys_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
				unsigned long d)
{
	return pl_syscall6(SYS_prctl, option, (long)a, (long)b, (long)c, (long)d, 0);
}

static inline long pl_sys_prlimit(int pid, int resource, const struct rlimit *limit,
				  struct rlimit *ret_old)
{
	return pl_syscall6(SYS_prlimit64, pid, resource, (long)limit, (long)ret_old, 0, 0);
}

static inline long pl_sys_openat(const char *path, int flags, mode_t mode)
{
	return pl_syscall6(SYS_openat, AT_FDCWD, (long)path, flags, (long)mode, 0, 0);
}

static inline long pl_sys_read(int fd, void *buffer, size_t length)
{
	return pl_syscall6(SYS_read, fd, (long)buffer, (long)length, 0, 0, 0);
}

static inline long pl_sys_write(int fd, const void *buffer, size_t length)
{
	return pl_syscall6(SYS_write, fd, (long)buffer, (long)length, 0, 0, 0);
}

static inline long pl_sys_close(int fd)
{
	return pl_syscall6(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long pl_sys_ioctl(int fd, unsigned long request, void *argument)
{
	return pl_syscall6(SYS_ioctl, fd, (long)request, (long)argument, 0, 0, 0);
}

static inline long pl_sys_statfs(const char *path, struct statfs *ret_status)
{
	return pl_syscall6(SYS_statfs, (long)path, (long)ret_status, 0, 0, 0, 0);
}

static inline long pl_sys_unlink(const char *path)
{
	return pl_syscall6(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

static inline long pl_sys_fstat(int fd, struct stat *ret_status)
{
	return pl_syscall6(SYS_fstat, fd, (long)ret_status, 0, 0, 0, 0);
}

static inline long pl_sys_readlinkat(const char *path, char *buffer, size_t length)
{
	return pl_syscall6(SYS_readlinkat, AT_FDCWD, (long)path, (long)buffer, (long)length, 0, 0);
}

/* Sets the thread's signal mask, as the kernel has it: 64 bits. Either may be NULL. */
static inline long pl_sys_sigprocmask(const uint64_t *mask, uint64_t *ret_old)
{
	enum { SET_MASK = 2 }; /* SIG_SETMASK */

	return pl_syscall6(SYS_rt_sigprocmask, SET_MASK, (long)mask, (long)ret_old,
			   sizeof(uint64_t), 0, 0);
}

static inline long pl_sys_getpid(void)
{
	return pl_syscall6(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline long pl_sys_futex_wait(uint32_t *word, uint32_t expected,
				     const struct timespec *timeout)
{
	return pl_syscall6(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, expected, (long)timeout, 0,
			   0);
}

static inline long pl_sys_futex_wake(uint32_t *word, int waiters)
{
	return pl_syscall6(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, waiters, 0, 0, 0);
}

static inline _Noreturn void pl_sys_exit_group(int status)
{
	for (;;)
		pl_syscall6(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

#endif
