/* SPDX-License-Identifier: MIT */
/* policy: one row per decision. A row is a machine and a request with something changed. */
#include "harness.h"

#include <string.h>
#include <sys/mman.h>

#include "base/types.h"
#include "policy/policy.h"

#define RW (PROT_READ | PROT_WRITE)
#define PA (MAP_PRIVATE | MAP_ANONYMOUS)

typedef struct {
	const char *what;
	pl_request_t request;
	pl_verdict_t expected;
	unsigned int backend;
	unsigned int segments; /* 0 = all */
	uint64_t min_size;     /* 0 = 2M */
	uint64_t maps_added;
	pl_facts_t facts; /* large_page 0 = those of an ordinary machine */
} row_t;

#define MAP_(length_, prot_, flags_) \
	.request = { .length = (length_), .prot = (prot_), .flags = (flags_) }
#define LIBC_(length_, prot_, flags_)                                                             \
	.request = {                                                                              \
		.origin = PL_ORIGIN_LIBC, .length = (length_), .prot = (prot_), .flags = (flags_) \
	}
#define AT_(addr_, length_, prot_, flags_) \
	.request = { .addr = (addr_), .length = (length_), .prot = (prot_), .flags = (flags_) }
#define LEFT(reason_)    .expected = { false, false, PL_REASON_##reason_ }
#define ADVISED(reason_) .expected = { false, true, PL_REASON_##reason_ }
#define ALIGNED(reason_) .expected = { true, true, PL_REASON_##reason_ }
#define ON(mode_, disabled_)                    \
	.facts = { .thp_mode = PL_THP_##mode_,  \
		   .large_page = 2 * PL_MIB,    \
		   .thp_disabled = (disabled_), \
		   .max_maps = 65530 }

