/* SPDX-License-Identifier: MIT */
/* Trap: a program that executes itself: 5 times in the same process, each time with memory in
 * use. */
#define _GNU_SOURCE
#include "victim.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 5;
	char number[16], *next[] = { argv[0], number, NULL };
	char *map = v_map(10 * V_MIB), *block = malloc(10 * V_MIB);

	v_stamp(map, 10 * V_MIB, 1);
	v_stamp(block, 10 * V_MIB, 2);
	for (int i = 0; i < 3000; i++)
		v_fill(malloc(1500), 1, 1500);
	v_ok(v_stamped(map, 10 * V_MIB, 1) && v_stamped(block, 10 * V_MIB, 2), "%d left", left);
	if (left > 0) {
		snprintf(number, sizeof(number), "%d", left - 1);
		execv("/proc/self/exe", next);
		v_ok(false, "exec");
	}
	return v_done();
}
