/* SPDX-License-Identifier: MIT */
/*
 * prctl(2) calls of the program that matter to placement; all others go on unchanged.
 *
 * PR_SET_THP_DISABLE (MariaDB; Redis where THP is "always"): the wish is kept for all memory but
 * what is advised, where the kernel can (Linux 6.18, PR_THP_DISABLE_EXCEPT_ADVISED).
 * PR_SET_SECCOMP, and PR_SET_NO_NEW_PRIVS that comes before it: a filter may kill for a system call
 * that the program itself never makes (OpenSSH's lists the madvise values), so from here on none of
 * ours is made.
 */
#ifndef PL_PLACEMENT_PROCESS_CONTROL_H
#define PL_PLACEMENT_PROCESS_CONTROL_H

/* Returns what prctl(2) returns, or a negative errno. The caller is inside pl_enter(). */
long pl_process_control(int option, unsigned long a, unsigned long b, unsigned long c,
			unsigned long d);

#endif
