/* SPDX-License-Identifier: MIT */
/*
 * A library whose constructor maps, mallocs and reads the environment, built for victim "ctor"
 * and also preloaded next to the shim: it may run before the shim's own constructor.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BIG ((size_t)10 << 20)

char *early_map, *early_block;
int early_env;

static __attribute__((constructor)) void early_start(void)
{
	early_map = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	early_block = malloc(BIG);
	if (early_map == MAP_FAILED || !early_block)
		_exit(90);
	memset(early_map, 0x11, BIG);
	memset(early_block, 0x22, BIG);
	for (int i = 0; i < 4000; i++)
		memset(malloc(1500), 0x33, 1500);
	early_env = getenv("PATH") ? 1 : 0;
}
