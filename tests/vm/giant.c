/* SPDX-License-Identifier: MIT */
/*
 * Large shared memory, one step per argument; every step is done with all maps made so far:
 *
 *   map BYTES    shared anonymous memory          shm BYTES    a SysV segment, attached
 *   check        it holds what was written last (zero at first), in every 4K page
 *   write        write every 4K page, and check   fork         a child checks and writes
 *   remove       MADV_REMOVE of all of it         unmap        munmap or shmdt
 *   sizes        "# page KIB BYTES": what of it smaps has on pages of which size
 *   sh COMMAND   a command, without the shim
 *   take SHIFT PAGES   pages of the pool of 1 << SHIFT bytes, kept until the end
 *
 * A signal ends it as it would end any program: that is what is tested.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAPS_MAX = 16, SIZES_MAX = 8, MAP_HUGE_SHIFT_ = 26 };

typedef struct {
	char *start;
	size_t length;
	int shm_id; /* -1: by mmap */
} map_t;

static map_t maps[MAPS_MAX];
static size_t map_count;
static uint64_t last_seed; /* 0: nothing was written */

static size_t number(const char *text)
{
	return text ? strtoull(text, NULL, 0) : 0;
}

static void keep(char *start, size_t length, int shm_id)
{
	if (!v_ok(start != MAP_FAILED && map_count < MAPS_MAX, "a map of %zu bytes", length))
		exit(1);
	maps[map_count++] = (map_t){ start, length, shm_id };
}

static void make_map(size_t length)
{
	keep(mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), length,
	     -1);
}

static void make_shm(size_t length)
{
	int id = shmget(IPC_PRIVATE, length, IPC_CREAT | 0600);

	keep(id < 0 ? MAP_FAILED : shmat(id, NULL, 0), length, id);
	shmctl(id, IPC_RMID, NULL); /* nothing is left even after a signal */
}

/* The first and the last word of each 4K page tell the page, the map and the time of writing. */
static uint64_t mark(size_t map, size_t at, uint64_t seed)
{
	return seed ? (seed << 56) ^ ((uint64_t)map << 48) ^ at : 0;
}

static size_t last_word(const map_t *map, size_t page)
{
	size_t end = page + 4096 < map->length ? page + 4096 : map->length;

	return (end - sizeof(uint64_t)) & ~(sizeof(uint64_t) - 1);
}

static void put(const map_t *map, size_t at, uint64_t value)
{
	memcpy(map->start + at, &value, sizeof(value));
}

static void write_all(uint64_t seed)
{
	for (size_t i = 0; i < map_count; i++) {
		for (size_t page = 0; page + 8 <= maps[i].length; page += 4096) {
			put(&maps[i], page, mark(i, page, seed));
			put(&maps[i], last_word(&maps[i], page), mark(i, page, seed));
		}
	}
}

static size_t count_wrong(uint64_t seed)
{
	size_t wrong = 0;

	for (size_t i = 0; i < map_count; i++) {
		for (size_t page = 0; page + 8 <= maps[i].length; page += 4096) {
			const uint64_t want = mark(i, page, seed);

			wrong += memcmp(maps[i].start + page, &want, 8) != 0 ||
				 memcmp(maps[i].start + last_word(&maps[i], page), &want, 8) != 0;
		}
	}
	return wrong;
}

static void check(const char *name)
{
	size_t wrong = count_wrong(last_seed);

	v_ok(!wrong, "%s: %zu pages have other contents", name, wrong);
}

static void do_write(void)
{
	write_all(++last_seed);
	check("written");
}

static void do_fork(void)
{
	int status = -1;

	if (fork() == 0) {
		bool good = count_wrong(last_seed) == 0;

		write_all(last_seed + 1);
		_exit(good ? 0 : 1);
	}
	wait(&status);
	v_ok(status == 0, "the child sees its parent's bytes (status %d)", status);
	last_seed++;
	check("written by the child");
}

