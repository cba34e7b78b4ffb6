/* SPDX-License-Identifier: MIT */
/* config: every option through the environment, as the constructor reads it. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/types.h"
#include "config/config.h"

static pl_config_t config;
static char complaint[4096];

static void complain(const char *message)
{
	snprintf(complaint, sizeof(complaint), "%s", message);
}

/* Parses up to three entries into `config`. Returns the number of complaints. */
static int parse(const char *one, const char *two, const char *three)
{
	const char *entries[] = { one, two, three, NULL };
	char *envp[4] = { NULL };
	int complaints;

	complaint[0] = '\0';
	for (int i = 0; entries[i]; i++)
		envp[i] = strdup(entries[i]);
	complaints = pl_config_parse(envp, complain, &config);
	for (int i = 0; envp[i]; i++)
		free(envp[i]);
	return complaints;
}

START_TEST(defaults)
{
	ck_assert_int_eq(pl_config_parse(NULL, complain, &config), 0);
	ck_assert_uint_eq(config.backend, PL_BACKEND_AUTO);
	ck_assert_uint_eq(config.segments, PL_SETS_ALL);
	ck_assert_uint_eq(config.min_size, 2 * PL_MIB);
	ck_assert_str_eq(config.exe, "");
	ck_assert_uint_eq(config.children, PL_CHILDREN_YES);
	ck_assert_str_eq(config.report, "");
	ck_assert_uint_eq(config.report_format, PL_FORMAT_TEXT);
	ck_assert_uint_eq(config.log, PL_LOG_WARN);
	ck_assert_uint_eq(config.strict, 0);
}
END_TEST

/* The words of a list stand for the values of its enum, in order. */
static const struct {
	const char *entry;
	size_t offset;
	unsigned int value;
} choices[] = {
	{ "PAGELIFT_BACKEND=auto", offsetof(pl_config_t, backend), PL_BACKEND_AUTO },
	{ "PAGELIFT_BACKEND=thp", offsetof(pl_config_t, backend), PL_BACKEND_THP },
	{ "PAGELIFT_BACKEND=base", offsetof(pl_config_t, backend), PL_BACKEND_BASE },
	{ "PAGELIFT_CHILDREN=yes", offsetof(pl_config_t, children), PL_CHILDREN_YES },
	{ "PAGELIFT_CHILDREN=no", offsetof(pl_config_t, children), PL_CHILDREN_NO },
	{ "PAGELIFT_CHILDREN=--", offsetof(pl_config_t, children), PL_CHILDREN_MARKED },
	{ "PAGELIFT_REPORT_FORMAT=text", offsetof(pl_config_t, report_format), PL_FORMAT_TEXT },
	{ "PAGELIFT_REPORT_FORMAT=json", offsetof(pl_config_t, report_format), PL_FORMAT_JSON },
	{ "PAGELIFT_LOG=error", offsetof(pl_config_t, log), PL_LOG_ERROR },
	{ "PAGELIFT_LOG=warn", offsetof(pl_config_t, log), PL_LOG_WARN },
	{ "PAGELIFT_LOG=info", offsetof(pl_config_t, log), PL_LOG_INFO },
	{ "PAGELIFT_LOG=debug", offsetof(pl_config_t, log), PL_LOG_DEBUG },
	{ "PAGELIFT_STRICT=no", offsetof(pl_config_t, strict), 0 },
	{ "PAGELIFT_STRICT=yes", offsetof(pl_config_t, strict), 1 },
	{ "PAGELIFT_SEGMENTS=heap", offsetof(pl_config_t, segments), PL_SET_HEAP },
	{ "PAGELIFT_SEGMENTS=mmap", offsetof(pl_config_t, segments), PL_SET_MMAP },
	{ "PAGELIFT_SEGMENTS=bss", offsetof(pl_config_t, segments), PL_SET_BSS },
	{ "PAGELIFT_SEGMENTS=bss,heap", offsetof(pl_config_t, segments), PL_SET_BSS | PL_SET_HEAP },
	{ "PAGELIFT_SEGMENTS=heap,heap", offsetof(pl_config_t, segments), PL_SET_HEAP },
	{ "PAGELIFT_SEGMENTS=shared", offsetof(pl_config_t, segments), PL_SET_SHARED },
	{ "PAGELIFT_SEGMENTS=shm", offsetof(pl_config_t, segments), PL_SET_SHM },
	{ "PAGELIFT_SEGMENTS=tmpfs", offsetof(pl_config_t, segments), PL_SET_TMPFS },
	{ "PAGELIFT_SEGMENTS=-heap", offsetof(pl_config_t, segments), PL_SETS_ALL & ~PL_SET_HEAP },
	{ "PAGELIFT_SEGMENTS=+heap", offsetof(pl_config_t, segments), PL_SETS_ALL },
	{ "PAGELIFT_SEGMENTS=-heap,-bss,-mmap", offsetof(pl_config_t, segments),
	  PL_SET_SHARED | PL_SET_SHM | PL_SET_TMPFS },
	{ "PAGELIFT_SEGMENTS=-bss,+bss", offsetof(pl_config_t, segments), PL_SETS_ALL },
	{ "PAGELIFT_PAGE_SIZE=auto", offsetof(pl_config_t, page_size), PL_PAGE_AUTO },
	{ "PAGELIFT_PAGE_SIZE=2M", offsetof(pl_config_t, page_size), PL_PAGE_2M },
	{ "PAGELIFT_PAGE_SIZE=1G", offsetof(pl_config_t, page_size), PL_PAGE_1G },
	{ "PAGELIFT_POPULATE=auto", offsetof(pl_config_t, populate), PL_POPULATE_AUTO },
	{ "PAGELIFT_POPULATE=eager", offsetof(pl_config_t, populate), PL_POPULATE_EAGER },
	{ "PAGELIFT_POPULATE=lazy", offsetof(pl_config_t, populate), PL_POPULATE_LAZY },
};

