/* SPDX-License-Identifier: MIT */
#ifndef PL_CONFIG_GLOB_H
#define PL_CONFIG_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `text` matches a pattern of `length` bytes: * any run, ? any byte. fnmatch(3) itself
 * reads the locale and may allocate. */
bool pl_glob_match(const char *pattern, size_t length, const char *text);

#endif
