/* SPDX-License-Identifier: MIT */
/* base/lock, base/guard and base/log. */
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/sys.h"

enum { ROUNDS = 20000 };

static pl_lock_t lock = PL_LOCK_INIT(PL_RANK_REGISTRY);
static uint64_t counted;
static uint64_t refused;

static void *count_up(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (!pl_lock_take(&lock)) {
			__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
			continue;
		}
		counted++;
		pl_lock_release(&lock);
	}
	return unused;
}

static void run_threads(size_t count)
{
	pthread_t threads[8];

	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, count_up, NULL), 0);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

START_TEST(threads_exclude_each_other)
{
	run_threads(2);
	ck_assert_uint_eq(counted + refused, 2 * ROUNDS);
	ck_assert_uint_eq(lock.word, 0);
}
END_TEST

static void *take_once(void *ret_taken)
{
	*(bool *)ret_taken = pl_lock_take(&lock);
	return NULL;
}

/* A waiter that is woken and finds the lock taken again, as under contention, has not waited for
 * long: the bound is one of time, not of wake-ups. */
START_TEST(lost_wakeups_are_no_timeout)
{
	bool taken = false;
	pthread_t thread;

	ck_assert(pl_lock_take(&lock));
	ck_assert_int_eq(pthread_create(&thread, NULL, take_once, &taken), 0);
	for (int woken = 0, tries = 0; woken < 30 && tries < 1000000; tries++)
		woken += (int)pl_sys_futex_wake(&lock.word, 1);
	pl_lock_release(&lock);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(taken);
}
END_TEST

/* Takes about a second: the bound on the wait. */
START_TEST(held_lock_is_given_up_on)
{
	errno = 77;
	ck_assert(pl_lock_take(&lock));
	ck_assert(!pl_lock_take(&lock));
	pl_lock_release(&lock);
	ck_assert(pl_lock_take(&lock));
	pl_lock_release(&lock);
	ck_assert_int_eq(errno, 77);
}
END_TEST

START_TEST(after_fork_frees)
{
	ck_assert(!pl_lock_after_fork(&lock));
	ck_assert(pl_lock_take(&lock));
	ck_assert(pl_lock_after_fork(&lock));
	ck_assert(pl_lock_take(&lock));
	pl_lock_release(&lock);
	ck_assert(!pl_lock_after_fork(&lock));
}
END_TEST

START_TEST(guard_lets_in_once)
{
	ck_assert(pl_guard_enter());
	ck_assert(!pl_guard_enter());
	pl_guard_leave();
	ck_assert(pl_guard_enter());
	pl_guard_leave();
}
END_TEST

static void *enter(void *ret_entered)
{
	*(bool *)ret_entered = pl_guard_enter();
	return NULL;
}

START_TEST(guard_is_per_thread)
{
	bool entered = false;
	pthread_t thread;

	ck_assert(pl_guard_enter());
	ck_assert_int_eq(pthread_create(&thread, NULL, enter, &entered), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(entered);
	pl_guard_leave();
}
END_TEST

/* Runs `say` with standard error in a pipe and returns what it wrote. */
static const char *capture(void (*say)(void))
{
	static char got[2048];
	int saved = dup(STDERR_FILENO);
	ssize_t length;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	say();
	dup2(saved, STDERR_FILENO);
	close(ends[1]);
	length = read(ends[0], got, sizeof(got) - 1);
	close(ends[0]);
	close(saved);
	ck_assert_int_ge(length, 0);
	got[length] = '\0';
	return got;
}

static void say_all(void)
{
	pl_log(PL_LOG_ERROR, "error %d", 1);
	pl_log(PL_LOG_WARN, "warn %s", "two");
	pl_log(PL_LOG_INFO, "info");
	pl_log(PL_LOG_DEBUG, "debug");
}

static void say_much(void)
{
	char word[2000];

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	pl_log(PL_LOG_WARN, "%s", word);
}

START_TEST(log_by_level)
{
	ck_assert_str_eq(capture(say_all), "pagelift: error 1\npagelift: warn two\n");
	pl_log_set_level(PL_LOG_ERROR);
	ck_assert_str_eq(capture(say_all), "pagelift: error 1\n");
	pl_log_set_level(PL_LOG_DEBUG);
	ck_assert_str_eq(capture(say_all), "pagelift: error 1\npagelift: warn two\n"
					   "pagelift: info\npagelift: debug\n");
}
END_TEST

START_TEST(long_log_line_is_cut)
{
	const char *line = capture(say_much);

	ck_assert_uint_eq(strlen(line), 1200);
	ck_assert_int_eq(line[1199], '\n');
	ck_assert_int_eq(line[1198], 'x');
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("base lock");
	TCase *cases = tcase_create("lock");

	tcase_set_timeout(cases, 120);
	tcase_add_test(cases, threads_exclude_each_other);
	tcase_add_test(cases, lost_wakeups_are_no_timeout);
	tcase_add_test(cases, held_lock_is_given_up_on);
	tcase_add_test(cases, after_fork_frees);
	tcase_add_test(cases, guard_lets_in_once);
	tcase_add_test(cases, guard_is_per_thread);
	tcase_add_test(cases, log_by_level);
	tcase_add_test(cases, long_log_line_is_cut);
	suite_add_tcase(suite, cases);
	return suite;
}