static const row_t rows[] = {
	{ "a map of one large page", MAP_(2 * PL_MIB, RW, PA), ALIGNED(PLACED) },
	{ "one byte less", MAP_(2 * PL_MIB - 1, RW, PA), LEFT(TOO_SMALL) },
	{ "one byte more", MAP_(2 * PL_MIB + 1, RW, PA), ALIGNED(PLACED) },
	{ "nothing", MAP_(0, RW, PA), LEFT(TOO_SMALL) },
	{ "everything", MAP_(SIZE_MAX, RW, PA), ALIGNED(PLACED) },
	{ "below min_size", MAP_(8 * PL_MIB - 1, RW, PA), LEFT(TOO_SMALL), .min_size = 8 * PL_MIB },
	{ "at min_size", MAP_(8 * PL_MIB, RW, PA), ALIGNED(PLACED), .min_size = 8 * PL_MIB },
	{ "min_size below a page", MAP_(PL_MIB, RW, PA), LEFT(TOO_SMALL), .min_size = 4096 },
	{ "libc's chunk", LIBC_(4 * PL_MIB, RW, PA), ALIGNED(PLACED) },
	{ "libc's chunk, no heap wanted", LIBC_(4 * PL_MIB, RW, PA), LEFT(NOT_SELECTED),
	  .segments = PL_SET_MMAP | PL_SET_BSS },
	{ "libc's chunk, only heap wanted", LIBC_(4 * PL_MIB, RW, PA), ALIGNED(PLACED),
	  .segments = PL_SET_HEAP },
	{ "a map, only heap wanted", MAP_(4 * PL_MIB, RW, PA), LEFT(NOT_SELECTED),
	  .segments = PL_SET_HEAP },
	{ "a reservation", MAP_(PL_GIB, PROT_NONE, PA | MAP_NORESERVE), ADVISED(PLACED) },
	{ "a reservation, only heap wanted", MAP_(PL_GIB, PROT_NONE, PA), LEFT(NOT_SELECTED),
	  .segments = PL_SET_HEAP },
	{ "read only", MAP_(4 * PL_MIB, PROT_READ, PA), ALIGNED(PLACED) },
	{ "executable", MAP_(4 * PL_MIB, RW | PROT_EXEC, PA), ALIGNED(PLACED) },
	{ "populated", MAP_(4 * PL_MIB, RW, PA | MAP_POPULATE), ALIGNED(PLACED) },
	{ "hint", AT_(PL_GIB, 4 * PL_MIB, RW, PA), ADVISED(PLACED) },
	{ "fixed", AT_(PL_GIB, 4 * PL_MIB, RW, PA | MAP_FIXED), ADVISED(PLACED) },
	{ "fixed at 0", MAP_(4 * PL_MIB, RW, PA | MAP_FIXED), ADVISED(PLACED) },
	{ "fixed, no replacing", AT_(PL_GIB, 4 * PL_MIB, RW, PA | MAP_FIXED_NOREPLACE),
	  ADVISED(PLACED) },
	{ "fixed at 0, no replacing", MAP_(4 * PL_MIB, RW, PA | MAP_FIXED_NOREPLACE),
	  ADVISED(PLACED) },
#ifdef MAP_32BIT
	{ "low addresses", MAP_(4 * PL_MIB, RW, PA | MAP_32BIT), ADVISED(PLACED) },
#endif
	{ "a file", MAP_(4 * PL_MIB, RW, MAP_PRIVATE), LEFT(NOT_ANONYMOUS) },
	{ "a shared file", MAP_(4 * PL_MIB, RW, MAP_SHARED), LEFT(NOT_ANONYMOUS) },
	{ "a file below min_size", MAP_(4096, RW, MAP_PRIVATE), LEFT(NOT_ANONYMOUS) },
	{ "shared", MAP_(4 * PL_MIB, RW, MAP_SHARED | MAP_ANONYMOUS), LEFT(SHARED) },
	{ "shared, validated", MAP_(4 * PL_MIB, RW, MAP_SHARED_VALIDATE | MAP_ANONYMOUS),
	  LEFT(SHARED) },
	{ "a stack", MAP_(8 * PL_MIB, RW, PA | MAP_STACK), LEFT(STACK) },
	{ "grows down", MAP_(8 * PL_MIB, RW, PA | MAP_GROWSDOWN), LEFT(STACK) },
	{ "hugetlb", MAP_(8 * PL_MIB, RW, PA | MAP_HUGETLB), LEFT(ALREADY_LARGE) },
	{ "hugetlb of 1G", MAP_(PL_GIB, RW, PA | MAP_HUGETLB | (30 << 26)), LEFT(ALREADY_LARGE) },
	{ "locked", MAP_(8 * PL_MIB, RW, PA | MAP_LOCKED), LEFT(LOCKED) },
	{ "unknown flag", MAP_(8 * PL_MIB, RW, PA | 1 << 30), LEFT(UNKNOWN_FLAGS) },
	{ "base", MAP_(8 * PL_MIB, RW, PA), LEFT(BACKEND_BASE), .backend = PL_BACKEND_BASE },
	{ "base, reservation", MAP_(PL_GIB, PROT_NONE, PA), LEFT(BACKEND_BASE),
	  .backend = PL_BACKEND_BASE },
	{ "thp", MAP_(8 * PL_MIB, RW, PA), ALIGNED(PLACED), .backend = PL_BACKEND_THP },
	{ "no large pages", MAP_(8 * PL_MIB, RW, PA), LEFT(NO_LARGE_PAGES),
	  .facts = { .thp_mode = PL_THP_MADVISE, .max_maps = 1 } },
	{ "pages of 32M", MAP_(32 * PL_MIB, RW, PA), ALIGNED(PLACED),
	  .facts = { PL_THP_MADVISE, .large_page = 32 * PL_MIB, .max_maps = 65530 } },
	{ "pages of 32M, smaller map", MAP_(32 * PL_MIB - 1, RW, PA), LEFT(TOO_SMALL),
	  .facts = { PL_THP_MADVISE, .large_page = 32 * PL_MIB, .max_maps = 65530 } },
	{ "pages of 64M", MAP_(PL_GIB, RW, PA), LEFT(PAGE_TOO_LARGE),
	  .facts = { PL_THP_MADVISE, .large_page = 64 * PL_MIB, .max_maps = 65530 } },
	{ "pages of 512M", MAP_(PL_GIB, RW, PA), LEFT(PAGE_TOO_LARGE),
	  .facts = { PL_THP_MADVISE, .large_page = 512 * PL_MIB, .max_maps = 65530 } },
	{ "always", MAP_(8 * PL_MIB, RW, PA), ALIGNED(PLACED), ON(ALWAYS, 0) },
	{ "never", MAP_(8 * PL_MIB, RW, PA), ALIGNED(THP_NEVER), ON(NEVER, 0) },
	{ "never beats disabled", MAP_(8 * PL_MIB, RW, PA), ALIGNED(THP_NEVER), ON(NEVER, 1) },
	{ "unknown", MAP_(8 * PL_MIB, RW, PA), ALIGNED(THP_UNKNOWN), ON(UNKNOWN, -1) },
	{ "disabled", MAP_(8 * PL_MIB, RW, PA), ALIGNED(THP_DISABLED), ON(MADVISE, 1) },
	{ "disabled, unknown", MAP_(8 * PL_MIB, RW, PA), ALIGNED(THP_DISABLED), ON(UNKNOWN, 1) },
	{ "disabled but for advised", MAP_(8 * PL_MIB, RW, PA), ALIGNED(PLACED), ON(MADVISE, 3) },
	{ "prctl unknown", MAP_(8 * PL_MIB, RW, PA), ALIGNED(PLACED), ON(MADVISE, -1) },
	{ "confined", MAP_(8 * PL_MIB, RW, PA), LEFT(CONFINED),
	  .facts = { PL_THP_MADVISE, 2 * PL_MIB, .max_maps = 65530, .confined = true } },
	{ "a quarter of the maps", MAP_(8 * PL_MIB, RW, PA), ALIGNED(PLACED),
	  .maps_added = 65530 / 4 },
	{ "more of the maps", MAP_(8 * PL_MIB, RW, PA), ADVISED(MAP_LIMIT),
	  .maps_added = 65530 / 4 + 1 },
	{ "more of the maps, never", MAP_(8 * PL_MIB, RW, PA), ADVISED(THP_NEVER),
	  .maps_added = 65530, ON(NEVER, 0) },
	{ "more of the maps, in place", AT_(PL_GIB, 8 * PL_MIB, RW, PA), ADVISED(PLACED),
	  .maps_added = 65530 },
};

