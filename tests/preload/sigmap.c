/* SPDX-License-Identifier: MIT */
/*
 * Trap: a signal handler that maps, protects and unmaps, a thousand times a second, while the
 * interrupted code is inside malloc or mmap. A lock of ours that the handler waits for would hang
 * it for ever.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_int handled, bad;
static atomic_bool stop;

static void on_tick(int sig)
{
	int kept = errno;
	size_t n = (size_t)(handled % 4 + 1) * V_MIB + 4096;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)sig;
	if (p == MAP_FAILED) {
		bad++;
	} else {
		p[0] = p[n - 1] = 1;
		bad += mprotect(p + 4096, 4096, PROT_NONE) != 0;
		bad += madvise(p, 4096, MADV_DONTNEED) != 0 || p[0] != 0;
		p = mremap(p, n, n / 2 & ~(size_t)4095, MREMAP_MAYMOVE);
		bad += p == MAP_FAILED || munmap(p, n / 2 & ~(size_t)4095) != 0;
	}
	handled++;
	errno = kept;
}

static void *busy(void *arg)
{
	static const size_t size[] = { 100, 3000, 70000, 200000, 3000000, 5000000 };

	for (size_t i = 0; !stop; i++) {
		size_t n = size[i % V_COUNT(size)], m = (i % 3 + 1) * V_MIB;
		char *block = malloc(n), *map = v_map(m);

		if (!block || !map) {
			bad++;
			break;
		}
		block[0] = block[n - 1] = 7;
		map[0] = map[m - 1] = 7;
		bad += block[0] != 7 || map[m - 1] != 7;
		bad += munmap(map, m) != 0;
		free(block);
	}
	return arg;
}

static void *until_end(void *arg)
{
	struct timespec until;

	/* To a point in time: the signal cuts a sleep short. */
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 2;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		continue;
	stop = true;
	return arg;
}

int main(void)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, none = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	struct sigaction hung = { .sa_handler = SIG_DFL };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGXCPU };
	struct itimerspec limit = { .it_value = { 60, 0 } };
	pthread_t thread[2];
	timer_t watchdog;

	/* A hang ends by SIGXCPU, since SIGALRM is what is tested. */
	sigaction(SIGXCPU, &hung, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &watchdog);
	timer_settime(watchdog, 0, &limit, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	pthread_create(&thread[0], NULL, until_end, NULL);
	pthread_create(&thread[1], NULL, busy, NULL);
	busy(NULL);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	setitimer(ITIMER_REAL, &none, NULL);
	v_figure("signals", handled);
	v_ok(handled > 100, "signals came");
	v_ok(bad == 0, "%d wrong", (int)bad);
	return v_done();
}