START_TEST(choices_and_sets)
{
	const void *field = (const char *)&config + choices[_i].offset;

	ck_assert_int_eq(parse(choices[_i].entry, NULL, NULL), 0);
	ck_assert_uint_eq(*(const unsigned int *)field, choices[_i].value);
}
END_TEST

static const char *const bad[] = {
	"PAGELIFT_BACKEND=",
	"PAGELIFT_BACKEND=AUTO",
	"PAGELIFT_BACKEND=auto|thp",
	"PAGELIFT_BACKEND=auto ",
	"PAGELIFT_BACKEND=huge",
	"PAGELIFT_BACKEND=aut",
	"PAGELIFT_SEGMENTS=",
	"PAGELIFT_SEGMENTS=,",
	"PAGELIFT_SEGMENTS=heap,",
	"PAGELIFT_SEGMENTS=heap,text",
	"PAGELIFT_SEGMENTS=+",
	"PAGELIFT_SEGMENTS=+heap,mmap",
	"PAGELIFT_SEGMENTS=heap,-mmap",
	"PAGELIFT_SEGMENTS=-heap,",
	"PAGELIFT_SEGMENTS=all",
	"PAGELIFT_SEGMENTS=heap|mmap",
	"PAGELIFT_MIN_SIZE=",
	"PAGELIFT_MIN_SIZE=K",
	"PAGELIFT_MIN_SIZE=-1",
	"PAGELIFT_MIN_SIZE=+4M",
	"PAGELIFT_MIN_SIZE= 4M",
	"PAGELIFT_MIN_SIZE=4MB",
	"PAGELIFT_MIN_SIZE=4T",
	"PAGELIFT_MIN_SIZE=0x200000",
	"PAGELIFT_MIN_SIZE=0",
	"PAGELIFT_MIN_SIZE=4095",
	"PAGELIFT_MIN_SIZE=3K",
	"PAGELIFT_MIN_SIZE=65G",
	"PAGELIFT_MIN_SIZE=68719476737",
	"PAGELIFT_MIN_SIZE=18446744073709551616",
	"PAGELIFT_MIN_SIZE=17179869184G",
	"PAGELIFT_MIN_SIZE=18446744073709555712",
	"PAGELIFT_MIN_SIZE=4M-8M",
	"PAGELIFT_CHILDREN=maybe",
	"PAGELIFT_CHILDREN=1",
	"PAGELIFT_REPORT_FORMAT=xml",
	"PAGELIFT_LOG=trace",
	"PAGELIFT_LOG=0",
	"PAGELIFT_STRICT=true",
	"PAGELIFT_REPORTS=x",
	"PAGELIFT_=x",
	"PAGELIFT_backend=thp",
	"PAGELIFT_BACKENDS=thp",
	"PAGELIFT_BACKEN=thp",
};