static pl_config_t config_of(const row_t *row)
{
	return (pl_config_t){ .backend = row->backend,
			      .segments = row->segments ? row->segments : 7,
			      .min_size = row->min_size ? row->min_size : 2 * PL_MIB };
}

static pl_facts_t facts_of(const row_t *row)
{
	pl_facts_t facts = { .thp_mode = PL_THP_MADVISE,
			     .large_page = 2 * PL_MIB,
			     .max_maps = 65530 };

	return row->facts.max_maps ? row->facts : facts;
}

START_TEST(map_by_row)
{
	const row_t *row = &rows[_i];
	pl_config_t config = config_of(row);
	pl_facts_t facts = facts_of(row);
	pl_verdict_t got = pl_policy_map(&row->request, &config, &facts, row->maps_added);

	ck_assert_msg(got.reason == row->expected.reason, "%s: %s", row->what,
		      pl_reason_name(got.reason));
	ck_assert_msg(got.align == row->expected.align, "%s: align %d", row->what, got.align);
	ck_assert_msg(got.advise == row->expected.advise, "%s: advise %d", row->what, got.advise);
}
END_TEST

/* Every combination that names its address, or has no access, stays where it is. */
START_TEST(never_moved)
{
	static const int flags[] = { 0, MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_NORESERVE,
				     MAP_POPULATE };
	pl_config_t config = config_of(&rows[0]);
	pl_facts_t facts = facts_of(&rows[0]);

	for (size_t i = 0; i < PL_ARRAY_LEN(flags) * 8; i++) {
		pl_request_t request = { .origin = i & 1 ? PL_ORIGIN_LIBC : PL_ORIGIN_PROGRAM,
					 .addr = i & 2 ? PL_GIB : 0,
					 .length = 64 * PL_MIB,
					 .prot = i & 4 ? PROT_NONE : RW,
					 .flags = PA | flags[i / 8] };
		bool fixed = flags[i / 8] == MAP_FIXED || flags[i / 8] == MAP_FIXED_NOREPLACE;
		bool stays = request.addr || request.prot == PROT_NONE || fixed;

		ck_assert_int_eq(pl_policy_map(&request, &config, &facts, 0).align, !stays);
	}
}
END_TEST

START_TEST(base_does_nothing)
{
	pl_config_t config = { .backend = PL_BACKEND_BASE, .segments = 7, .min_size = 4096 };

	for (int mode = PL_THP_UNKNOWN; mode <= PL_THP_NEVER; mode++) {
		pl_facts_t facts = facts_of(&rows[0]);

		facts.thp_mode = (pl_thp_mode_t)mode;
		for (pl_kind_t kind = 0; kind < PL_KINDS; kind++) {
			pl_verdict_t got = pl_policy_in_place(kind, &config, &facts);

			ck_assert(!got.advise && !got.align);
			ck_assert_int_eq(got.reason, PL_REASON_BACKEND_BASE);
		}
		ck_assert(!pl_policy_may_run_ahead(&config, &facts));
	}
}
END_TEST

