/* SPDX-License-Identifier: MIT */
/*
 * Trap: a program that closes 0, 1 and 2 at once and opens its own files there: a shim that opens
 * descriptors, or writes to 2 at exit, would corrupt them. The argument names the file that
 * becomes 2.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10), got[3];
	char *map, *block;

	close(0);
	close(1);
	close(2);
	map = v_map(8 * V_MIB);
	got[0] = open("/dev/null", O_RDONLY);
	block = malloc(8 * V_MIB);
	got[1] = open("/dev/null", O_WRONLY);
	v_fill(map, 1, 8 * V_MIB);
	v_fill(block, 1, 8 * V_MIB);
	for (int i = 0; i < 4000; i++)
		v_fill(malloc(1500), 1, 1500);
	got[2] = open(argc > 1 ? argv[1] : "/dev/null", O_WRONLY | O_APPEND);
	free(block);
	dup2(out, 1);
	v_ok(got[0] == 0 && got[1] == 1 && got[2] == 2, "the files became 0, 1 and 2");
	return v_done();
}
