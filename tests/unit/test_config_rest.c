/* SPDX-License-Identifier: MIT */
/* config: globs, the choice of programs, the mark for children, the echo, the manual page. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/types.h"
#include "config/config.h"
#include "config/glob.h"

static const struct {
	const char *pattern;
	const char *text;
	bool matches;
} globs[] = {
	{ "", "", true },
	{ "", "a", false },
	{ "a", "", false },
	{ "*", "", true },
	{ "*", "anything", true },
	{ "**", "", true },
	{ "?", "", false },
	{ "?", "a", true },
	{ "?", "ab", false },
	{ "a*", "a", true },
	{ "a*b", "ab", true },
	{ "a*b", "axxb", true },
	{ "a*b", "axxc", false },
	{ "*a*", "xxaxx", true },
	{ "*ab", "aab", true },
	{ "*aab", "aaaab", true },
	{ "a?c", "abc", true },
	{ "a?c", "ac", false },
	{ "*.so", "libx.so", true },
	{ "*.so", "libx.so.1", false },
	{ "a*b*c", "abbbc", true },
	{ "a*b*c", "abbb", false },
	{ "[ab]", "a", false },
	{ "[ab]", "[ab]", true },
	{ "/usr/*/x", "/usr/a/b/x", true },
	{ "\\*", "*", false },
	{ "java?", "java", false },
};

START_TEST(glob_table)
{
	const char *pattern = globs[_i].pattern;

	ck_assert_int_eq(pl_glob_match(pattern, strlen(pattern), globs[_i].text),
			 globs[_i].matches);
}
END_TEST

START_TEST(glob_stops_at_its_length)
{
	ck_assert(pl_glob_match("abc:def", 3, "abc"));
	ck_assert(!pl_glob_match("abc:def", 3, "abc:def"));
	ck_assert(pl_glob_match("a**", 2, "ax"));
	ck_assert(!pl_glob_match("a*", 1, "ax"));
}
END_TEST

