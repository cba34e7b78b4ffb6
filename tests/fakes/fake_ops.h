/* SPDX-License-Identifier: MIT */
/*
 * A table of kernel operations for tests. It records every call, passes memory calls on to the
 * kernel, keeps a break of its own in reserved address space, and fails any call with a chosen
 * errno. What depends on the machine (large-page advice, prctl) is answered here, so that a test
 * runs anywhere.
 */
#ifndef PL_TESTS_FAKES_FAKE_OPS_H
#define PL_TESTS_FAKES_FAKE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum {
	FAKE_ANY,
	FAKE_MMAP,
	FAKE_MUNMAP,
	FAKE_MREMAP,
	FAKE_MPROTECT,
	FAKE_MADVISE,
	FAKE_BRK,
	FAKE_PRCTL,
	FAKE_OPS
} fake_op_t;

typedef struct {
	fake_op_t op;
	uintptr_t addr; /* of prctl: its second argument */
	size_t length;  /* of prctl: its third */
	size_t new_length;
	uintptr_t target;
	int prot; /* or the advice, or prctl's option */
	int flags;
	int fd;
	off_t offset;
	long result;
	bool failed; /* by fake_fail */
} fake_call_t;

/* Puts the fakes in force with nothing recorded and nothing to fail. */
void fake_install(void);

/* Forgets the calls recorded and the failures asked for. */
void fake_forget(void);

/* The nth call of an operation from now on (1 = the next) fails with a positive errno; with
 * FAKE_ANY every operation counts. One at a time. */
void fake_fail(fake_op_t op, unsigned int nth, int error);

/* Every call of an operation fails from now on; 0 ends it. */
void fake_fail_all(fake_op_t op, int error);

/* Whether the failure asked for by fake_fail has happened. */
bool fake_has_failed(void);

/* Calls recorded, in order; a number beyond the last gives NULL. fake_last gives the newest. */
size_t fake_count(fake_op_t op);
const fake_call_t *fake_call(fake_op_t op, size_t number);
const fake_call_t *fake_last(fake_op_t op);

/* How many madvise calls gave this advice. */
size_t fake_count_advice(int advice);

/* Whether some madvise call gave this advice to the address. */
bool fake_is_advised(uintptr_t addr, int advice);

/* Called before each operation, with what is recorded of it: another thread's chance. */
void fake_set_hook(void (*hook)(const fake_call_t *call));

/* Maps without an address start at no multiple of 2M from now on. */
void fake_misalign(bool misaligned);

/* Bytes mapped through the fakes and not unmapped through them. */
size_t fake_mapped(void);

/* The kernel's break as the fakes keep it: starts `offset` bytes above a multiple of 2M and may
 * grow up to `room` bytes above that multiple. Returns its start. libc's __curbrk is set to it. */
uintptr_t fake_break_install(size_t offset, size_t room);

/* Moves it as a raw system call would, unrecorded. */
uintptr_t fake_break_move(uintptr_t addr);
uintptr_t fake_break_now(void);

/* Puts libc's own __curbrk back: before anything that may grow malloc's arena. */
void fake_break_leave(void);

/* The kernel's PR_GET_THP_DISABLE, and whether it knows PR_THP_DISABLE_EXCEPT_ADVISED. */
extern long fake_thp_disabled;
extern bool fake_knows_except_advised;

#endif