START_TEST(bad_entries_change_nothing)
{
	static pl_config_t untouched;

	ck_assert_int_eq(parse(NULL, NULL, NULL), 0);
	untouched = config;
	ck_assert_int_eq(parse(bad[_i], NULL, NULL), 1);
	ck_assert_mem_eq(&config, &untouched, sizeof(config));
	ck_assert_ptr_nonnull(strstr(complaint, "PAGELIFT_"));
	ck_assert_ptr_nonnull(strchr(complaint, ';'));
}
END_TEST

START_TEST(complaints_say_what_is_accepted)
{
	ck_assert_int_eq(parse("PAGELIFT_BACKEND=x", NULL, NULL), 1);
	ck_assert_str_eq(complaint,
			 "PAGELIFT_BACKEND=x is not one of auto|thp|base|hugetlb; using auto");
	ck_assert_int_eq(parse("PAGELIFT_FOO=x", NULL, NULL), 1);
#define OPTION(field, name, type, initial, accepted, help) \
	ck_assert_ptr_nonnull(strstr(complaint, " PAGELIFT_" name));
#include "config/options.def"
#undef OPTION
	ck_assert_int_eq(parse("PAGELIFT_FOO=x", "PAGELIFT_LOG=?", "PAGELIFT_STRICT=yes"), 2);
	ck_assert_uint_eq(config.strict, 1);
}
END_TEST

/* config.h: a message ends with its consequence, however long the value was. */
START_TEST(long_values_leave_the_consequence)
{
	static char entry[2000];

	memset(entry, 'x', sizeof(entry) - 1);
	memcpy(entry, "PAGELIFT_LOG=", 13);
	ck_assert_int_eq(parse(entry, NULL, NULL), 1);
	ck_assert_ptr_nonnull(strstr(complaint, "; using warn"));
}
END_TEST

START_TEST(long_names_leave_the_consequence)
{
	static char entry[2000];

	memset(entry, 'x', sizeof(entry) - 1);
	memcpy(entry, "PAGELIFT_FOO=", 13);
	ck_assert_int_eq(parse(entry, NULL, NULL), 1);
	ck_assert_ptr_nonnull(strstr(complaint, "ignored"));
}
END_TEST

static void check_size(const char *entry, uint64_t bytes)
{
	ck_assert_int_eq(parse(entry, NULL, NULL), 0);
	ck_assert_uint_eq(config.min_size, bytes);
}

START_TEST(sizes)
{
	check_size("PAGELIFT_MIN_SIZE=4096", 4096);
	check_size("PAGELIFT_MIN_SIZE=4K", 4096);
	check_size("PAGELIFT_MIN_SIZE=4k", 4096);
	check_size("PAGELIFT_MIN_SIZE=0004K", 4096);
	check_size("PAGELIFT_MIN_SIZE=3000000", 3000000);
	check_size("PAGELIFT_MIN_SIZE=7m", 7 * PL_MIB);
	check_size("PAGELIFT_MIN_SIZE=64G", 64 * PL_GIB);
	check_size("PAGELIFT_MIN_SIZE=68719476736", 64 * PL_GIB);
}
END_TEST

START_TEST(texts_up_to_their_limit)
{
	char entry[400] = "PAGELIFT_REPORT=";
	size_t start = strlen(entry);

	memset(entry + start, 'r', PL_OPTION_TEXT_MAX - 1);
	ck_assert_int_eq(parse(entry, NULL, NULL), 0);
	ck_assert_uint_eq(strlen(config.report), PL_OPTION_TEXT_MAX - 1);
	entry[start + PL_OPTION_TEXT_MAX - 1] = 'r';
	ck_assert_int_eq(parse(entry, NULL, NULL), 1);
	ck_assert_str_eq(config.report, "");
	ck_assert_int_eq(parse("PAGELIFT_REPORT=", NULL, NULL), 0);
	ck_assert_int_eq(parse("PAGELIFT_REPORT=a=b c", NULL, NULL), 0);
	ck_assert_str_eq(config.report, "a=b c");
}
END_TEST

