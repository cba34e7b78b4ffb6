/* SPDX-License-Identifier: MIT */
/* report: both forms, written to a pipe with a registry that has something to tell. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/types.h"
#include "report/counters.h"
#include "report/report.h"

static const uintptr_t page = 2 * PL_MIB;
static pl_config_t config;
static pl_facts_t facts = { .thp_mode = PL_THP_MADVISE, .large_page = 2 * PL_MIB };
static pl_report_header_t header = { .config = &config,
				     .facts = &facts,
				     .exe = "/usr/bin/program",
				     .condition = "ok",
				     .pid = 4321 };
static uintptr_t start;

static void add(uintptr_t at, size_t length, pl_kind_t kind, pl_reason_t reason)
{
	ck_assert(pl_registry_add(&(pl_segment_t){ .range = pl_range(at, at + length),
						   .asked = length - 100,
						   .kind = kind,
						   .reason = reason }));
}

/* A map of four blocks, two of them touched; a reservation behind; a chunk that was closed. */
static void populate(void)
{
	void *at = mmap(NULL, 17 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	start = pl_round_up((uintptr_t)at, page);
	/* An entry of smaps of its own: that is all that kernels before 6.7 tell. */
	ck_assert_int_eq(mprotect((void *)start, 4 * page, PROT_READ | PROT_WRITE), 0);
	memset((void *)start, 1, 2 * page);
	add(start, 4 * page, PL_KIND_MAP, PL_REASON_PLACED);
	add(start + 8 * page, 4 * page, PL_KIND_RESERVE, PL_REASON_THP_NEVER);
	add(start + 13 * page, 2 * page, PL_KIND_CHUNK, PL_REASON_PLACED);
	pl_collect_closing(pl_range(start + 13 * page, start + 15 * page), page);
	pl_registry_remove(pl_range(start + 13 * page, start + 15 * page));
	pl_count(PL_COUNTER_MAP_DECIDED);
	pl_count(PL_COUNTER_MAP_DECIDED);
	pl_count_reason(PL_REASON_PLACED);
	pl_count_reason(PL_REASON_TOO_SMALL);
}

/* Writes the report to a file without a name and returns its text. */
static char *written(unsigned int form)
{
	static char got[1 << 20];
	FILE *file = tmpfile();
	ssize_t length;

	ck_assert_ptr_nonnull(file);
	config.report_format = form;
	ck_assert_int_eq(pl_report_write(&header, fileno(file)), 0);
	length = pread(fileno(file), got, sizeof(got) - 1, 0);
	ck_assert_int_gt(length, 0);
	got[length] = '\0';
	fclose(file);
	return got;
}

static json_t *parsed(void)
{
	char *text = written(PL_FORMAT_JSON);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(root != NULL, "%s at %d", error.text, error.position);
	ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
	return root;
}

static json_int_t number(const json_t *object, const char *name)
{
	ck_assert_msg(json_is_integer(json_object_get(object, name)), "%s", name);
	return json_integer_value(json_object_get(object, name));
}

static void check_string(const json_t *object, const char *name, const char *expected)
{
	ck_assert_msg(json_is_string(json_object_get(object, name)), "%s", name);
	ck_assert_str_eq(json_string_value(json_object_get(object, name)), expected);
}

static void check_usage(const json_t *object)
{
	const json_t *coverage = json_object_get(object, "coverage");
	json_int_t resident = number(object, "resident");

	ck_assert_int_le(number(object, "large"), resident);
	ck_assert(resident ? json_is_real(coverage) : json_is_null(coverage));
	if (resident)
		ck_assert_double_le(json_real_value(coverage), 1.0);
}

START_TEST(json_header)
{
	json_t *root = parsed();
	json_t *redirect = json_object_get(root, "redirect");
	json_t *thp = json_object_get(root, "thp");

	check_string(root, "pagelift", PACKAGE_VERSION);
	ck_assert_int_eq(number(root, "pid"), 4321);
	check_string(root, "exe", "/usr/bin/program");
	check_string(root, "backend", "auto");
	ck_assert_int_eq(number(root, "page_size"), 2097152);
	ck_assert(json_is_true(json_object_get(redirect, "done")));
	check_string(redirect, "condition", "ok");
	check_string(thp, "enabled", "madvise");
	ck_assert_int_eq(number(thp, "disabled"), 0);
	json_decref(root);
}
END_TEST

START_TEST(json_segments)
{
	json_t *root = parsed();
	json_t *segments = json_object_get(root, "segments");
	json_t *first = json_array_get(segments, 0);
	json_t *second = json_array_get(segments, 1);
	char address[32];

	ck_assert_uint_eq(json_array_size(segments), 2);
	check_string(first, "kind", "map");
	snprintf(address, sizeof(address), "0x%lx", (unsigned long)start);
	check_string(first, "start", address);
	ck_assert_int_eq(number(first, "length"), (json_int_t)(4 * page));
	ck_assert_int_eq(number(first, "asked"), (json_int_t)(4 * page - 100));
	check_string(first, "reason", "placed");
	check_usage(first);
	ck_assert_int_eq(number(first, "resident"), (json_int_t)(2 * page));
	check_string(second, "kind", "reserve");
	check_string(second, "reason", "thp-never");
	check_usage(second);
	json_decref(root);
}
END_TEST

START_TEST(json_totals)
{
	json_t *root = parsed();
	json_t *kinds = json_object_get(root, "kinds");
	json_t *process = json_object_get(root, "process");
	json_int_t resident = 0;
	json_t *kind;
	size_t i;

	ck_assert_uint_eq(json_array_size(kinds), 3);
	json_array_foreach(kinds, i, kind)
	{
		check_usage(kind);
		resident += number(kind, "resident");
		ck_assert_int_eq(number(kind, "live") + number(kind, "closed"), 1);
	}
	ck_assert_int_eq(number(json_object_get(root, "total"), "resident"), resident);
	check_usage(json_object_get(root, "total"));
	if (!json_is_null(process))
		ck_assert_int_ge(number(process, "anonymous"), number(process, "anonymous_large"));
	json_decref(root);
}
END_TEST

START_TEST(json_counters_and_reasons)
{
	json_t *root = parsed();
	json_t *counters = json_object_get(root, "counters");
	json_t *reasons = json_object_get(root, "reasons");

	ck_assert_uint_eq(json_object_size(counters), PL_COUNTERS);
	ck_assert_int_eq(number(counters, "map_decided"), 2);
	ck_assert_int_eq(number(counters, "brk_calls"), 0);
	ck_assert_uint_eq(json_object_size(reasons), 2);
	ck_assert_int_eq(number(reasons, "placed"), 1);
	ck_assert_int_eq(number(reasons, "too-small"), 1);
	json_decref(root);
}
END_TEST

START_TEST(json_of_nothing)
{
	json_t *root;

	pl_registry_remove(pl_range(0, UINTPTR_MAX));
	header.condition = "not-libc";
	facts = (pl_facts_t){ .thp_disabled = -1 };
	root = parsed();
	ck_assert_uint_eq(json_array_size(json_object_get(root, "segments")), 0);
	ck_assert(json_is_false(json_object_get(json_object_get(root, "redirect"), "done")));
	check_string(json_object_get(root, "redirect"), "condition", "not-libc");
	check_string(json_object_get(root, "thp"), "enabled", "unknown");
	ck_assert_int_eq(number(json_object_get(root, "thp"), "disabled"), -1);
	ck_assert_int_eq(number(root, "page_size"), 0);
	json_decref(root);
}
END_TEST

START_TEST(json_escapes_the_path)
{
	json_t *root;

	header.exe = "/tmp/a \"quoted\" \\ path\n\x01 \xc3\xa4";
	root = parsed();
	check_string(root, "exe", header.exe);
	json_decref(root);
}
END_TEST

/* A path is bytes; JSON is UTF-8 (RFC 8259, 8.1). */
START_TEST(json_stays_valid_with_any_path)
{
	header.exe = "/tmp/caf\xe9 \xff\xc3";
	json_decref(parsed());
}
END_TEST

START_TEST(json_of_many_segments)
{
	json_t *root;

	for (size_t i = 0; i < 500; i++)
		add((1UL << 30) + 2 * i * page, page, i % PL_KINDS, i % PL_REASONS);
	root = parsed();
	ck_assert_uint_eq(json_array_size(json_object_get(root, "segments")), 502);
	json_decref(root);
}
END_TEST

START_TEST(text_form)
{
	const char *text = written(PL_FORMAT_TEXT);

	ck_assert_ptr_nonnull(strstr(text, "pagelift " PACKAGE_VERSION
					   ": /usr/bin/program (pid 4321), backend auto\n"));
	ck_assert_ptr_nonnull(strstr(text, "transparent huge pages: madvise; large page 2048 KiB"));
	ck_assert_ptr_nonnull(strstr(text, "calls inside libc: seen (entries redirected)\n"));
	ck_assert_ptr_nonnull(strstr(text, "kind         live   closed"));
	ck_assert_ptr_nonnull(strstr(text, "  total "));
	ck_assert_ptr_nonnull(strstr(text, "segment  start"));
	ck_assert_ptr_nonnull(strstr(text, "thp-never\n"));
	ck_assert_ptr_nonnull(strstr(text, "placed 1 too-small 1\n"));
}
END_TEST

START_TEST(text_form_says_what_is_off)
{
	facts.thp_disabled = 3;
	header.condition = "too-short";
	ck_assert_ptr_nonnull(
		strstr(written(PL_FORMAT_TEXT), "disabled by prctl but for advised memory"));
	facts.thp_disabled = 1;
	ck_assert_ptr_nonnull(strstr(written(PL_FORMAT_TEXT), "madvise, disabled by prctl; "));
	ck_assert_ptr_nonnull(strstr(written(PL_FORMAT_TEXT), "calls inside libc: too-short\n"));
}
END_TEST

START_TEST(write_errors_come_back)
{
	int full = open("/dev/full", O_WRONLY);

	ck_assert_int_eq(pl_report_write(&header, 1 << 20), -EBADF);
	if (full >= 0)
		ck_assert_int_eq(pl_report_write(&header, full), -ENOSPC);
}
END_TEST

START_TEST(counter_names_are_distinct)
{
	for (pl_counter_t i = 0; i < PL_COUNTERS; i++)
		for (pl_counter_t j = 0; j < i; j++)
			ck_assert_str_ne(pl_counter_name(i), pl_counter_name(j));
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("report");
	TCase *cases = tcase_create("forms");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, populate, NULL);
	tcase_add_test(cases, json_header);
	tcase_add_test(cases, json_segments);
	tcase_add_test(cases, json_totals);
	tcase_add_test(cases, json_counters_and_reasons);
	tcase_add_test(cases, json_of_nothing);
	tcase_add_test(cases, json_escapes_the_path);
	tcase_add_test(cases, json_stays_valid_with_any_path);
	tcase_add_test(cases, json_of_many_segments);
	tcase_add_test(cases, text_form);
	tcase_add_test(cases, text_form_says_what_is_off);
	tcase_add_test(cases, write_errors_come_back);
	tcase_add_test(cases, counter_names_are_distinct);
	suite_add_tcase(suite, cases);
	return suite;
}
