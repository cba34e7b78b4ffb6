/* SPDX-License-Identifier: MIT */
/*
 * The way in for both doors, the exported symbols and libc's redirected entries: into placement
 * when this thread may act, else straight to the kernel. Results are raw: a value or a negative
 * errno; errno is never written.
 */
#ifndef PL_INTERCEPT_CALLS_H
#define PL_INTERCEPT_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "placement/remap.h"
#include "policy/policy.h"

long pl_call_mmap(const pl_request_t *request, int fd, off_t offset);
long pl_call_munmap(uintptr_t addr, size_t length);
long pl_call_mremap(pl_origin_t origin, const pl_remap_request_t *request);
long pl_call_mprotect(pl_origin_t origin, uintptr_t addr, size_t length, int prot);
long pl_call_pkey_mprotect(uintptr_t addr, size_t length, int prot, int pkey);
long pl_call_madvise(pl_origin_t origin, uintptr_t addr, size_t length, int advice);
long pl_call_brk(pl_origin_t origin, uintptr_t addr);
long pl_call_sbrk(intptr_t increment);
long pl_call_shmget(int key, size_t size, int flags);
long pl_call_shmat(int id, uintptr_t addr, int flags);
long pl_call_shmdt(uintptr_t addr);
long pl_call_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
long pl_call_mlockall(int flags);
long pl_call_prlimit(int pid, int resource, const struct rlimit *limit, struct rlimit *ret_old);

/* How libc hands a raw result out: errno and -1, or the value. */
long pl_libc_result(long result);

#endif
