/* SPDX-License-Identifier: MIT */
/*
 * Malloc's main arena. The real break runs ahead of the reported one in whole large pages, so that
 * the kernel can back the heap with them at the first touch; what the program sees of the break
 * stays exact. Rules, each learnt from a program that broke:
 *
 * 1. When the reported break falls, what lies above it reads zero if it grows back (calloc trusts
 *    fresh break memory): whole large pages go back to the kernel, the rest is zeroed.
 * 2. Before anything of the program's own happens to addresses above the reported break, or with
 *    brk/sbrk, the real break is set back to the reported one, and never runs ahead again.
 * 3. A raw system call may move the break: while it is ahead, and before it goes ahead, the
 *    kernel's own break is compared, and on a mismatch it is followed for good.
 */
#ifndef PL_PLACEMENT_BREAK_H
#define PL_PLACEMENT_BREAK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/types.h"

/* libc's own brk (behind sbrk, from malloc). Sets __curbrk as brk(2) in libc does. Returns 0 or
 * -ENOMEM. */
long pl_break_set_for_libc(uintptr_t addr);

/* The program's own brk(2): exact from now on. Returns 0 or -ENOMEM. */
long pl_break_set_for_program(uintptr_t addr);

/* The same without any of our state, for calls that must pass straight through. */
long pl_break_set_raw(uintptr_t addr);

/* The program's own sbrk(2). Returns the old break or -ENOMEM. pass_through as pl_break_set_raw. */
long pl_break_move(intptr_t increment, bool pass_through);

/* Rule 2, for a call of the program's that touches a range: gives up running ahead if the range
 * meets what the program does not know to be mapped. */
void pl_break_yield(pl_range_t range);

/* The same for a call after which memory of the heap would no longer be as malloc's growth leaves
 * it (protection, unmapping, sticky advice): the whole heap counts, and what is ahead of it. */
void pl_break_yield_attributes(pl_range_t range);

/* The program gave advice of its own on part of the heap: no more of ours. */
void pl_break_leave_advice(pl_range_t range);

/* Gives up running ahead now: limits are tight, or memory is to be locked. */
void pl_break_retract(void);

/* In a forked child. */
void pl_break_after_fork(void);

#endif
