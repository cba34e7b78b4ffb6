/* SPDX-License-Identifier: MIT */
/* A futex lock after Drepper's "Futexes Are Tricky" (mutex 2), with a bound on the wait. */
#include "base/lock.h"

#include <errno.h>

#include "base/sys.h"

enum { SPINS = 100, WAITS = 20, WAIT_NS = 50 * 1000 * 1000 };

static bool try_take(pl_lock_t *lock)
{
	uint32_t free_word = 0;

	return __atomic_compare_exchange_n(&lock->word, &free_word, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* Only waits that ran out count: a lock that changes hands is alive. */
static bool wait_and_take(pl_lock_t *lock)
{
	const struct timespec timeout = { .tv_nsec = WAIT_NS };
	int ran_out = 0;

	while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE) != 0) {
		if (ran_out == WAITS)
			return false;
		if (pl_sys_futex_wait(&lock->word, 2, &timeout) == -ETIMEDOUT)
			ran_out++;
	}
	return true;
}

bool pl_lock_take(pl_lock_t *lock)
{
	for (int i = 0; i < SPINS; i++) {
		if (try_take(lock))
			return true;
		pl_cpu_relax();
	}
	return wait_and_take(lock);
}

void pl_lock_release(pl_lock_t *lock)
{
	if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2)
		pl_sys_futex_wake(&lock->word, 1);
}

bool pl_lock_after_fork(pl_lock_t *lock)
{
	return __atomic_exchange_n(&lock->word, 0, __ATOMIC_RELAXED) != 0;
}
