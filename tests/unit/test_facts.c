/* SPDX-License-Identifier: MIT */
/* facts: small trees under tests/fixtures/facts stand for machines. */
#include "harness.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/types.h"
#include "facts/facts.h"

#define FIXTURES PL_SRC "/tests/fixtures/facts/"

static const struct {
	const char *root;
	pl_facts_t facts;
} machines[] = {
	{ FIXTURES "madvise",
	  { .thp_mode = PL_THP_MADVISE, .large_page = 2097152, .max_maps = 65530 } },
	{ FIXTURES "always",
	  { .thp_mode = PL_THP_ALWAYS, .large_page = 2097152, .max_maps = 1048576 } },
	{ FIXTURES "never",
	  { .thp_mode = PL_THP_NEVER, .large_page = 2097152, .max_maps = 65530 } },
	{ FIXTURES "pmd-16m",
	  { .thp_mode = PL_THP_MADVISE, .large_page = 16777216, .max_maps = 65530 } },
	{ FIXTURES "pmd-512m",
	  { .thp_mode = PL_THP_MADVISE, .large_page = 536870912, .max_maps = 65530 } },
	{ FIXTURES "strict-overcommit",
	  { .thp_mode = PL_THP_MADVISE,
	    .large_page = 2097152,
	    .strict_overcommit = true,
	    .max_maps = 65530 } },
	{ FIXTURES "no-sys",
	  { .thp_mode = PL_THP_UNKNOWN, .large_page = 2097152, .max_maps = 262144 } },
	{ FIXTURES "no-proc",
	  { .thp_mode = PL_THP_MADVISE, .large_page = 2097152, .max_maps = 65530 } },
	{ FIXTURES "before-4.10",
	  { .thp_mode = PL_THP_MADVISE, .large_page = 2097152, .max_maps = 65530 } },
	{ FIXTURES "container",
	  { .thp_mode = PL_THP_UNKNOWN, .large_page = 2097152, .max_maps = 65530 } },
	{ FIXTURES "empty-files",
	  { .thp_mode = PL_THP_UNKNOWN, .large_page = 2097152, .max_maps = 65530 } },
	{ FIXTURES "there-is-no-such-folder",
	  { .thp_mode = PL_THP_UNKNOWN, .large_page = 2097152, .max_maps = 65530 } },
	/* A size that is none: no large pages rather than wrong ones. */
	{ FIXTURES "odd-size",
	  { .thp_mode = PL_THP_MADVISE,
	    .large_page = 0,
	    .strict_overcommit = true,
	    .max_maps = 65530 } },
};

static void check_facts(const char *root, const pl_facts_t *expected)
{
	pl_facts_t facts;

	memset(&facts, 0xff, sizeof(facts));
	pl_facts_read_files(root, &facts);
	ck_assert_int_eq(facts.thp_mode, expected->thp_mode);
	ck_assert_uint_eq(facts.large_page, expected->large_page);
	ck_assert_int_eq(facts.thp_disabled, -1);
	ck_assert_int_eq(facts.strict_overcommit, expected->strict_overcommit);
	ck_assert(!facts.limits_tight);
	ck_assert_uint_eq(facts.max_maps, expected->max_maps);
}

START_TEST(machine_by_fixture)
{
	check_facts(machines[_i].root, &machines[_i].facts);
}
END_TEST

/* What is not a number is unknown, as a file that is not there. */
START_TEST(garbage_is_unknown)
{
	pl_facts_t facts;

	pl_facts_read_files(FIXTURES "garbage", &facts);
	ck_assert_int_eq(facts.thp_mode, PL_THP_UNKNOWN);
	ck_assert(!facts.strict_overcommit);
	ck_assert(facts.large_page == 0 || facts.large_page == 2 * PL_MIB);
	ck_assert_uint_eq(facts.max_maps, 65530);
}
END_TEST

START_TEST(this_machine)
{
	pl_facts_t facts;

	pl_facts_read_files("", &facts);
	ck_assert(facts.large_page == 0 || facts.large_page >= 2 * PL_MIB);
	ck_assert_uint_gt(facts.max_maps, 0);
}
END_TEST

START_TEST(limits_of_this_process)
{
	static const int tight[] = { RLIMIT_AS, RLIMIT_DATA };
	struct rlimit limit;
	pl_facts_t facts = { 0 };

	pl_facts_read_process(&facts);
	for (size_t i = 0; i < PL_ARRAY_LEN(tight); i++) {
		ck_assert_int_eq(getrlimit((__rlimit_resource_t)tight[i], &limit), 0);
		if (limit.rlim_cur != RLIM_INFINITY)
			return; /* tight from outside; nothing to compare with */
	}
	ck_assert(!facts.limits_tight);
	limit.rlim_cur = 1UL << 45;
	ck_assert_int_eq(setrlimit((__rlimit_resource_t)tight[_i], &limit), 0);
	pl_facts_read_process(&facts);
	ck_assert(facts.limits_tight);
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit((__rlimit_resource_t)tight[_i], &limit), 0);
	pl_facts_read_process(&facts);
	ck_assert(!facts.limits_tight);
}
END_TEST

START_TEST(prctl_of_this_process)
{
	pl_facts_t facts = { 0 };

	pl_facts_read_process(&facts);
	ck_assert_int_eq(facts.thp_disabled, prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		return;
	pl_facts_read_process(&facts);
	ck_assert_int_eq(facts.thp_disabled, 1);
}
END_TEST

START_TEST(mode_names)
{
	ck_assert_str_eq(pl_facts_thp_name(PL_THP_UNKNOWN), "unknown");
	ck_assert_str_eq(pl_facts_thp_name(PL_THP_ALWAYS), "always");
	ck_assert_str_eq(pl_facts_thp_name(PL_THP_MADVISE), "madvise");
	ck_assert_str_eq(pl_facts_thp_name(PL_THP_NEVER), "never");
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("facts");
	TCase *cases = tcase_create("facts");

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, machine_by_fixture, 0, PL_ARRAY_LEN(machines));
	tcase_add_test(cases, garbage_is_unknown);
	tcase_add_test(cases, this_machine);
	tcase_add_loop_test(cases, limits_of_this_process, 0, 2);
	tcase_add_test(cases, prctl_of_this_process);
	tcase_add_test(cases, mode_names);
	suite_add_tcase(suite, cases);
	return suite;
}
