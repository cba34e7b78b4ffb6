/* SPDX-License-Identifier: MIT */
#include "placement/shm.h"

#include <errno.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "backend/hugetlb.h"
#include "backend/ops.h"
#include "backend/thp.h"
#include "base/sys.h"
#include "placement/break.h"
#include "placement/context.h"
#include "placement/map.h"
#include "placement/pools.h"
#include "policy/shared.h"
#include "registry/registry.h"
#include "report/counters.h"

/* Segments that this process (or the one it was forked from) created. */
enum { CREATED_MAX = 64 };

typedef struct {
	int id_plus_one; /* 0 = free */
	bool attached;
	size_t hugetlb_page;
} created_t;

static created_t created[CREATED_MAX];
static bool group_refuses; /* EPERM is for good: the sysctl is for all of a user's life */

static created_t *find_created(int id)
{
	for (size_t i = 0; i < CREATED_MAX; i++)
		if (created[i].id_plus_one == id + 1)
			return &created[i];
	return NULL;
}

static void note_created(long id, size_t hugetlb_page)
{
	static unsigned int next;
	created_t *slot = &created[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % CREATED_MAX];

	*slot = (created_t){ .id_plus_one = (int)id + 1, .hugetlb_page = hugetlb_page };
}

static long create_plain(int key, size_t size, int flags, pl_reason_t reason)
{
	long id = pl_sys_shmget(key, size, flags);

	pl_count_reason(reason);
	if (id >= 0 && size >= pl_context_facts_for(size)->large_page)
		note_created(id, 0);
	return id;
}

/* A reservation does not count against a cgroup's limit of pages in use: a later touch does, and
 * is a SIGBUS then. So all pages are there before anybody uses the segment. */
static int commit(long id, size_t size, uintptr_t page)
{
	long start = pl_sys_shmat((int)id, 0, 0);
	int result;

	if (pl_sys_failed(start))
		return (int)start;
	result = pl_thp_populate(
		pl_range((uintptr_t)start, (uintptr_t)start + pl_round_up(size, page)), PROT_WRITE);
	pl_sys_shmdt((uintptr_t)start);
	return result;
}

/* Creates it on the pool, or not at all. -EEXIST when the key was taken meanwhile. What has a key
 * may be found by others before it is complete: that there are pages is tried beforehand. */
static long create_on_pool(int key, size_t size, int flags, size_t page)
{
	int result = key == IPC_PRIVATE ? 0 : pl_hugetlb_prove(size, page);
	long id;

	if (result)
		return result;
	id = pl_sys_shmget(key, size, flags | IPC_CREAT | IPC_EXCL | pl_hugetlb_shm_flags(page));
	if (id == -EPERM)
		group_refuses = true;
	if (id < 0)
		return id;
	result = commit(id, size, page);
	if (!result)
		return id;
	pl_sys_shmctl((int)id, IPC_RMID, NULL);
	return result;
}

static long create(int key, size_t size, int flags)
{
	const pl_facts_t *facts = pl_context_facts_for(size);
	pl_shared_request_t described = { .kind = PL_KIND_SHM, .length = size };
	pl_reason_t reason;
	size_t page;
	long id;

	if (size >= facts->large_page)
		pl_pools_describe(&described);
	page = pl_policy_one_pool(&described, &pl_context.config, facts, &reason);
	if (page && group_refuses) {
		page = 0;
		reason = PL_REASON_POOL_GROUP;
	}
	if (!page)
		return create_plain(key, size, flags, reason);
	id = create_on_pool(key, size, flags, page);
	if (id == -EEXIST && flags & IPC_EXCL)
		return id;
	if (id == -EEXIST)
		return pl_sys_shmget(key, size, flags);
	pl_pools_note(id >= 0);
	if (id < 0)
		return create_plain(key, size, flags,
				    id == -EPERM ? PL_REASON_POOL_GROUP : PL_REASON_POOL_REFUSED);
	pl_count_reason(PL_REASON_POOL);
	pl_count(PL_COUNTER_PLACED);
	note_created(id, page);
	return id;
}

