/* SPDX-License-Identifier: MIT */
/*
 * Trap: running ahead, rounding and aligning ask for more than the program did, so a request that
 * just fits a limit would fail. Prints, as figures, how much still fits: MODE is data, as, or
 * inherited.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static rlim_t lower(int what, rlim_t bytes)
{
	struct rlimit limit;
	rlim_t before;

	getrlimit(what, &limit);
	before = limit.rlim_cur;
	limit.rlim_cur = bytes;
	v_wrong_if(setrlimit(what, &limit) != 0, "setrlimit");
	return before;
}

/* The largest single map, to the page. */
static size_t largest_map(void)
{
	size_t fits = 0, fails = (size_t)1 << 40;

	while (fails - fits > V_PAGE) {
		size_t n = (fits + (fails - fits) / 2) & ~(V_PAGE - 1);
		void *p = v_map(n);

		if (p) {
			munmap(p, n);
			fits = n;
		} else {
			fails = n;
		}
	}
	return fits;
}

static long count_mallocs(size_t size, size_t most)
{
	static void *held[200000];
	long count = 0;
	bool good = true;

	while ((size_t)count < most && (held[count] = malloc(size))) {
		v_stamp(held[count], size, (uint64_t)count);
		count++;
	}
	for (long i = 0; i < count; i++) {
		good &= v_stamped(held[i], size, (uint64_t)i);
		free(held[i]);
	}
	v_wrong_if(!good, "contents of malloc(%zu)", size);
	return count;
}

static long count_maps(size_t size)
{
	static void *held[4000];
	long count = 0;

	while (count < 4000 && (held[count] = v_map(size)))
		v_fill(held[count++], 1, size);
	for (long i = 0; i < count; i++)
		munmap(held[i], size);
	return count;
}

static void *in_thread(void *arg)
{
	v_figure("thread malloc(3000)", count_mallocs(3000, 50000));
	return arg;
}

static void measure(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	v_figure("largest map KiB", (long)(largest_map() / V_KIB));
	v_figure("maps of 256K", count_maps(256 * V_KIB));
	v_figure("maps of 1M", count_maps(V_MIB));
	v_figure("maps of 2M", count_maps(2 * V_MIB));
	v_figure("malloc(1000)", count_mallocs(1000, 100000));
	v_figure("malloc(64K)", count_mallocs(64 * V_KIB, 10000));
	v_figure("malloc(300K)", count_mallocs(300 * V_KIB, 10000));
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * V_KIB);
	if (pthread_create(&thread, &attr, in_thread, NULL) == 0)
		pthread_join(thread, NULL);
	else
		v_figure("thread malloc(3000)", -1);
}

/* A limit lowered below what is in use stops growth, not reuse; raised again, all works. */
static void below_use(int what)
{
	static void *held[30000];
	rlim_t before;

	for (size_t i = 0; i < V_COUNT(held); i++) {
		held[i] = malloc(1500);
		v_stamp(held[i], 1500, i);
	}
	before = lower(what, V_MIB);
	v_ok(!v_map(64 * V_MIB) && errno == ENOMEM, "no map of 64M over the limit");
	v_ok(sbrk(64 << 20) == (void *)-1 && errno == ENOMEM, "no sbrk of 64M over the limit");
	v_ok(!malloc(64 * V_MIB), "no malloc of 64M over the limit");
	for (size_t i = 0; i < V_COUNT(held); i += 2) {
		v_wrong_if(!v_stamped(held[i], 1500, i), "block %zu", i);
		free(held[i]);
	}
	for (size_t i = 0; i < V_COUNT(held); i += 2) {
		held[i] = malloc(1500);
		v_wrong_if(!held[i], "freed memory cannot be had again");
	}
	lower(what, before);
	v_ok(v_map(64 * V_MIB) && malloc(64 * V_MIB), "all fits when the limit is raised");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "data";

	if (strcmp(mode, "below-data") == 0)
		below_use(RLIMIT_DATA);
	else if (strcmp(mode, "below-as") == 0)
		below_use(RLIMIT_AS);
	if (strcmp(mode, "data") == 0)
		lower(RLIMIT_DATA, (rlim_t)v_status_kb("VmData") * V_KIB + 3 * V_MIB / 2);
	else if (strcmp(mode, "as") == 0)
		lower(RLIMIT_AS, (rlim_t)v_status_kb("VmSize") * V_KIB + 3 * V_MIB);
	if (strncmp(mode, "below", 5) != 0)
		measure();
	v_ok(true, "limit %s", mode);
	return v_done();
}
