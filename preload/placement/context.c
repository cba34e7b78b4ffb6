/* SPDX-License-Identifier: MIT */
#include "placement/context.h"

#include <errno.h>

#include "base/lock.h"
#include "base/types.h"

/* Two megabytes: x86-64 and aarch64 with 4K base pages; all others have larger ones. */
enum { SMALLEST_LARGE_PAGE = 2 * 1024 * 1024 };

pl_context_t pl_context;

static pl_lock_t facts_lock = PL_LOCK_INIT(PL_RANK_FACTS);
static bool facts_known;
pl_facts_t pl_context_facts_page;
static const pl_facts_t no_facts = { .limits_tight = true };

const pl_facts_t *pl_context_facts(void)
{
	if (__atomic_load_n(&facts_known, __ATOMIC_ACQUIRE))
		return &pl_context_facts_page;
	if (!pl_lock_take(&facts_lock))
		return &no_facts;
	if (!facts_known) {
		pl_facts_read_files("", &pl_context_facts_page);
		pl_facts_read_process(&pl_context_facts_page);
		__atomic_store_n(&facts_known, true, __ATOMIC_RELEASE);
	}
	pl_lock_release(&facts_lock);
	return &pl_context_facts_page;
}

const pl_facts_t *pl_context_facts_for(size_t length)
{
	static const pl_facts_t too_small = { .large_page = SMALLEST_LARGE_PAGE };

	return length < SMALLEST_LARGE_PAGE ? &too_small : pl_context_facts();
}

void pl_context_limits_are_tight(void)
{
	pl_context_facts();
	__atomic_store_n(&pl_context_facts_page.limits_tight, true, __ATOMIC_RELAXED);
}

/* The facts are read before: afterwards opening a file may be a reason to be killed. */
void pl_context_is_confined(void)
{
	pl_context_facts();
	__atomic_store_n(&pl_context_facts_page.confined, true, __ATOMIC_RELAXED);
}

/* EINVAL is a kernel without transparent huge pages; anything else may pass (EAGAIN, ENOMEM). The
 * page size stays what it is: other threads are computing with it. */
void pl_context_note_advice(int result)
{
	if (result == -EINVAL)
		__atomic_store_n(&pl_context_facts_page.advice_unknown, true, __ATOMIC_RELAXED);
}

void pl_context_set_thp_disabled(int value)
{
	pl_context_facts();
	__atomic_store_n(&pl_context_facts_page.thp_disabled, value, __ATOMIC_RELAXED);
}

bool pl_context_measures(void)
{
	return pl_context.measures && !pl_context_facts()->confined;
}

void pl_context_after_fork(void)
{
	pl_lock_after_fork(&facts_lock);
}
