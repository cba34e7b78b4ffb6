/* SPDX-License-Identifier: MIT */
/* Where shared memory goes, decided from tables. */
#include <check.h>
#include <string.h>

#include "base/types.h"
#include "config/config.h"
#include "harness.h"
#include "policy/shared.h"

static pl_config_t config;
static pl_facts_t facts;

static void prepare(void)
{
	pl_config_parse(NULL, NULL, &config);
	facts = (pl_facts_t){ .thp_mode = PL_THP_MADVISE,
			      .shmem_mode = PL_SHMEM_NEVER,
			      .large_page = 2 * PL_MIB,
			      .max_maps = 65530 };
}

static pl_shared_request_t ask(size_t length, uint64_t giant, uint64_t large)
{
	return (pl_shared_request_t){ .kind = PL_KIND_SHARED,
				      .length = length,
				      .pools = { { PL_GIB, giant }, { 2 * PL_MIB, large } },
				      .memory = 16 * PL_GIB };
}

static void check_plan(const pl_shared_request_t *request, size_t giant, size_t large,
		       pl_shmem_action_t rest, pl_reason_t reason)
{
	pl_shared_plan_t plan = pl_policy_shared(request, &config, &facts);

	ck_assert_uint_eq(plan.bytes[0], giant);
	ck_assert_uint_eq(plan.bytes[1], large);
	ck_assert_int_eq(plan.rest, rest);
	ck_assert_str_eq(pl_reason_name(plan.reason), pl_reason_name(reason));
}

START_TEST(pools_in_order)
{
	pl_shared_request_t request = ask(5 * PL_GIB / 2 + 4096, 2, 1000);

	check_plan(&request, 2 * PL_GIB, PL_GIB / 2, PL_SHMEM_LEAVE, PL_REASON_POOL);
	request = ask(5 * PL_GIB / 2, 0, 5000);
	check_plan(&request, 0, 5 * PL_GIB / 2, PL_SHMEM_LEAVE, PL_REASON_POOL);
	request = ask(100 * PL_MIB, 0, 20);
	check_plan(&request, 0, 40 * PL_MIB, PL_SHMEM_LIFT, PL_REASON_POOL_SHORT);
	request = ask(100 * PL_MIB, 0, 0);
	check_plan(&request, 0, 0, PL_SHMEM_LIFT, PL_REASON_LIFTED);
	request = ask(2 * PL_MIB - 1, 0, 100);
	check_plan(&request, 0, 0, PL_SHMEM_LEAVE, PL_REASON_TOO_SMALL);
}
END_TEST

START_TEST(what_is_left_to_others)
{
	pl_shared_request_t request = ask(100 * PL_MIB, 0, 60);

	config.keep_free = 30;
	check_plan(&request, 0, 60 * PL_MIB, PL_SHMEM_LIFT, PL_REASON_POOL_SHORT);
	config.keep_free = 100;
	check_plan(&request, 0, 0, PL_SHMEM_LIFT, PL_REASON_LIFTED);
	config.keep_free = 0;
	config.max_bytes = 30 * PL_MIB;
	check_plan(&request, 0, 30 * PL_MIB, PL_SHMEM_LIFT, PL_REASON_POOL_QUOTA);
	request.taken = 29 * PL_MIB;
	config.backend = PL_BACKEND_HUGETLB;
	check_plan(&request, 0, 0, PL_SHMEM_LEAVE, PL_REASON_POOL_QUOTA);
	request.backing_off = true;
	check_plan(&request, 0, 0, PL_SHMEM_LEAVE, PL_REASON_BACKING_OFF);
}
END_TEST

START_TEST(page_size_is_chosen)
{
	pl_shared_request_t request = ask(3 * PL_GIB, 2, 4000);

	config.page_size = PL_PAGE_2M;
	check_plan(&request, 0, 3 * PL_GIB, PL_SHMEM_LEAVE, PL_REASON_POOL);
	config.page_size = PL_PAGE_1G;
	check_plan(&request, 2 * PL_GIB, 0, PL_SHMEM_LIFT, PL_REASON_POOL_SHORT);
}
END_TEST

START_TEST(shmem_actions)
{
	static const struct {
		pl_shmem_mode_t mode;
		unsigned int populate;
		size_t length;
		pl_shmem_action_t action;
		pl_reason_t reason;
	} rows[] = {
		{ PL_SHMEM_NEVER, PL_POPULATE_AUTO, PL_GIB, PL_SHMEM_LIFT, PL_REASON_LIFTED },
		{ PL_SHMEM_NEVER, PL_POPULATE_AUTO, 4 * PL_GIB, PL_SHMEM_LIFT, PL_REASON_LIFTED },
		{ PL_SHMEM_NEVER, PL_POPULATE_AUTO, 4 * PL_GIB + 1, PL_SHMEM_LEAVE,
		  PL_REASON_SHMEM_TOO_LARGE },
		{ PL_SHMEM_NEVER, PL_POPULATE_EAGER, 16 * PL_GIB, PL_SHMEM_LIFT, PL_REASON_LIFTED },
		{ PL_SHMEM_NEVER, PL_POPULATE_EAGER, 17 * PL_GIB, PL_SHMEM_LEAVE,
		  PL_REASON_SHMEM_TOO_LARGE },
		{ PL_SHMEM_NEVER, PL_POPULATE_LAZY, PL_GIB, PL_SHMEM_LEAVE,
		  PL_REASON_SHMEM_NEVER },
		{ PL_SHMEM_ADVISE, PL_POPULATE_AUTO, 64 * PL_GIB, PL_SHMEM_ADVICE,
		  PL_REASON_SHMEM_ADVISED },
		{ PL_SHMEM_ALWAYS, PL_POPULATE_LAZY, PL_GIB, PL_SHMEM_ADVICE,
		  PL_REASON_SHMEM_ADVISED },
		{ PL_SHMEM_DENY, PL_POPULATE_EAGER, PL_GIB, PL_SHMEM_LEAVE,
		  PL_REASON_SHMEM_FAILED },
	};
	pl_shared_request_t request = ask(0, 0, 0);
	pl_reason_t reason;

	facts.shmem_mode = rows[_i].mode;
	config.populate = rows[_i].populate;
	ck_assert_int_eq(
		pl_policy_shmem(&request, rows[_i].length, &config, &facts, &reason),
		rows[_i].action);
	ck_assert_str_eq(pl_reason_name(reason), pl_reason_name(rows[_i].reason));
}
END_TEST

