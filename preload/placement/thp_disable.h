/* SPDX-License-Identifier: MIT */
/*
 * prctl(PR_SET_THP_DISABLE) by the program itself (MariaDB; Redis where THP is "always"): its wish
 * is kept for all memory but what is advised, where the kernel can (Linux 6.18,
 * PR_THP_DISABLE_EXCEPT_ADVISED). Other prctl calls are none of ours.
 */
#ifndef PL_PLACEMENT_THP_DISABLE_H
#define PL_PLACEMENT_THP_DISABLE_H

/* Returns what prctl(2) returns, or a negative errno. The caller is inside pl_enter(). */
long pl_thp_disable_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
			  unsigned long d);

#endif
