/* SPDX-License-Identifier: MIT */
/*
 * Trap: the program's own map just above its break. A shim whose real break runs ahead must not
 * refuse the place, and malloc must never grow into it. The place and the way are arguments: WAY
 * GAP-IN-KIB.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define BLOCK  1500
#define BEFORE 4000
#define AFTER  12000
#define OWN    (3 * V_MIB)

static void *held[BEFORE + AFTER];

static void grow(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		held[i] = malloc(BLOCK);
		if (v_wrong_if(!held[i], "malloc failed"))
			exit(v_done());
		v_stamp(held[i], BLOCK, i);
	}
}

static void heap_is_whole(size_t to)
{
	size_t bad = 0;

	for (size_t i = 0; i < to; i++)
		bad += !v_stamped(held[i], BLOCK, i);
	v_ok(bad == 0, "%zu heap blocks hold their contents", to);
}

static void *moved(char *at)
{
	void *from = v_map(OWN);

	return mremap(from, OWN, OWN, MREMAP_MAYMOVE | MREMAP_FIXED, at);
}

static void *attached(char *at)
{
	int id = shmget(IPC_PRIVATE, OWN, IPC_CREAT | 0600);
	void *p = shmat(id, at, 0);

	shmctl(id, IPC_RMID, NULL);
	return p;
}

static void *place(const char *way, char *at)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;

	if (strcmp(way, "mremap") == 0)
		return moved(at);
	if (strcmp(way, "shmat") == 0)
		return attached(at);
	if (strcmp(way, "fixed") == 0)
		flags |= MAP_FIXED;
	if (strcmp(way, "noreplace") == 0)
		flags |= MAP_FIXED_NOREPLACE;
	return mmap(at, OWN, PROT_READ | PROT_WRITE, flags, -1, 0);
}

/* Nothing is mapped above the break, so the kernel's answers there are known. */
static void calls_above(char *at)
{
	v_outcome("mprotect above the break", mprotect(at, V_MIB, PROT_READ) == 0);
	v_outcome("madvise above the break", madvise(at, V_MIB, MADV_DONTNEED) == 0);
	v_outcome("mremap above the break",
		  mremap(at, V_MIB, 2 * V_MIB, MREMAP_MAYMOVE) != MAP_FAILED);
	v_outcome("munmap above the break", munmap(at, 4 * V_MIB) == 0);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "fixed";
	size_t gap = argc > 2 ? (size_t)atol(argv[2]) * V_KIB : 0;
	char *at, *own;

	grow(0, BEFORE);
	at = (char *)v_page_up(sbrk(0)) + gap;
	if (strcmp(way, "calls") == 0) {
		calls_above(at);
		grow(BEFORE, BEFORE + AFTER);
		heap_is_whole(BEFORE + AFTER);
		return v_done();
	}
	own = place(way, at);
	v_outcome("placed", own != MAP_FAILED && own != (void *)-1);
	v_ok(own == at, "%s: at the address asked for", way);
	v_ok(v_holds(own, OWN, 0), "fresh");
	v_stamp(own, OWN, 77);
	grow(BEFORE, BEFORE + AFTER);
	v_ok(v_stamped(own, OWN, 77), "the map holds its contents after malloc grew");
	heap_is_whole(BEFORE + AFTER);
	v_stamp(own, OWN, 78);
	heap_is_whole(BEFORE + AFTER);
	for (size_t i = 0; i < BEFORE + AFTER; i += 2)
		free(held[i]);
	v_ok(v_stamped(own, OWN, 78), "the map holds its contents after free");
	return v_done();
}
