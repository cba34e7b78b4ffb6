/* SPDX-License-Identifier: MIT */
/* facts/pools and facts/cgroups: small trees under tests/fixtures/pools stand for machines. */
#include "harness.h"

#include "base/types.h"
#include "facts/pools.h"

#define FIXTURES PL_SRC "/tests/fixtures/pools/"

static const struct {
	const char *root;
	uint64_t large;
	uint64_t giant;
	uint64_t memory;
	bool large_limited;
	bool giant_limited;
} machines[] = {
	/* Free, less reserved, and what may be had beyond the pool. */
	{ FIXTURES "machine", 73, 4, 16 * PL_GIB, false, false },
	/* The limit of a group above; "max" further down. */
	{ FIXTURES "v2", 8, 4, PL_GIB, true, false },
	/* A limit on reservations proves itself; memory over its limit leaves nothing. */
	{ FIXTURES "v1", 2, 4, 0, false, false },
	{ FIXTURES "hybrid", 73, 0, 16 * PL_GIB, false, true },
	{ FIXTURES "cpuset", 73, 4, 16 * PL_GIB, true, true },
	{ FIXTURES "there-is-no-such-folder", 0, 0, 0, false, false },
};

START_TEST(what_is_left)
{
	bool limited = true;

	ck_assert_uint_eq(pl_pool_available(machines[_i].root, 2 * PL_MIB, &limited),
			  machines[_i].large);
	ck_assert_int_eq(limited, machines[_i].large_limited);
	ck_assert_uint_eq(pl_pool_available(machines[_i].root, PL_GIB, &limited),
			  machines[_i].giant);
	ck_assert_int_eq(limited, machines[_i].giant_limited);
	ck_assert_uint_eq(pl_pool_available(machines[_i].root, 64 * PL_KIB, &limited), 0);
	ck_assert_uint_eq(pl_memory_available(machines[_i].root), machines[_i].memory);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("facts-pools");
	TCase *cases = tcase_create("fixtures");

	tcase_add_loop_test(cases, what_is_left, 0, PL_ARRAY_LEN(machines));
	suite_add_tcase(suite, cases);
	return suite;
}
