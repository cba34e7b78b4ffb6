/* SPDX-License-Identifier: MIT */
/*
 * Trap: children that share the memory (vfork, posix_spawn, clone with CLONE_VM) or skip the fork
 * handlers (_Fork, raw clone). What a vfork child maps and unmaps is the parent's.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIG (6 * V_MIB)

static char *volatile made;
static char *volatile taken;
extern char **environ;

static int status_of(pid_t pid)
{
	int status = -1;

	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

static int clone_child(void *arg)
{
	(void)arg;
	munmap(taken, BIG);
	made = v_map(BIG);
	made[0] = 4;
	_exit(0);
}

static void prepare(void)
{
	taken = v_map(BIG);
	v_stamp(taken, BIG, 1);
	made = NULL;
}

static void check_shared(const char *name, int status)
{
	char *block;

	v_ok(status == 0, "%s: child", name);
	v_ok(made && made[0] == 4, "%s: its map is ours", name);
	v_ok(made == taken ||
		     v_fault(made < taken ? taken + BIG - 1 : taken, false, NULL) == SIGSEGV,
	     "%s: what it unmapped is gone", name);
	v_ok(munmap(made, BIG) == 0, "%s: munmap", name);
	block = malloc(BIG);
	v_fill(block, 1, BIG);
	free(block);
}

static void by_vfork(void)
{
	pid_t pid;

	prepare();
	pid = vfork();
	if (pid == 0) {
		munmap(taken, BIG);
		made = v_map(BIG);
		if (made)
			made[0] = 4;
		_exit(0);
	}
	check_shared("vfork", status_of(pid));
	pid = vfork();
	if (pid == 0) {
		munmap(v_map(BIG), BIG);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	v_ok(status_of(pid) == 0, "vfork and exec");
}

static void by_clone(void)
{
	char *stack = malloc(256 * V_KIB);

	prepare();
	check_shared("clone vm vfork", status_of(clone(clone_child, stack + 256 * V_KIB,
						       CLONE_VM | CLONE_VFORK | SIGCHLD, NULL)));
	free(stack);
}

static void by_spawn(void)
{
	char name[] = "sh", option[] = "-c", script[] = "exit 7";
	char *argv[] = { name, option, script, NULL };
	int status, bad = 0;
	pid_t pid;

	for (int i = 0; i < 20; i++) {
		char *p = v_map(BIG);

		v_stamp(p, BIG, (uint64_t)i);
		if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) != 0)
			pid = -1;
		status = status_of(pid);
		bad += !WIFEXITED(status) || WEXITSTATUS(status) != 7 ||
		       !v_stamped(p, BIG, (uint64_t)i);
		munmap(p, BIG);
	}
	v_ok(bad == 0, "posix_spawn, 20 times");
	v_ok(system("exit 3") == 3 << 8, "system");
}

static int copy_child(void)
{
	char *p = v_map(BIG);
	bool good = p && v_stamped(taken, BIG, 1);

	v_stamp(p, BIG, 2);
	v_stamp(taken, BIG, 3);
	for (size_t i = 0; i < 3000; i++)
		v_fill(malloc(1500), 1, 1500);
	good &= v_stamped(p, BIG, 2) && v_stamped(taken, BIG, 3) && munmap(p, BIG) == 0;
	return good ? 0 : 1;
}

static void check_copy(const char *name, pid_t pid)
{
	if (pid == 0)
		_exit(copy_child());
	v_ok(status_of(pid) == 0, "%s: child", name);
	v_ok(v_stamped(taken, BIG, 1), "%s: our memory", name);
}

int main(void)
{
	v_watchdog(60);
	by_vfork();
	by_clone();
	by_spawn();
	prepare();
	check_copy("fork", fork());
#if __GLIBC_PREREQ(2, 34)
	check_copy("_Fork", _Fork());
#endif
#if defined(__x86_64__) || defined(__aarch64__)
	check_copy("raw clone", (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
#endif
	return v_done();
}