static void check_one_pool(const pl_shared_request_t *request, size_t page, pl_reason_t wanted)
{
	pl_reason_t reason;

	ck_assert_uint_eq(pl_policy_one_pool(request, &config, &facts, &reason), page);
	ck_assert_str_eq(pl_reason_name(reason), pl_reason_name(wanted));
}

START_TEST(why_sysv_is_not_on_a_pool)
{
	pl_shared_request_t request = ask(5 * PL_GIB / 2, 3, 0);

	request.kind = PL_KIND_SHM;
	check_one_pool(&request, 0, PL_REASON_POOL_WASTE);
	request.pools[1].available = 1279;
	config.page_size = PL_PAGE_2M;
	check_one_pool(&request, 0, PL_REASON_POOL_EMPTY);
	request.pools[1].available = 1280;
	check_one_pool(&request, 2 * PL_MIB, PL_REASON_POOL);
	config.max_bytes = PL_GIB;
	check_one_pool(&request, 0, PL_REASON_POOL_QUOTA);
	strcpy(config.hugetlbfs, "/mnt");
	check_one_pool(&request, 0, PL_REASON_POOL_MOUNT);
}
END_TEST

/* 64 GB that the program never means to fill. */
START_TEST(sparse_is_not_committed)
{
	pl_shared_request_t request = ask(2 * PL_GIB, 2, 1024);

	request.sparse = true;
	check_plan(&request, 0, 0, PL_SHMEM_LEAVE, PL_REASON_SPARSE);
	facts.shmem_mode = PL_SHMEM_ADVISE;
	check_plan(&request, 0, 0, PL_SHMEM_ADVICE, PL_REASON_SHMEM_ADVISED);
	config.populate = PL_POPULATE_EAGER;
	check_plan(&request, 2 * PL_GIB, 0, PL_SHMEM_LEAVE, PL_REASON_POOL);
}
END_TEST

START_TEST(one_size_for_sysv)
{
	pl_shared_request_t request = ask(PL_GIB + 56, 4, 4000);
	pl_reason_t reason;

	request.kind = PL_KIND_SHM;
	ck_assert_uint_eq(pl_policy_one_pool(&request, &config, &facts, &reason), 2 * PL_MIB);
	ck_assert_int_eq(reason, PL_REASON_POOL);
	request.length = PL_GIB - 56;
	ck_assert_uint_eq(pl_policy_one_pool(&request, &config, &facts, &reason), PL_GIB);
	request.pools[0].available = 0;
	request.pools[1].available = 511;
	ck_assert_uint_eq(pl_policy_one_pool(&request, &config, &facts, &reason), 0);
	ck_assert_int_eq(reason, PL_REASON_POOL_EMPTY);
	request.pools[1].available = 512;
	ck_assert_uint_eq(pl_policy_one_pool(&request, &config, &facts, &reason), 2 * PL_MIB);
	config.max_bytes = PL_GIB - 56;
	ck_assert_uint_eq(pl_policy_one_pool(&request, &config, &facts, &reason), 0);
	ck_assert_int_eq(reason, PL_REASON_POOL_QUOTA);
	config.backend = PL_BACKEND_THP;
	ck_assert_uint_eq(pl_policy_one_pool(&request, &config, &facts, &reason), 0);
}
END_TEST

START_TEST(hugetlb_backend_leaves_private_memory)
{
	pl_verdict_t verdict;

	config.backend = PL_BACKEND_HUGETLB;
	verdict = pl_policy_in_place(PL_KIND_HEAP, &config, &facts);
	ck_assert(!verdict.advise);
	ck_assert_int_eq(verdict.reason, PL_REASON_BACKEND_HUGETLB);
	ck_assert(pl_policy_in_place(PL_KIND_SHM, &config, &facts).advise);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("policy shared");
	TCase *cases = tcase_create("shared");

	tcase_add_checked_fixture(cases, prepare, NULL);
	tcase_add_test(cases, pools_in_order);
	tcase_add_test(cases, what_is_left_to_others);
	tcase_add_test(cases, page_size_is_chosen);
	tcase_add_loop_test(cases, shmem_actions, 0, 9);
	tcase_add_test(cases, sparse_is_not_committed);
	tcase_add_test(cases, one_size_for_sysv);
	tcase_add_test(cases, why_sysv_is_not_on_a_pool);
	tcase_add_test(cases, hugetlb_backend_leaves_private_memory);
	suite_add_tcase(suite, cases);
	return suite;
}
