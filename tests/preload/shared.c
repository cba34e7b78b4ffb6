/* SPDX-License-Identifier: MIT */
/*
 * Shared anonymous memory of a length that is no multiple of anything, and what a program may do to
 * parts of it. Every line is the same on base pages and on large ones.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t lengths[] = { 2222592, 8388608, 33558528, 17825793 };

static char *map(size_t length)
{
	return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* What a child writes its parent sees, and the other way round. */
static void across_fork(void)
{
	char *p = map(lengths[2]);
	int status = -1;

	v_stamp(p, lengths[2], 1);
	if (fork() == 0) {
		bool good = v_stamped(p, lengths[2], 1);

		v_stamp(p, lengths[2], 2);
		_exit(good ? 0 : 1);
	}
	wait(&status);
	v_ok(status == 0, "the child sees its parent's bytes");
	v_ok(v_stamped(p, lengths[2], 2), "the parent sees its child's bytes");
	v_outcome("munmap of all", munmap(p, lengths[2]) == 0);
}

static void whole(size_t length)
{
	char *p = map(length);

	v_ok(v_holds(p, length, 0), "fresh memory is zero");
	v_stamp(p, length, length);
	v_ok(v_stamped(p, length, length), "contents");
	v_outcome("msync", msync(p, length, MS_SYNC) == 0);
	v_outcome("mprotect of all", mprotect(p, length, PROT_READ) == 0);
	v_ok(v_fault(p, true, NULL) != 0, "a write faults");
	v_outcome("mprotect back", mprotect(p, length, PROT_READ | PROT_WRITE) == 0);
	v_outcome("munmap", munmap(p, length) == 0);
	v_ok(v_fault(p, false, NULL) != 0, "nothing is left");
}

/* Advice for single pages in the middle. */
static void advice(void)
{
	static const struct {
		const char *name;
		int advice;
	} kinds[] = {
		{ "NORMAL", MADV_NORMAL },	   { "RANDOM", MADV_RANDOM },
		{ "SEQUENTIAL", MADV_SEQUENTIAL }, { "WILLNEED", MADV_WILLNEED },
		{ "DONTNEED", MADV_DONTNEED },	   { "FREE", MADV_FREE },
		{ "COLD", MADV_COLD },		   { "WIPEONFORK", MADV_WIPEONFORK },
		{ "DONTDUMP", MADV_DONTDUMP },	   { "DODUMP", MADV_DODUMP },
	};
	char *p = map(lengths[1]);
	char *page = p + 2 * V_MIB + 5 * V_PAGE;

	v_stamp(p, lengths[1], 7);
	for (size_t i = 0; i < V_COUNT(kinds); i++)
		v_outcome(kinds[i].name, madvise(page, V_PAGE, kinds[i].advice) == 0);
	v_ok(v_stamped(p, lengths[1], 7), "contents after advice");
	v_outcome("REMOVE", madvise(page, V_PAGE, MADV_REMOVE) == 0);
	v_ok(v_holds(page, V_PAGE, 0), "removed is zero");
	v_ok(!v_holds(page + V_PAGE, V_PAGE, 0), "its neighbour is not");
	v_outcome("REMOVE of blocks", madvise(page, 5 * V_MIB, MADV_REMOVE) == 0);
	v_ok(v_holds(page, 5 * V_MIB, 0), "they are zero");
	v_ok(!v_holds(page + 5 * V_MIB, V_PAGE, 0), "what follows is not");
	mprotect(p, lengths[1], PROT_READ);
	v_outcome("REMOVE where nothing can be written", madvise(p, V_PAGE, MADV_REMOVE) == 0);
	munmap(p, lengths[1]);
}

