/* SPDX-License-Identifier: MIT */
/* A heap of glibc's malloc (malloc/arena.c, new_heap), made and grown as libc does it. */
#ifndef PL_TESTS_FAKES_FAKE_ARENA_H
#define PL_TESTS_FAKES_FAKE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_HEAP_SIZE ((size_t)64 << 20)

/* Where the heap lies, and the end of its growth. */
extern uintptr_t fake_heap;
extern uintptr_t fake_heap_end;

/* Reserves twice the size and trims it to one heap. */
void fake_heap_new(void);

/* Libc's mprotect of a part. Returns 0 or a negative errno. */
long fake_heap_protect(uintptr_t start, uintptr_t end, int prot);

/* Grows by a length; memory is written. */
long fake_heap_grow(size_t length);

/* Shrinks to an address, as under overcommit_memory = 2. Returns the address or a negative
 * errno. */
long fake_heap_shrink(uintptr_t end);

/* Whether the map at the address may be read. */
bool fake_is_readable(uintptr_t addr);

#endif
