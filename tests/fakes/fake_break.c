/* SPDX-License-Identifier: MIT */
/* The break of the fakes: memory in reserved address space that is mapped up to a mark. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys.h"
#include "base/types.h"
#include "fake_ops.h"

extern void *__curbrk;

static void *libc_break;
static uintptr_t ground;
static uintptr_t limit;
static uintptr_t start;
static uintptr_t now;

/* Below the heap that the process has by itself, since placement takes the lower of the two starts
 * for the true one (/proc/self/stat). */
static uintptr_t reserve(size_t room)
{
	static const uintptr_t places[] = { 0x10000000, 0x20000000, 0x8000000, 0x30000000,
					    0x2000000 };

	for (size_t i = 0; i < PL_ARRAY_LEN(places); i++) {
		long at = pl_sys_mmap(
			places[i], room, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

		if ((uintptr_t)at == places[i])
			return places[i];
		if (!pl_sys_failed(at))
			pl_sys_munmap((uintptr_t)at, room);
	}
	abort();
}

uintptr_t fake_break_install(size_t offset, size_t room)
{
	/* Small allocations of the test itself then need no growth of malloc's arena. */
	free(malloc(100 * PL_KIB));
	ground = reserve(room);
	limit = ground + room;
	start = ground + offset;
	now = start;
	libc_break = __curbrk;
	__curbrk = (void *)now;
	return start;
}

static void map(uintptr_t from, uintptr_t to, int prot)
{
	if (from < to && pl_sys_mmap(from, to - from, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
				     -1, 0) != (long)from)
		abort();
}

/* As the kernel does it (mm/mmap.c, brk): whole pages come and go. */
uintptr_t fake_break_move(uintptr_t addr)
{
	uintptr_t old_end = pl_round_up(now, pl_base_page);
	uintptr_t new_end = pl_round_up(addr, pl_base_page);

	if (addr < start || addr > limit)
		return now;
	map(old_end, new_end, PROT_READ | PROT_WRITE);
	map(new_end, old_end, PROT_NONE);
	now = addr;
	return now;
}

uintptr_t fake_break_now(void)
{
	return now;
}

void fake_break_leave(void)
{
	__curbrk = libc_break;
}
