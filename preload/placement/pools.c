/* SPDX-License-Identifier: MIT */
#include "placement/pools.h"

#include "base/types.h"
#include "facts/pools.h"
#include "placement/context.h"

enum { LONGEST_WAIT = 64 };

static uint64_t taken;
static unsigned int wait; /* requests to pass after the next failure, less one doubling */
static unsigned int to_pass;

static bool passes(void)
{
	unsigned int left = __atomic_load_n(&to_pass, __ATOMIC_RELAXED);

	if (!left)
		return false;
	__atomic_store_n(&to_pass, left - 1, __ATOMIC_RELAXED);
	return true;
}

void pl_pools_describe(pl_shared_request_t *request)
{
	const uint64_t sizes[PL_POOLS] = { PL_GIB, pl_context_facts()->large_page };

	request->taken = __atomic_load_n(&taken, __ATOMIC_RELAXED);
	request->memory = pl_memory_available("");
	request->backing_off = passes();
	for (int i = 0; i < PL_POOLS; i++) {
		request->pools[i].page = sizes[i];
		request->pools[i].available =
			request->backing_off ? 0 : pl_pool_available("", sizes[i]);
	}
}

uint64_t pl_memory_now(void)
{
	return pl_memory_available("");
}

bool pl_pools_in_use(void)
{
	return __atomic_load_n(&taken, __ATOMIC_RELAXED) != 0;
}

void pl_pools_take(size_t bytes)
{
	__atomic_fetch_add(&taken, bytes, __ATOMIC_RELAXED);
}

void pl_pools_give_back(size_t bytes)
{
	__atomic_fetch_sub(&taken, bytes, __ATOMIC_RELAXED);
}

void pl_pools_note(bool succeeded)
{
	unsigned int next = wait ? 2 * wait : 1;

	wait = succeeded ? 0 : next < LONGEST_WAIT ? next : LONGEST_WAIT;
	__atomic_store_n(&to_pass, wait, __ATOMIC_RELAXED);
}
