/* SPDX-License-Identifier: MIT */
/* registry: held against an array with one entry per page. */
#include "harness.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "registry/registry.h"

enum { PAGES = 512, STEPS = 100000 };

static const uintptr_t page = 4096;
static const uintptr_t ground = 1UL << 30;

/* The model: which segment each page belongs to (0 = none), and what each segment is. */
static unsigned int owner[PAGES];
static struct {
	pl_kind_t kind;
	pl_reason_t reason;
} made[STEPS + 1];

static uint64_t seed = 20240611;

static unsigned int random_below(unsigned int bound)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (unsigned int)(seed >> 33) % bound;
}

static pl_range_t range_of(unsigned int first, unsigned int last)
{
	return pl_range(ground + first * page, ground + last * page);
}

static void own(unsigned int first, unsigned int last, unsigned int who)
{
	for (unsigned int i = first; i < last && i < PAGES; i++)
		owner[i] = who;
}

static void add(unsigned int first, unsigned int last, unsigned int who)
{
	pl_segment_t segment = { .range = range_of(first, last),
				 .asked = (last - first) * page - 5,
				 .kind = who % PL_KINDS,
				 .reason = who % PL_REASONS };

	made[who].kind = segment.kind;
	made[who].reason = segment.reason;
	ck_assert(pl_registry_add(&segment));
	own(first, last, who);
}

static unsigned int end_of(unsigned int first)
{
	unsigned int last = first;

	while (last < PAGES && owner[last] == owner[first])
		last++;
	return last;
}

/* The segment that starts at `first`, if one does and it may grow into nothing of others. It gets a
 * name of its own, as it may come to touch the other part of a split. */
static void resize(unsigned int first, unsigned int last, unsigned int who)
{
	unsigned int end;

	if (!owner[first] || (first && owner[first - 1] == owner[first]))
		return;
	end = end_of(first);
	for (unsigned int i = end; i < last; i++)
		if (owner[i])
			return;
	pl_registry_resize(ground + first * page, ground + last * page);
	if (last < end)
		own(last, end, 0);
	made[who] = made[owner[first]];
	own(first, last, who);
}

static void set_reason(unsigned int first, unsigned int last, unsigned int step)
{
	pl_registry_set_reason(range_of(first, last), step % PL_REASONS);
	for (unsigned int i = first; i < last; i++)
		if (owner[i])
			made[owner[i]].reason = step % PL_REASONS;
}

static void check_find(unsigned int first, unsigned int last)
{
	unsigned int at = first;
	pl_segment_t found;
	unsigned int begin;

	while (at < last && !owner[at])
		at++;
	ck_assert_int_eq(pl_registry_find(range_of(first, last), &found), at < last);
	if (at == last)
		return;
	for (begin = at; begin && owner[begin - 1] == owner[at];)
		begin--;
	ck_assert_uint_eq(found.range.start, ground + begin * page);
	ck_assert_uint_eq(found.range.end, ground + end_of(at) * page);
	ck_assert_int_eq(found.kind, made[owner[at]].kind);
	ck_assert_int_eq(found.reason, made[owner[at]].reason);
	ck_assert(pl_registry_may_meet(range_of(first, last)));
}

/* Segments in order, by the model; the two parts of a split are two. */
static void check_all(void)
{
	size_t count = 0;
	unsigned int first = 0;

	while (first < PAGES) {
		unsigned int last = end_of(first);

		count += owner[first] != 0;
		check_find(first, last);
		first = last;
	}
	ck_assert_uint_eq(pl_registry_count(), count);
}

START_TEST(as_the_model)
{
	for (unsigned int step = 1; step <= STEPS; step++) {
		unsigned int first = random_below(PAGES - 1);
		unsigned int length = 1 + random_below(random_below(8) ? 4 : 40);
		unsigned int last = first + length < PAGES ? first + length : PAGES - 1;
		unsigned int what = random_below(10);

		if (last <= first)
			continue;
		if (what < 4) {
			add(first, last, step);
		} else if (what < 7) {
			pl_registry_remove(range_of(first, last));
			own(first, last, 0);
		} else if (what == 7) {
			resize(first, last, step);
		} else if (what == 8 && step % 7 == 0) {
			/* Of both parts of a split: the model keeps one reason per segment. */
			set_reason(0, PAGES, step);
		}
		check_find(first, last);
		if (step % 1000 == 0)
			check_all();
	}
}
END_TEST

