/* SPDX-License-Identifier: MIT */
/*
 * Trap: memory calls before the shim's constructor: from the constructor of a needed library
 * (early.c), and from an IFUNC resolver, which runs while the program is still being relocated.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BIG (10 * V_MIB)

extern char *early_map, *early_block;
extern int early_env;

#if defined(__x86_64__)
static char *resolver_map;

static int answer(void)
{
	return 42;
}

__attribute__((no_stack_protector)) static int (*resolve(void))(void)
{
	resolver_map = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (resolver_map != MAP_FAILED)
		resolver_map[BIG - 1] = 7;
	return answer;
}

int resolved(void) __attribute__((ifunc("resolve")));

static void check_resolver(void)
{
	v_ok(resolved() == 42, "the resolver ran");
	v_ok(resolver_map && resolver_map != MAP_FAILED && resolver_map[BIG - 1] == 7,
	     "its map holds");
	v_ok(munmap(resolver_map, BIG) == 0, "and can be unmapped");
}
#else
static void check_resolver(void)
{
}
#endif

int main(void)
{
	check_resolver();
	v_ok(early_env == 1, "getenv in the library's constructor");
	v_ok(v_holds(early_map, BIG, 0x11), "the library's map holds");
	v_ok(v_holds(early_block, BIG, 0x22), "the library's block holds");
	early_block = realloc(early_block, 3 * BIG);
	v_ok(v_holds(early_block, BIG, 0x22), "and after realloc");
	free(early_block);
	v_ok(mprotect(early_map + V_PAGE, V_PAGE, PROT_NONE) == 0,
	     "mprotect within the library's map");
	v_ok(v_fault(early_map + V_PAGE, true, NULL) != 0, "which is guarded");
	v_ok(munmap(early_map, BIG) == 0, "munmap of the library's map");
	return v_done();
}
