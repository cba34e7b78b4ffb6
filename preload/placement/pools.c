/* SPDX-License-Identifier: MIT */
#include "placement/pools.h"

#include "backend/hugetlbfs.h"
#include "base/types.h"
#include "facts/pools.h"
#include "placement/context.h"

enum { LONGEST_WAIT = 64 };

static uint64_t taken;
static bool used;
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

bool pl_pools_are_on_mount(void)
{
	return *pl_context.config.hugetlbfs;
}

static uint64_t available(uintptr_t page)
{
	uint64_t pages = pl_pool_available("", page);
	uint64_t room = pages && pl_pools_are_on_mount() ? pl_hugetlbfs_room(page) : pages;

	return room < pages ? room : pages;
}

uint64_t pl_memory_now(void)
{
	return pl_memory_available("");
}

/* Only lifting commits memory: read where that may be decided. */
static uint64_t memory_for(const pl_facts_t *facts)
{
	return facts->shmem_mode == PL_SHMEM_NEVER || facts->shmem_mode == PL_SHMEM_UNKNOWN
		       ? pl_memory_now()
		       : 0;
}

void pl_pools_describe(pl_shared_request_t *request)
{
	const pl_facts_t *facts = pl_context_facts_for(request->length);
	const uint64_t sizes[PL_POOLS] = { PL_GIB, facts->large_page };

	if (request->length < facts->large_page || pl_context.locks_future ||
	    !pl_policy_in_place(request->kind, &pl_context.config, facts).advise)
		return;
	request->taken = __atomic_load_n(&taken, __ATOMIC_RELAXED);
	request->memory = memory_for(facts);
	request->backing_off = passes();
	for (int i = 0; i < PL_POOLS; i++) {
		request->pools[i].page = sizes[i];
		if (!request->backing_off)
			request->pools[i].available = available(sizes[i]);
	}
}

bool pl_pools_in_use(void)
{
	return __atomic_load_n(&used, __ATOMIC_RELAXED);
}

void pl_pools_use(void)
{
	__atomic_store_n(&used, true, __ATOMIC_RELAXED);
}

void pl_pools_take(size_t bytes)
{
	pl_pools_use();
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
