/* SPDX-License-Identifier: MIT */
/* Finds the shim that belongs to this pagelift. */
#ifndef PL_TOOLS_SHIM_H
#define PL_TOOLS_SHIM_H

#include "tools/elf_inspect.h"

/*
 * The absolute path of libpagelift.so, in new memory: `library` if that is not NULL, else beside
 * the program (../lib/pagelift), else where configure put it. NULL, after a message, when there is
 * none that ld.so could load by LD_PRELOAD.
 */
char *pl_shim_find(const char *library, pl_elf_t *ret_elf);

#endif