/* Exponential matchers take for ever here. */
START_TEST(glob_is_not_exponential)
{
	char text[201];

	memset(text, 'a', 200);
	text[200] = '\0';
	ck_assert(!pl_glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", 32, text));
}
END_TEST

static const struct {
	const char *list;
	const char *path;
	bool wanted;
} programs[] = {
	{ "", "/usr/bin/redis-server", true },
	{ "", "", true },
	{ "redis-server", "/usr/bin/redis-server", true },
	{ "redis", "/usr/bin/redis-server", false },
	{ "redis*", "/usr/bin/redis-server", true },
	{ "bin", "/usr/bin/redis-server", false },
	{ "java:redis*", "/usr/bin/redis-server", true },
	{ "redis*:java", "/usr/bin/redis-server", true },
	{ "a:b:c", "/usr/bin/redis-server", false },
	{ "/usr/bin/*", "/usr/bin/redis-server", true },
	{ "/opt/*", "/usr/bin/redis-server", false },
	{ "*/redis-server", "/usr/bin/redis-server", true },
	{ "/usr/bin/redis-server", "/usr/bin/redis-server", true },
	{ "::", "/usr/bin/redis-server", false },
	{ "redis-server:", "/usr/bin/redis-server", true },
	{ "*", "", true },
	{ "x", "", false },
	{ "plain", "plain", true },
};

START_TEST(programs_by_glob)
{
	pl_config_t config = { 0 };

	snprintf(config.exe, sizeof(config.exe), "%s", programs[_i].list);
	ck_assert_int_eq(pl_config_wants_exe(&config, programs[_i].path), programs[_i].wanted);
}
END_TEST

START_TEST(children_are_marked_in_place)
{
	char home[] = "HOME=/";
	char no[] = "PAGELIFT_CHILDREN=no";
	char nothing[] = "PAGELIFT_CHILDREN=nothing";
	char *envp[] = { home, nothing, no, NULL };
	char *other[] = { home, nothing, NULL };
	pl_config_t config;

	ck_assert(pl_config_mark_children(envp));
	ck_assert_ptr_eq(envp[2], no);
	ck_assert_str_eq(no, "PAGELIFT_CHILDREN=--");
	ck_assert_str_eq(nothing, "PAGELIFT_CHILDREN=nothing");
	ck_assert(!pl_config_mark_children(envp));
	ck_assert(!pl_config_mark_children(other));
	ck_assert(!pl_config_mark_children(NULL));
	envp[1] = no;
	envp[2] = NULL;
	ck_assert_int_eq(pl_config_parse(envp, NULL, &config), 0);
	ck_assert_uint_eq(config.children, PL_CHILDREN_MARKED);
}
END_TEST

static char echoed[4096];

static void show(const char *name, const char *value)
{
	size_t used = strlen(echoed);

	snprintf(echoed + used, sizeof(echoed) - used, "%s=%s\n", name, value);
}

START_TEST(echo_shows_the_defaults)
{
	pl_config_t config;

	pl_config_parse(NULL, NULL, &config);
	pl_config_echo(&config, show);
	ck_assert_str_eq(echoed,
			 "BACKEND=auto\nPAGE_SIZE=auto\nSEGMENTS=heap,mmap,bss,shared,shm,tmpfs\n"
			 "MAX_BYTES=0\nKEEP_FREE=0\nHUGETLBFS=\nPOPULATE=auto\n"
			 "MIN_SIZE=2097152\nEXE=\n"
			 "CHILDREN=yes\nREPORT=\nREPORT_FORMAT=text\nLOG=warn\nSTRICT=no\n");
}
END_TEST

/* What the echo shows is what the variable takes. */
START_TEST(echo_can_be_parsed_again)
{
	static char entries[16][PL_OPTION_TEXT_MAX + 32];
	char *envp[17] = { NULL };
	pl_config_t config;
	pl_config_t again;
	size_t count = 0;
	char long_exe[PL_OPTION_TEXT_MAX];

	memset(long_exe, 'e', sizeof(long_exe) - 1);
	long_exe[sizeof(long_exe) - 1] = '\0';
	pl_config_parse(NULL, NULL, &config);
	config.backend = PL_BACKEND_BASE;
	config.segments = PL_SET_BSS | PL_SET_HEAP;
	config.min_size = 64 * PL_GIB;
	config.children = PL_CHILDREN_MARKED;
	config.report_format = PL_FORMAT_JSON;
	memcpy(config.exe, long_exe, sizeof(long_exe));
	pl_config_echo(&config, show);
	for (char *line = strtok(echoed, "\n"); line; line = strtok(NULL, "\n")) {
		snprintf(entries[count], sizeof(entries[count]), "PAGELIFT_%s", line);
		envp[count] = entries[count];
		count++;
	}
	ck_assert_int_eq(pl_config_parse(envp, NULL, &again), 0);
	ck_assert_mem_eq(&again, &config, sizeof(config));
}
END_TEST

static char manual[65536];

/* The page escapes hyphens and may put a zero-width \& in front of a word. */
static bool read_manual(void)
{
	FILE *file = fopen(PL_SRC "/preload/pagelift.7", "r");
	size_t length = 0;
	int byte;

	if (!file)
		return false;
	while ((byte = getc(file)) != EOF && length < sizeof(manual) - 1)
		if (byte != '\\' && byte != '&')
			manual[length++] = (char)byte;
	fclose(file);
	return true;
}

START_TEST(every_option_is_documented)
{
	if (!read_manual())
		return;
#define OPTION(field, name, type, initial, accepted, help) \
	ck_assert_msg(strstr(manual, "PAGELIFT_" name) != NULL, "PAGELIFT_%s", name);
#include "config/options.def"
#undef OPTION
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("config rest");
	TCase *cases = tcase_create("rest");

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, glob_table, 0, PL_ARRAY_LEN(globs));
	tcase_add_test(cases, glob_stops_at_its_length);
	tcase_add_test(cases, glob_is_not_exponential);
	tcase_add_loop_test(cases, programs_by_glob, 0, PL_ARRAY_LEN(programs));
	tcase_add_test(cases, children_are_marked_in_place);
	tcase_add_test(cases, echo_shows_the_defaults);
	tcase_add_test(cases, echo_can_be_parsed_again);
	tcase_add_test(cases, every_option_is_documented);
	suite_add_tcase(suite, cases);
	return suite;
}