long pl_shm_get(int key, size_t size, int flags)
{
	long id;

	pl_count(PL_COUNTER_SHM_CALLS);
	if ((key != IPC_PRIVATE && !(flags & IPC_CREAT)) || flags & SHM_HUGETLB)
		return pl_sys_shmget(key, size, flags);
	if (key != IPC_PRIVATE) {
		/* What is there already is answered by the kernel, with its own errors. */
		id = pl_sys_shmget(key, size, flags & ~IPC_CREAT);
		if (id != -ENOENT)
			return id >= 0 && flags & IPC_EXCL ? -EEXIST
							   : pl_sys_shmget(key, size, flags);
	}
	return create(key, size, flags);
}

static size_t size_of(int id)
{
	struct shmid_ds status;

	return pl_sys_shmctl(id, IPC_STAT, &status) < 0 ? 0 : status.shm_segsz;
}

static void enlist(uintptr_t start, size_t size, size_t hugetlb_page, pl_reason_t reason)
{
	pl_segment_t segment = { .range = pl_map_range(start, size),
				 .asked = size,
				 .kind = PL_KIND_SHM,
				 .reason = reason,
				 .hugetlb_page = hugetlb_page };

	if (hugetlb_page) {
		segment.range.end = start + pl_round_up(size, hugetlb_page);
		pl_pools_take(pl_range_length(segment.range));
	}
	pl_map_enlist(&segment);
}

/* What can be done for a segment on small pages, now that it is attached. */
static pl_reason_t improve(pl_range_t range, created_t *mine)
{
	const pl_facts_t *facts = pl_context_facts();
	pl_shared_request_t request = { .kind = PL_KIND_SHM, .memory = pl_memory_now() };
	pl_reason_t reason;
	pl_shmem_action_t action = pl_policy_shmem(&request, pl_range_length(range),
						   &pl_context.config, facts, &reason);

	if (action == PL_SHMEM_ADVICE && pl_thp_advise(range))
		return PL_REASON_ADVICE_REFUSED;
	if (action != PL_SHMEM_LIFT)
		return reason;
	if (!mine || mine->attached)
		return PL_REASON_SHM_OF_OTHERS;
	mine->attached = true;
	return pl_thp_lift_shared(range, facts->large_page) ? reason : PL_REASON_SHMEM_FAILED;
}

/* Attaches where large pages can be mapped; anywhere if that fails. */
static long attach_aligned(int id, size_t size, int flags, uintptr_t page)
{
	long start = pl_thp_reserve(size, page);
	long result;

	if (pl_sys_failed(start))
		return pl_sys_shmat(id, 0, flags);
	result = pl_sys_shmat(id, (uintptr_t)start, flags | SHM_REMAP);
	if (!pl_sys_failed(result))
		return result;
	pl_ops->munmap((uintptr_t)start, size);
	return pl_sys_shmat(id, 0, flags);
}

static void make_way(pl_range_t range, int flags)
{
	pl_break_yield(range);
	if (!(flags & SHM_REMAP))
		return;
	pl_break_yield_attributes(range);
	pl_map_forget(range);
}

long pl_shm_attach(int id, uintptr_t addr, int flags)
{
	size_t size = size_of(id);
	const pl_facts_t *facts = pl_context_facts_for(size);
	created_t *mine = find_created(id);
	size_t hugetlb_page = mine ? mine->hugetlb_page : 0;
	bool placeable = size >= facts->large_page &&
			 pl_policy_in_place(PL_KIND_SHM, &pl_context.config, facts).advise &&
			 !pl_context.locks_future;
	long start;

	pl_count(PL_COUNTER_SHM_CALLS);
	if (addr)
		make_way(pl_map_range(addr, size), flags);
	if (placeable && !hugetlb_page && !addr)
		start = attach_aligned(id, size, flags, facts->large_page);
	else
		start = pl_sys_shmat(id, addr, flags);
	if (pl_sys_failed(start) || !placeable)
		return start;
	if (hugetlb_page)
		enlist((uintptr_t)start, size, hugetlb_page, PL_REASON_POOL);
	else
		enlist((uintptr_t)start, size, 0,
		       improve(pl_map_range((uintptr_t)start, size), mine));
	return start;
}

long pl_shm_detach(uintptr_t addr)
{
	pl_segment_t segment;

	pl_count(PL_COUNTER_SHM_CALLS);
	if (pl_registry_find(pl_range(addr, addr + 1), &segment) && segment.kind == PL_KIND_SHM &&
	    segment.range.start == addr)
		pl_map_forget(segment.range);
	return pl_sys_shmdt(addr);
}
