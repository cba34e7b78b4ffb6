/* SPDX-License-Identifier: MIT */
/* base/text: held against snprintf wherever the two have the same form. */
#include "harness.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/types.h"

#define SAME(...)                                              \
	do {                                                   \
		char ours[256];                                \
		char theirs[256];                              \
		pl_text_t text = PL_TEXT_INIT(ours, -1);       \
		pl_text_format(&text, __VA_ARGS__);            \
		snprintf(theirs, sizeof(theirs), __VA_ARGS__); \
		ck_assert_str_eq(pl_text_end(&text), theirs);  \
	} while (0)

START_TEST(strings_as_printf)
{
	SAME("plain");
	SAME("%s", "");
	SAME("[%s]", "word");
	SAME("[%8s][%-8s]", "word", "word");
	SAME("[%2s][%-2s]", "longer", "longer");
	SAME("[%*s][%-*s]", 9, "word", 9, "word");
	SAME("[%*s]", -9, "word");
	SAME("%c%c", 'a', 'z');
	SAME("[%3c][%-3c]", 'x', 'y');
	SAME("100%%");
	SAME("%s%%%s", "a", "b");
}
END_TEST

START_TEST(numbers_as_printf)
{
	static const long values[] = { 0,        1,        -1,          9,
				       10,       -10,      4095,        65535,
				       INT_MAX,  INT_MIN,  LONG_MAX,    LONG_MIN,
				       1L << 31, 1L << 32, -(1L << 33), 123456789012345L };

	for (size_t i = 0; i < PL_ARRAY_LEN(values); i++) {
		SAME("%d", (int)values[i]);
		SAME("%u", (unsigned int)values[i]);
		SAME("%x", (unsigned int)values[i]);
		SAME("%ld", values[i]);
		SAME("%lu", (unsigned long)values[i]);
		SAME("%lx", (unsigned long)values[i]);
		SAME("%zu", (size_t)values[i]);
		SAME("[%22ld][%-22ld]", values[i], values[i]);
		SAME("[%2ld][%-2ld]", values[i], values[i]);
		SAME("[%*lu][%-*lx]", 25, (unsigned long)values[i], 25, (unsigned long)values[i]);
		SAME("%d:%ld:%s:%u", (int)values[i], values[i], "s", (unsigned int)i);
	}
}
END_TEST

START_TEST(left_and_negative_width)
{
	int width = -6;

	SAME("[%-*s]", width, "word");
}
END_TEST

START_TEST(text_that_does_not_fit_is_dropped)
{
	char buffer[8];
	pl_text_t text = PL_TEXT_INIT(buffer, -1);

	pl_text_format(&text, "1234567");
	ck_assert_str_eq(pl_text_end(&text), "1234567");
	pl_text_format(&text, "8");
	ck_assert_uint_eq(text.used, 8);
	pl_text_format(&text, "9%20d", 5);
	ck_assert_uint_eq(text.used, 8);
	ck_assert_str_eq(pl_text_end(&text), "1234567");
	ck_assert_int_eq(text.error, 0);
}
END_TEST

START_TEST(full_buffer_is_written)
{
	char buffer[7];
	char expected[256] = "";
	char got[256] = "";
	int ends[2];
	pl_text_t text;

	ck_assert_int_eq(pipe(ends), 0);
	text = (pl_text_t)PL_TEXT_INIT(buffer, ends[1]);
	for (int i = 0; i < 20; i++) {
		pl_text_format(&text, "%d,", i * 7);
		snprintf(expected + strlen(expected), 16, "%d,", i * 7);
	}
	ck_assert_int_eq(pl_text_flush(&text), 0);
	ck_assert_int_eq(pl_text_flush(&text), 0);
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], got, sizeof(got) - 1), (int)strlen(expected));
	ck_assert_str_eq(got, expected);
	close(ends[0]);
}
END_TEST

START_TEST(first_write_error_is_kept)
{
	char buffer[4];
	pl_text_t text = PL_TEXT_INIT(buffer, 1 << 20);

	errno = 77;
	pl_text_format(&text, "%s", "much longer than the buffer");
	ck_assert_int_eq(pl_text_flush(&text), -EBADF);
	text.fd = STDERR_FILENO;
	pl_text_format(&text, "%s", "nothing of this may be written");
	ck_assert_int_eq(pl_text_flush(&text), -EBADF);
	ck_assert_int_eq(errno, 77);
}
END_TEST

static void check_ratio(uint64_t part, uint64_t whole, const char *expected)
{
	char buffer[64];
	pl_text_t text = PL_TEXT_INIT(buffer, -1);

	pl_text_ratio(&text, part, whole, "none");
	ck_assert_str_eq(pl_text_end(&text), expected);
}

START_TEST(ratio_rounds_down)
{
	check_ratio(0, 0, "none");
	check_ratio(5, 0, "none");
	check_ratio(0, 7, "0.000");
	check_ratio(1, 1000, "0.001");
	check_ratio(1, 1001, "0.000");
	check_ratio(2, 3, "0.666");
	check_ratio(9999, 10000, "0.999");
	check_ratio(UINT64_MAX - 1, UINT64_MAX, "0.999");
	check_ratio(UINT64_MAX, UINT64_MAX, "1.000");
	check_ratio(3, 2, "1.500");
	check_ratio(20, 1, "20.000");
}
END_TEST

START_TEST(json_strings)
{
	char buffer[128];
	pl_text_t text = PL_TEXT_INIT(buffer, -1);

	pl_text_json_string(&text, "a\"b\\c/d\n\t\x01\x1f e\x7f");
	ck_assert_str_eq(pl_text_end(&text), "a\\\"b\\\\c/d\\u000a\\u0009\\u0001\\u001f e\x7f");
	text = (pl_text_t)PL_TEXT_INIT(buffer, -1);
	pl_text_json_string(&text, "\xc3\xa4 is two bytes");
	ck_assert_str_eq(pl_text_end(&text), "\xc3\xa4 is two bytes");
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("base text");
	TCase *cases = tcase_create("text");

	tcase_add_test(cases, strings_as_printf);
	tcase_add_test(cases, numbers_as_printf);
	tcase_add_test(cases, left_and_negative_width);
	tcase_add_test(cases, text_that_does_not_fit_is_dropped);
	tcase_add_test(cases, full_buffer_is_written);
	tcase_add_test(cases, first_write_error_is_kept);
	tcase_add_test(cases, ratio_rounds_down);
	tcase_add_test(cases, json_strings);
	suite_add_tcase(suite, cases);
	return suite;
}
