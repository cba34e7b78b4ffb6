/* SPDX-License-Identifier: MIT */
/*
 * Runs a program under a restriction that is inherited: launch WAY PROGRAM ARGS... . Ways: mdwe
 * (memory deny write execute), noexec (a filter that refuses mprotect with PROT_EXEC), nothp (THP
 * disabled). Exit status 77: the kernel does not have it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

static int forbid_mprotect_exec(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 0, 3),
		LOAD(args[2]), /* the low half: little endian */
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int restrict_by(const char *way)
{
	if (strcmp(way, "mdwe") == 0)
		return prctl(PR_SET_MDWE, 1L, 0L, 0L, 0L);
	if (strcmp(way, "noexec") == 0)
		return forbid_mprotect_exec();
	if (strcmp(way, "nothp") == 0)
		return prctl(PR_SET_THP_DISABLE, 1L, 0L, 0L, 0L);
	errno = EINVAL;
	return -1;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (restrict_by(argv[1]) != 0) {
		perror(argv[1]);
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
