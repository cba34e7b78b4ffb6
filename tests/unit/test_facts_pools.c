/* SPDX-License-Identifier: MIT */
/* facts/pools, facts/cgroups, facts/tmpfs: small trees under tests/fixtures/pools stand for
 * machines. */
#include "harness.h"

#include <sys/sysmacros.h>

#include "base/types.h"
#include "facts/pools.h"
#include "facts/tmpfs.h"

#define FIXTURES PL_SRC "/tests/fixtures/pools/"

static const struct {
	const char *root;
	uint64_t large;
	uint64_t giant;
	uint64_t memory;
} machines[] = {
	/* Free, less reserved, and what may be had beyond the pool. */
	{ FIXTURES "machine", 73, 4, 16 * PL_GIB },
	/* The limit of a group above; "max" further down. */
	{ FIXTURES "v2", 8, 4, PL_GIB },
	/* A limit on reservations; memory over its limit leaves nothing. */
	{ FIXTURES "v1", 2, 4, 0 },
	{ FIXTURES "hybrid", 73, 0, 16 * PL_GIB },
	{ FIXTURES "there-is-no-such-folder", 0, 0, 0 },
};

START_TEST(what_is_left)
{
	ck_assert_uint_eq(pl_pool_available(machines[_i].root, 2 * PL_MIB), machines[_i].large);
	ck_assert_uint_eq(pl_pool_available(machines[_i].root, PL_GIB), machines[_i].giant);
	ck_assert_uint_eq(pl_pool_available(machines[_i].root, 64 * PL_KIB), 0);
	ck_assert_uint_eq(pl_memory_available(machines[_i].root), machines[_i].memory);
}
END_TEST

static const struct {
	unsigned int minor_number;
	pl_shmem_mode_t machine;
	pl_shmem_mode_t mode;
} mounts[] = {
	{ 26, PL_SHMEM_ADVISE, PL_SHMEM_NEVER },
	{ 27, PL_SHMEM_NEVER, PL_SHMEM_ADVISE },
	{ 28, PL_SHMEM_NEVER, PL_SHMEM_ALWAYS },
	{ 29, PL_SHMEM_ALWAYS, PL_SHMEM_NEVER },
	{ 27, PL_SHMEM_DENY, PL_SHMEM_DENY },
	/* The kernel's own mount, of memfd and SysV segments, is in no list. */
	{ 1, PL_SHMEM_ADVISE, PL_SHMEM_ADVISE },
	{ 1, PL_SHMEM_NEVER, PL_SHMEM_NEVER },
};

START_TEST(setting_of_a_mount)
{
	ck_assert_int_eq(pl_tmpfs_mode(FIXTURES "machine", makedev(0, mounts[_i].minor_number),
				       mounts[_i].machine),
			 mounts[_i].mode);
	ck_assert_int_eq(pl_tmpfs_mode(FIXTURES "v2", makedev(0, 26), mounts[_i].machine),
			 mounts[_i].machine);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("facts-pools");
	TCase *cases = tcase_create("fixtures");

	tcase_add_loop_test(cases, what_is_left, 0, PL_ARRAY_LEN(machines));
	tcase_add_loop_test(cases, setting_of_a_mount, 0, PL_ARRAY_LEN(mounts));
	suite_add_tcase(suite, cases);
	return suite;
}
