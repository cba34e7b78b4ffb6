/* SPDX-License-Identifier: MIT */
/*
 * Trap: a program (MariaDB, Redis) that disables large pages for itself. It must see the answers
 * of prctl that it would see without us; the figures tell whether memory mapped after it is still
 * placed.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define BIG (32 * V_MIB)

static void show(const char *when)
{
	char *p = v_map(BIG);

	v_stamp(p, BIG, 1);
	v_say("# %s AnonHugePages %ld", when, v_range_kb(p, BIG, "AnonHugePages"));
	v_ok(v_stamped(p, BIG, 1), "%s: contents", when);
	munmap(p, BIG);
}

int main(void)
{
	v_say("get: %d", prctl(PR_GET_THP_DISABLE, 0L, 0L, 0L, 0L));
	show("before");
	v_outcome("set 1", prctl(PR_SET_THP_DISABLE, 1L, 0L, 0L, 0L) == 0);
	v_say("get: %d", prctl(PR_GET_THP_DISABLE, 0L, 0L, 0L, 0L));
	show("disabled");
	v_outcome("set 1 again", prctl(PR_SET_THP_DISABLE, 1L, 0L, 0L, 0L) == 0);
	v_say("get: %d", prctl(PR_GET_THP_DISABLE, 0L, 0L, 0L, 0L));
	v_outcome("set 0", prctl(PR_SET_THP_DISABLE, 0L, 0L, 0L, 0L) == 0);
	v_say("get: %d", prctl(PR_GET_THP_DISABLE, 0L, 0L, 0L, 0L));
	show("enabled");
	/* Flag 2 is "except where advised" (kernel 6.18); the rest are errors everywhere. */
	v_outcome("set 1 except advised", prctl(PR_SET_THP_DISABLE, 1L, 2L, 0L, 0L) == 0);
	v_say("get: %d", prctl(PR_GET_THP_DISABLE, 0L, 0L, 0L, 0L));
	v_outcome("set 0", prctl(PR_SET_THP_DISABLE, 0L, 0L, 0L, 0L) == 0);
	v_outcome("set 0 with a flag", prctl(PR_SET_THP_DISABLE, 0L, 2L, 0L, 0L) == 0);
	v_outcome("set 1 with 64", prctl(PR_SET_THP_DISABLE, 1L, 64L, 0L, 0L) == 0);
	v_outcome("set 1 with a third", prctl(PR_SET_THP_DISABLE, 1L, 0L, 1L, 0L) == 0);
	v_outcome("get with an argument", prctl(PR_GET_THP_DISABLE, 1L, 0L, 0L, 0L) >= 0);
	v_say("get: %d", prctl(PR_GET_THP_DISABLE, 0L, 0L, 0L, 0L));
	v_outcome("another prctl", prctl(PR_SET_NAME, "renamed", 0, 0, 0) == 0);
	v_outcome("an unknown prctl", prctl(987654, 0L, 0L, 0L, 0L) == 0);
	return v_done();
}
