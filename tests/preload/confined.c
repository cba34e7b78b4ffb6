/* SPDX-License-Identifier: MIT */
/*
 * Trap: a program that confines itself to the calls it makes: here a filter kills for advice
 * about large pages, for opening files and for ioctl, which are what a shim would do on its own
 * account.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define KILL_CALL(nr)                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define KILL_ADVICE(advice)                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, advice, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static bool confine(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		KILL_CALL(__NR_openat),
		KILL_CALL(__NR_ioctl),
		KILL_CALL(__NR_prctl),
		KILL_CALL(__NR_prlimit64),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_madvise, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		LOAD(args[2]),
		KILL_ADVICE(14), /* MADV_HUGEPAGE */
		KILL_ADVICE(25), /* MADV_COLLAPSE */
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = V_COUNT(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void *grow(void *arg)
{
	static void *held[2][4000];
	void **mine = held[(size_t)arg];

	for (size_t i = 0; i < V_COUNT(held[0]); i++) {
		mine[i] = malloc(1500);
		v_stamp(mine[i], 1500, i);
	}
	for (size_t i = 0; i < V_COUNT(held[0]); i++) {
		v_wrong_if(!v_stamped(mine[i], 1500, i), "contents");
		free(mine[i]);
	}
	return NULL;
}

static void work(void)
{
	char *map = v_map(10 * V_MIB), *block = malloc(10 * V_MIB);

	v_fill(map, 1, 10 * V_MIB);
	v_fill(block, 1, 10 * V_MIB);
	v_ok(madvise(map, V_PAGE, MADV_DONTNEED) == 0, "the program's own advice");
	v_ok(munmap(map, 10 * V_MIB) == 0, "munmap");
	block = realloc(block, 20 * V_MIB);
	v_ok(v_holds(block, 10 * V_MIB, 1), "realloc");
	free(block);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	/* "late": large pages are in use before. A first arena is made in either case, by its
	 * thread's first malloc, which reads /sys or /proc in libc itself. */
	if (argc > 1 && strcmp(argv[1], "late") == 0) {
		work();
		grow((void *)0);
	}
	pthread_create(&thread, NULL, grow, (void *)1);
	pthread_join(thread, NULL);
	v_ok(confine(), "confined");
	work();
	grow((void *)0);
	pthread_create(&thread, NULL, grow, (void *)1);
	pthread_join(thread, NULL);
	v_ok(true, "alive");
	return v_done();
}