static void do_remove(void)
{
	for (size_t i = 0; i < map_count; i++)
		v_ok(madvise(maps[i].start, (maps[i].length + 4095) & -4096UL, MADV_REMOVE) == 0,
		     "MADV_REMOVE");
	last_seed = 0;
}

static void do_unmap(void)
{
	for (size_t i = 0; i < map_count; i++) {
		if (maps[i].shm_id < 0)
			v_ok(munmap(maps[i].start, maps[i].length) == 0, "munmap");
		else
			v_ok(shmdt(maps[i].start) == 0, "shmdt");
	}
	map_count = 0;
	last_seed = 0;
}

/* Shared maps do not merge, so that an entry of smaps is ours as a whole or not at all. */
static bool is_ours(uintptr_t start, uintptr_t end)
{
	for (size_t i = 0; i < map_count; i++)
		if (start < (uintptr_t)maps[i].start + maps[i].length &&
		    end > (uintptr_t)maps[i].start)
			return true;
	return false;
}

static void show_sizes(void)
{
	struct {
		unsigned long kib;
		size_t bytes;
	} sizes[SIZES_MAX] = { 0 };
	FILE *smaps = fopen("/proc/self/smaps", "re");
	size_t bytes = 0;
	char line[512];

	while (smaps && fgets(line, sizeof(line), smaps)) {
		uintptr_t start;
		uintptr_t end;
		unsigned long kib;
		size_t i = 0;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &start, &end) == 2)
			bytes = is_ours(start, end) ? end - start : 0;
		if (!bytes || sscanf(line, "KernelPageSize: %lu kB", &kib) != 1)
			continue;
		while (i + 1 < SIZES_MAX && sizes[i].kib && sizes[i].kib != kib)
			i++;
		sizes[i].kib = kib;
		sizes[i].bytes += bytes;
	}
	for (size_t i = 0; i < SIZES_MAX && sizes[i].kib; i++)
		v_say("# page %lu %zu", sizes[i].kib, sizes[i].bytes);
	if (smaps)
		fclose(smaps);
}

static void run_command(const char *command)
{
	unsetenv("LD_PRELOAD");
	v_ok(system(command) == 0, "sh: %s", command);
}

static void take(size_t shift, size_t pages)
{
	char *p = mmap(NULL, pages << shift, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | (int)(shift << MAP_HUGE_SHIFT_),
		       -1, 0);

	if (v_ok(p != MAP_FAILED, "%zu pages of 1 << %zu", pages, shift))
		v_ok(madvise(p, pages << shift, MADV_POPULATE_WRITE) == 0, "populated");
}

/* Returns how many arguments the step took, 0 when there is no such step. */
static int do_step(char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} plain[] = {
		{ "write", do_write }, { "fork", do_fork },   { "remove", do_remove },
		{ "unmap", do_unmap }, { "sizes", show_sizes },
	};

	for (size_t i = 0; i < V_COUNT(plain); i++) {
		if (strcmp(argv[0], plain[i].name) == 0) {
			plain[i].run();
			return 1;
		}
	}
	if (strcmp(argv[0], "check") == 0)
		return check("checked"), 1;
	if (!argv[1])
		return 0;
	if (strcmp(argv[0], "map") == 0)
		return make_map(number(argv[1])), 2;
	if (strcmp(argv[0], "shm") == 0)
		return make_shm(number(argv[1])), 2;
	if (strcmp(argv[0], "sh") == 0)
		return run_command(argv[1]), 2;
	if (strcmp(argv[0], "take") == 0)
		return take(number(argv[1]), number(argv[2])), 3;
	return 0;
}

int main(int argc, char **argv)
{
	int used;

	v_watchdog(600);
	for (int i = 1; i < argc; i += used) {
		used = do_step(argv + i);
		if (!used) {
			v_say("wrong: no such step: %s", argv[i]);
			return 2;
		}
	}
	return v_done();
}
