/* SPDX-License-Identifier: MIT */
/*
 * Thread arenas of glibc's malloc (malloc/arena.c). A heap is 64M of reserved address space at a
 * multiple of 64M, made read-write from its start in steps of some pages. Two marks per heap,
 * `grown` = end of glibc's own growth and `writable` = end of what is read-write, let later growth
 * be served without a system call. Only an mprotect of libc's own that asks for read-write and
 * starts at `grown` is growth; everything else goes to the kernel unchanged.
 *
 * Heaps are found by their base in an open-addressed table without a lock: libc changes one heap
 * from one thread at a time, under the arena's lock.
 */
#ifndef PL_PLACEMENT_ARENA_H
#define PL_PLACEMENT_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "policy/policy.h"

/* A reservation of libc's: remembers the heap that it makes room for, if it has the shape. */
void pl_arena_note_reservation(const pl_request_t *request, uintptr_t start);

/* An mprotect call that lies in a heap. Returns false when it is nothing of ours; else *ret_result
 * is the call's result. */
bool pl_arena_protect(pl_origin_t origin, pl_range_t range, int prot, long *ret_result);

/* libc maps PROT_NONE over the end of a heap to shrink it (under overcommit_memory=2). Called after
 * the kernel did it. Returns whether the range was in a heap. */
bool pl_arena_shrunk(pl_range_t range);

/* The range is unmapped, mapped over or moved: the heaps it meets are forgotten. */
void pl_arena_forget(pl_range_t range);

/* The program gave advice of its own on part of the heap: no more of ours. */
void pl_arena_leave_advice(pl_range_t range);

/* Takes all read-write memory ahead of glibc's growth back to no access. */
void pl_arena_retract(void);

/* In a forked child. */
void pl_arena_after_fork(void);

#endif