START_TEST(in_place_by_kind)
{
	static const unsigned int sets[] = { PL_SET_HEAP,   PL_SET_HEAP, PL_SET_HEAP,
					     PL_SET_MMAP,   PL_SET_MMAP, PL_SET_SHARED,
					     PL_SET_SHM,    PL_SET_TMPFS, PL_SET_BSS };
	pl_facts_t facts = facts_of(&rows[0]);

	ck_assert_uint_eq(PL_ARRAY_LEN(sets), PL_KINDS);
	for (pl_kind_t kind = 0; kind < PL_KINDS; kind++) {
		for (unsigned int set = 0; set < 64; set++) {
			pl_config_t config = { .segments = set };
			pl_verdict_t got = pl_policy_in_place(kind, &config, &facts);

			ck_assert_int_eq(got.advise, (set & sets[kind]) != 0);
			ck_assert(!got.align);
			ck_assert_int_eq(got.reason, set & sets[kind] ? PL_REASON_PLACED
								      : PL_REASON_NOT_SELECTED);
		}
	}
}
END_TEST

START_TEST(kinds_of_requests)
{
	pl_request_t request = { .origin = PL_ORIGIN_PROGRAM, .prot = RW };

	ck_assert_int_eq(pl_policy_kind(&request), PL_KIND_MAP);
	request.origin = PL_ORIGIN_LIBC;
	ck_assert_int_eq(pl_policy_kind(&request), PL_KIND_CHUNK);
	request.prot = PROT_NONE;
	ck_assert_int_eq(pl_policy_kind(&request), PL_KIND_RESERVE);
	request.origin = PL_ORIGIN_PROGRAM;
	ck_assert_int_eq(pl_policy_kind(&request), PL_KIND_RESERVE);
}
END_TEST

START_TEST(running_ahead)
{
	pl_config_t config = config_of(&rows[0]);
	pl_facts_t facts = facts_of(&rows[0]);

	ck_assert(pl_policy_may_run_ahead(&config, &facts));
	facts.limits_tight = true;
	ck_assert(!pl_policy_may_run_ahead(&config, &facts));
	facts.limits_tight = false;
	facts.strict_overcommit = true;
	ck_assert(!pl_policy_may_run_ahead(&config, &facts));
	facts.strict_overcommit = false;
	facts.confined = true;
	ck_assert(!pl_policy_may_run_ahead(&config, &facts));
}
END_TEST

/* Every reason that is policy's to give stands in some row; the two others are placement's. */
START_TEST(every_reason_is_reached)
{
	bool reached[PL_REASONS] = { false };

	reached[PL_REASON_APPLICATION_ADVICE] = true;
	reached[PL_REASON_ADVICE_REFUSED] = true;
	reached[PL_REASON_CALL_FAILED] = true;
	reached[PL_REASON_PLACE_FAILED] = true;
	reached[PL_REASON_BACKEND_HUGETLB] = true;
	/* Shared memory has its own table, test_policy_shared.c. */
	for (pl_reason_t i = PL_REASON_POOL; i <= PL_REASON_SHM_OF_OTHERS; i++)
		reached[i] = true;
	for (size_t i = 0; i < PL_ARRAY_LEN(rows); i++)
		reached[rows[i].expected.reason] = true;
	for (pl_reason_t i = 0; i < PL_REASONS; i++)
		ck_assert_msg(reached[i], "%s", pl_reason_name(i));
}
END_TEST

START_TEST(names_are_distinct)
{
	ck_assert_str_eq(pl_reason_name(PL_REASON_PLACED), "placed");
	ck_assert_str_eq(pl_kind_name(PL_KIND_HEAP), "heap");
	for (pl_reason_t i = 0; i < PL_REASONS; i++)
		for (pl_reason_t j = 0; j < i; j++)
			ck_assert_str_ne(pl_reason_name(i), pl_reason_name(j));
	for (pl_kind_t i = 0; i < PL_KINDS; i++)
		for (pl_kind_t j = 0; j < i; j++)
			ck_assert_str_ne(pl_kind_name(i), pl_kind_name(j));
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("policy");
	TCase *cases = tcase_create("policy");

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, map_by_row, 0, PL_ARRAY_LEN(rows));
	tcase_add_test(cases, never_moved);
	tcase_add_test(cases, base_does_nothing);
	tcase_add_test(cases, in_place_by_kind);
	tcase_add_test(cases, kinds_of_requests);
	tcase_add_test(cases, running_ahead);
	tcase_add_test(cases, every_reason_is_reached);
	tcase_add_test(cases, names_are_distinct);
	suite_add_tcase(suite, cases);
	return suite;
}
