/* SPDX-License-Identifier: MIT */
#include "config/glob.h"

bool pl_glob_match(const char *pattern, size_t length, const char *text)
{
	const char *end = pattern + length;
	const char *star = NULL;
	const char *retry = NULL;

	while (*text) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			retry = text;
		} else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}