/* munmap, mprotect and MAP_FIXED for single pages. */
static void cuts(void)
{
	char *p = map(lengths[2]);
	char *page = p + 4 * V_MIB + 3 * V_PAGE;

	v_stamp(p, lengths[2], 9);
	v_outcome("mprotect of a page", mprotect(page, V_PAGE, PROT_NONE) == 0);
	v_ok(v_fault(page, false, NULL) != 0, "it faults");
	v_ok(v_fault(page - 1, true, NULL) == 0, "the page before does not");
	v_ok(v_fault(page + V_PAGE, true, NULL) == 0, "the page behind does not");
	v_outcome("and back", mprotect(page, V_PAGE, PROT_READ | PROT_WRITE) == 0);
	v_outcome("MAP_FIXED over a page",
		  mmap(p + 8 * V_MIB + V_PAGE, V_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 8 * V_MIB + V_PAGE);
	v_ok(v_holds(p + 8 * V_MIB + V_PAGE, V_PAGE, 0), "it is new");
	v_ok(v_stamped(p, 4 * V_MIB, 9), "contents before");
	v_outcome("munmap of pages", munmap(p + 12 * V_MIB + V_PAGE, 3 * V_PAGE) == 0);
	v_outcome("munmap over blocks", munmap(p + 14 * V_MIB + V_PAGE, 5 * V_MIB) == 0);
	v_outcome("munmap of all", munmap(p, lengths[2]) == 0);
}

/* A place that was used, cut and given back keeps nothing of that. */
static void reuse(void)
{
	for (int i = 0; i < 4; i++) {
		char *p = map(4 * V_MIB);

		v_outcome("munmap of a part", munmap(p, V_MIB) == 0);
		v_outcome("munmap of all", munmap(p, 4 * V_MIB) == 0);
		p = map(4 * V_MIB);
		v_stamp(p, 4 * V_MIB, 15);
		v_outcome("munmap of the next part", munmap(p + V_MIB, V_MIB) == 0);
		v_ok(v_stamped(p, V_MIB, 15), "the part before is there");
		v_ok(v_stamped(p, 8, 15), "and readable");
		p = mremap(p, V_MIB, V_MIB / 2, 0);
		v_outcome("shrink what is left", p != MAP_FAILED);
		v_outcome("munmap of what is left", munmap(p, 4 * V_MIB) == 0);
	}
}

static void nonsense(void)
{
	int rw = PROT_READ | PROT_WRITE;
	int flags = MAP_SHARED | MAP_ANONYMOUS;

	v_outcome("length -1", mmap(NULL, (size_t)-1, rw, flags, -1, 0) != MAP_FAILED);
	v_outcome("length -4096", mmap(NULL, (size_t)-4096, rw, flags, -1, 0) != MAP_FAILED);
	v_outcome("length 0", mmap(NULL, 0, rw, flags, -1, 0) != MAP_FAILED);
	v_outcome("misaligned offset", mmap(NULL, 8 * V_MIB, rw, flags, -1, 123) != MAP_FAILED);
	v_outcome("misaligned offset, private",
		  mmap(NULL, 8 * V_MIB, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 123) != MAP_FAILED);
}

static void *remap_in_thread(void *arg)
{
	char *p = map(lengths[1]);

	v_stamp(p, lengths[1], 17);
	v_outcome("shrink with a thread", mremap(p, lengths[1], 4 * V_MIB, 0) == p);
	v_ok(v_stamped(p, 4 * V_MIB, 17), "contents after shrinking");
	v_outcome("munmap", munmap(p, 4 * V_MIB) == 0);
	p = mmap(p, 4 * V_MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	v_fill(p, 1, 4 * V_MIB);
	v_outcome("MADV_DONTNEED of private memory", madvise(p, V_MIB, MADV_DONTNEED) == 0);
	v_ok(v_holds(p, V_MIB, 0), "reads zero");
	munmap(p, 4 * V_MIB);
	return arg;
}

static void with_a_thread(void)
{
	pthread_t thread;

	v_outcome("thread", pthread_create(&thread, NULL, remap_in_thread, NULL) == 0);
	pthread_join(thread, NULL);
}

static void resize(void)
{
	char *p = map(lengths[1]);
	char *q;

	v_stamp(p, lengths[1], 11);
	q = mremap(p, lengths[1], 3 * V_MIB + V_PAGE, MREMAP_MAYMOVE);
	v_outcome("shrink", q != MAP_FAILED);
	v_ok(q == p && v_stamped(p, 3 * V_MIB, 11), "contents after shrinking");
	munmap(q, 3 * V_MIB + V_PAGE);
	p = map(lengths[1]);
	v_stamp(p, lengths[1], 12);
	q = mremap(p, lengths[1], 12 * V_MIB, MREMAP_MAYMOVE);
	v_outcome("grow", q != MAP_FAILED);
	v_ok(v_stamped(q, lengths[1], 12), "contents after growing");
	munmap(q, 12 * V_MIB);
	p = map(lengths[1]);
	v_stamp(p, lengths[1], 13);
	q = mremap(p, 0, lengths[1], MREMAP_MAYMOVE);
	v_outcome("map a second time", q != MAP_FAILED);
	p[5] = 77;
	v_ok(q[5] == 77, "both show the same");
	munmap(p, lengths[1]);
	munmap(q, lengths[1]);
}

int main(void)
{
	v_watchdog(100);
	for (size_t i = 0; i < V_COUNT(lengths); i++)
		whole(lengths[i]);
	advice();
	cuts();
	resize();
	reuse();
	nonsense();
	with_a_thread();
	across_fork();
	return v_done();
}