START_TEST(not_ours)
{
	ck_assert_int_eq(parse("PAGELIFT_BACKEND", "PAGELIFT=x", "XPAGELIFT_BACKEND=x"), 0);
	ck_assert_int_eq(parse("HOME=/", "HUGETLB_MORECORE", "HUGETLB_FOO=1"), 0);
	ck_assert_uint_eq(config.backend, PL_BACKEND_AUTO);
}
END_TEST

START_TEST(aliases)
{
	ck_assert_int_eq(parse("HUGETLB_MORECORE=thp", NULL, NULL), 0);
	ck_assert_uint_eq(config.backend, PL_BACKEND_THP);
	ck_assert_int_eq(parse("HUGETLB_MORECORE=yes", "HUGETLB_MORECORE=2M", NULL), 0);
	ck_assert_uint_eq(config.backend, PL_BACKEND_AUTO);
	ck_assert_int_eq(parse("HUGETLB_MORECORE=base", NULL, NULL), 0);
	ck_assert_uint_eq(config.backend, PL_BACKEND_AUTO);
	ck_assert_int_eq(parse("HUGETLB_MORECORE_HEAPBASE=thp", NULL, NULL), 0);
	ck_assert_uint_eq(config.backend, PL_BACKEND_AUTO);
	ck_assert_int_eq(parse("HUGETLB_RESTRICT_EXE=a:b", NULL, NULL), 0);
	ck_assert_str_eq(config.exe, "a:b");
	ck_assert_int_eq(parse("HUGETLB_DEFAULT_PAGE_SIZE=1G", NULL, NULL), 0);
	ck_assert_uint_eq(config.page_size, PL_PAGE_1G);
	ck_assert_int_eq(parse("HUGETLB_DEFAULT_PAGE_SIZE=16M", NULL, NULL), 0);
	ck_assert_uint_eq(config.page_size, PL_PAGE_AUTO);
}
END_TEST

START_TEST(our_names_win_over_aliases)
{
	ck_assert_int_eq(parse("HUGETLB_MORECORE=thp", "PAGELIFT_BACKEND=base", NULL), 0);
	ck_assert_uint_eq(config.backend, PL_BACKEND_BASE);
	ck_assert_int_eq(parse("PAGELIFT_BACKEND=base", "HUGETLB_MORECORE=thp", NULL), 0);
	ck_assert_uint_eq(config.backend, PL_BACKEND_BASE);
	ck_assert_int_eq(parse("PAGELIFT_EXE=x", "HUGETLB_RESTRICT_EXE=y", NULL), 0);
	ck_assert_str_eq(config.exe, "x");
}
END_TEST

/* The complaint tells the value that is in force. */
START_TEST(bad_value_beside_an_alias)
{
	ck_assert_int_eq(parse("HUGETLB_MORECORE=thp", "PAGELIFT_BACKEND=x", NULL), 1);
	ck_assert_ptr_nonnull(strstr(complaint, "; using "));
	ck_assert_str_eq(strstr(complaint, "; using ") + strlen("; using "),
			 pl_config_backend_name(&config));
}
END_TEST

START_TEST(backend_names)
{
	static const char *const names[] = { "auto", "thp", "base", "hugetlb", "?" };

	for (unsigned int i = 0; i < PL_ARRAY_LEN(names); i++) {
		config.backend = i;
		ck_assert_str_eq(pl_config_backend_name(&config), names[i]);
	}
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("config");
	TCase *cases = tcase_create("parse");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, defaults);
	tcase_add_loop_test(cases, choices_and_sets, 0, PL_ARRAY_LEN(choices));
	tcase_add_loop_test(cases, bad_entries_change_nothing, 0, PL_ARRAY_LEN(bad));
	tcase_add_test(cases, complaints_say_what_is_accepted);
	tcase_add_test(cases, long_values_leave_the_consequence);
	tcase_add_test(cases, long_names_leave_the_consequence);
	tcase_add_test(cases, sizes);
	tcase_add_test(cases, texts_up_to_their_limit);
	tcase_add_test(cases, not_ours);
	tcase_add_test(cases, aliases);
	tcase_add_test(cases, our_names_win_over_aliases);
	tcase_add_test(cases, bad_value_beside_an_alias);
	tcase_add_test(cases, backend_names);
	suite_add_tcase(suite, cases);
	return suite;
}