START_TEST(split_and_cut)
{
	pl_segment_t found;

	add(10, 20, 1);
	ck_assert(pl_registry_find(range_of(19, 30), &found));
	ck_assert_uint_eq(found.asked, 10 * page - 5);
	pl_registry_remove(range_of(13, 15));
	ck_assert_uint_eq(pl_registry_count(), 2);
	ck_assert(pl_registry_find(range_of(0, 100), &found));
	ck_assert_uint_eq(found.range.end, ground + 13 * page);
	ck_assert_uint_eq(found.asked, 3 * page);
	ck_assert(!pl_registry_find(range_of(13, 15), &found));
	ck_assert(pl_registry_find(range_of(13, 16), &found));
	ck_assert_uint_eq(found.range.start, ground + 15 * page);
	ck_assert_uint_eq(found.range.end, ground + 20 * page);
	ck_assert_uint_eq(found.asked, 5 * page);
	pl_registry_remove(range_of(0, PAGES));
	ck_assert_uint_eq(pl_registry_count(), 0);
}
END_TEST

START_TEST(nothing_and_nonsense)
{
	pl_segment_t segment = { .range = range_of(5, 5) };

	ck_assert(!pl_registry_add(&segment));
	ck_assert(!pl_registry_may_meet(pl_range(0, UINTPTR_MAX)));
	ck_assert(!pl_registry_find(pl_range(0, UINTPTR_MAX), &segment));
	pl_registry_remove(pl_range(0, UINTPTR_MAX));
	pl_registry_resize(ground, ground + page);
	add(10, 20, 1);
	pl_registry_resize(ground + 10 * page, ground + 10 * page);
	pl_registry_resize(ground + 11 * page, ground + 30 * page);
	ck_assert(pl_registry_find(range_of(0, 50), &segment));
	ck_assert_uint_eq(segment.range.end, ground + 20 * page);
	ck_assert(!pl_registry_may_meet(range_of(20, 30)));
	ck_assert(!pl_registry_may_meet(range_of(0, 10)));
}
END_TEST

/* munmap(addr, 0) and the like: an empty range takes nothing out. */
START_TEST(empty_range_splits_nothing)
{
	add(10, 20, 1);
	pl_registry_remove(range_of(15, 15));
	ck_assert_uint_eq(pl_registry_count(), 1);
}
END_TEST

START_TEST(grows_beyond_its_first_array)
{
	pl_segment_t found;

	for (unsigned int i = 0; i < 5000; i++) {
		pl_segment_t segment = { .range = range_of(2 * i, 2 * i + 1), .asked = i + 1 };

		ck_assert(pl_registry_add(&segment));
	}
	ck_assert_uint_eq(pl_registry_count(), 5000);
	for (unsigned int i = 0; i < 5000; i++) {
		ck_assert(pl_registry_find(range_of(2 * i, 2 * i + 1), &found));
		ck_assert_uint_eq(found.asked, i + 1);
		ck_assert(!pl_registry_find(range_of(2 * i + 1, 2 * i + 2), &found));
	}
	pl_registry_remove(range_of(1, 9998));
	ck_assert_uint_eq(pl_registry_count(), 2);
}
END_TEST

START_TEST(after_fork_keeps_a_whole_array)
{
	pl_segment_t found;

	add(10, 20, 1);
	ck_assert(!pl_registry_after_fork());
	ck_assert(pl_registry_find(range_of(0, 100), &found));
}
END_TEST

static bool stop;

static void *churn(void *unused)
{
	pl_segment_t segment = { .range = range_of(0, 1) };

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		for (unsigned int i = 0; i < 2000; i++) {
			segment.range = range_of(2 * i, 2 * i + 1);
			pl_registry_add(&segment);
		}
	return unused;
}

/* Forks while another thread changes the array, until the lock was held at a fork. */
START_TEST(after_fork_forgets_a_torn_array)
{
	enum { TORN = 42, WHOLE = 43, WRONG = 44 };
	pthread_t thread;
	bool torn = false;

	ck_assert_int_eq(pthread_create(&thread, NULL, churn, NULL), 0);
	for (int i = 0; i < 2000 && !torn; i++) {
		pl_segment_t segment = { .range = range_of(1, 2) };
		pid_t child = fork();
		int status;

		if (child == 0) {
			bool was_torn = pl_registry_after_fork();

			if (was_torn && pl_registry_count() != 0)
				_exit(WRONG);
			if (!pl_registry_add(&segment) ||
			    !pl_registry_find(segment.range, &segment))
				_exit(WRONG);
			_exit(was_torn ? TORN : WHOLE);
		}
		ck_assert_int_gt(child, 0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != WRONG);
		torn = WEXITSTATUS(status) == TORN;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("registry");
	TCase *cases = tcase_create("registry");

	tcase_set_timeout(cases, 300);
	tcase_add_test(cases, as_the_model);
	tcase_add_test(cases, split_and_cut);
	tcase_add_test(cases, nothing_and_nonsense);
	tcase_add_test(cases, empty_range_splits_nothing);
	tcase_add_test(cases, grows_beyond_its_first_array);
	tcase_add_test(cases, after_fork_keeps_a_whole_array);
	tcase_add_test(cases, after_fork_forgets_a_torn_array);
	suite_add_tcase(suite, cases);
	return suite;
}
