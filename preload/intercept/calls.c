/* SPDX-License-Identifier: MIT */
#include "intercept/calls.h"

#include <errno.h>

#include "base/sys.h"
#include "placement/advice.h"
#include "placement/break.h"
#include "placement/context.h"
#include "placement/limits.h"
#include "placement/map.h"
#include "placement/process_control.h"
#include "placement/shm.h"

long pl_libc_result(long result)
{
	if (!pl_sys_failed(result))
		return result;
	errno = (int)-result;
	return -1;
}

long pl_call_mmap(const pl_request_t *request, int fd, off_t offset)
{
	long result;

	if (!pl_enter())
		return pl_sys_mmap(request->addr, request->length, request->prot, request->flags,
				   fd, offset);
	result = pl_map(request, fd, offset);
	pl_leave();
	return result;
}

long pl_call_munmap(uintptr_t addr, size_t length)
{
	long result;

	if (!pl_enter())
		return pl_sys_munmap(addr, length);
	result = pl_unmap(addr, length);
	pl_leave();
	return result;
}

long pl_call_mremap(pl_origin_t origin, const pl_remap_request_t *request)
{
	long result;

	if (!pl_enter())
		return pl_sys_mremap(request->old, request->old_length, request->new_length,
				     request->flags, request->target);
	result = pl_remap(origin, request);
	pl_leave();
	return result;
}

long pl_call_mprotect(pl_origin_t origin, uintptr_t addr, size_t length, int prot)
{
	long result;

	if (!pl_enter())
		return pl_sys_mprotect(addr, length, prot);
	result = pl_protect(origin, addr, length, prot, -1);
	pl_leave();
	return result;
}

long pl_call_pkey_mprotect(uintptr_t addr, size_t length, int prot, int pkey)
{
	long result;

	if (pkey == -1) /* pkey_mprotect(2): the same as mprotect then */
		return pl_call_mprotect(PL_ORIGIN_PROGRAM, addr, length, prot);
	if (!pl_enter())
		return pl_syscall6(SYS_pkey_mprotect, (long)addr, (long)length, prot, pkey, 0, 0);
	result = pl_protect(PL_ORIGIN_PROGRAM, addr, length, prot, pkey);
	pl_leave();
	return result;
}

long pl_call_madvise(pl_origin_t origin, uintptr_t addr, size_t length, int advice)
{
	long result;

	if (!pl_enter())
		return pl_sys_madvise(addr, length, advice);
	result = pl_advise(origin, addr, length, advice);
	pl_leave();
	return result;
}

long pl_call_brk(pl_origin_t origin, uintptr_t addr)
{
	long result;

	if (!pl_enter())
		return pl_break_set_raw(addr);
	result = origin == PL_ORIGIN_LIBC ? pl_break_set_for_libc(addr)
					  : pl_break_set_for_program(addr);
	pl_leave();
	return result;
}

long pl_call_sbrk(intptr_t increment)
{
	bool acts = pl_enter();
	long result = pl_break_move(increment, !acts);

	if (acts)
		pl_leave();
	return result;
}

long pl_call_shmget(int key, size_t size, int flags)
{
	long result;

	if (!pl_enter())
		return pl_sys_shmget(key, size, flags);
	result = pl_shm_get(key, size, flags);
	pl_leave();
	return result;
}

long pl_call_shmat(int id, uintptr_t addr, int flags)
{
	long result;

	if (!pl_enter())
		return pl_sys_shmat(id, addr, flags);
	result = pl_shm_attach(id, addr, flags);
	pl_leave();
	return result;
}

long pl_call_shmdt(uintptr_t addr)
{
	long result;

	if (!pl_enter())
		return pl_sys_shmdt(addr);
	result = pl_shm_detach(addr);
	pl_leave();
	return result;
}

long pl_call_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	long result;

	if (!pl_enter())
		return pl_sys_prctl(option, a, b, c, d);
	result = pl_process_control(option, a, b, c, d);
	pl_leave();
	return result;
}

long pl_call_mlockall(int flags)
{
	if (pl_enter()) {
		pl_limits_before_lock(flags);
		pl_leave();
	}
	if (!flags)
		return pl_syscall6(SYS_munlockall, 0, 0, 0, 0, 0, 0);
	return pl_syscall6(SYS_mlockall, flags, 0, 0, 0, 0, 0);
}

long pl_call_prlimit(int pid, int resource, const struct rlimit *limit, struct rlimit *ret_old)
{
	if (limit && (!pid || pid == pl_sys_getpid()) && pl_enter()) {
		pl_limits_before_set(resource, limit);
		pl_leave();
	}
	return pl_sys_prlimit(pid, resource, limit, ret_old);
}
