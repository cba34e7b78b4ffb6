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
#include "placement/contract.h"
#include "placement/map.h"
#include "placement/pools.h"
#include "placement/promote.h"
#include "policy/shared.h"
#include "registry/registry.h"
#include "report/counters.h"

/* Segments that this process (or the one it was forked from) created. */
enum { CREATED_MAX = 64 };

typedef struct {
	int id_plus_one; /* 0 = free */
	int creator;     /* tells it from a later segment that got the same id */
	bool attached;
	bool sparse; /* SHM_NORESERVE */
	bool native;    /* the program asked for hugetlb pages itself, and knows their rules */
	size_t counted; /* bytes taken from a pool for it */
} created_t;

static created_t created[CREATED_MAX];
static bool group_refuses;  /* EPERM is for good: the sysctl is for all of a user's life */
static bool odd_addresses; /* the program attaches where no hugetlb page can be */

static created_t *find_created(int id, const struct shmid_ds *status)
{
	for (size_t i = 0; i < CREATED_MAX; i++)
		if (created[i].id_plus_one == id + 1 && created[i].creator == status->shm_cpid)
			return &created[i];
	return NULL;
}

static bool read_status(int id, struct shmid_ds *ret_status)
{
	return pl_sys_shmctl(id, IPC_STAT, ret_status) >= 0;
}

/* What was removed meanwhile is given back. Asked only when there is a quota to keep. */
static void settle_quota(void)
{
	struct shmid_ds status;

	for (size_t i = 0; i < CREATED_MAX && pl_context.config.max_bytes; i++) {
		if (!created[i].counted || read_status(created[i].id_plus_one - 1, &status))
			continue;
		pl_pools_give_back(__atomic_exchange_n(&created[i].counted, 0, __ATOMIC_RELAXED));
	}
}

static void note_created(long id, created_t made)
{
	static unsigned int next;
	created_t *slot = &created[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % CREATED_MAX];

	made.id_plus_one = (int)id + 1;
	made.creator = (int)pl_sys_getpid();
	*slot = made;
	if (made.counted)
		pl_pools_take(made.counted);
}

static long create_plain(int key, size_t size, int flags, pl_reason_t reason)
{
	long id = pl_sys_shmget(key, size, flags);

	pl_count(PL_COUNTER_SHM_DECIDED);
	pl_count_reason(reason);
	if (id >= 0 && size >= pl_context_facts_for(size)->large_page)
		note_created(id, (created_t){ .native = flags & SHM_HUGETLB,
					      .sparse = flags & SHM_NORESERVE });
	return id;
}

/* A reservation does not count against a cgroup's limit on pages in use: a later touch does, and is
 * a SIGBUS then. So all pages are there before anybody uses the segment. */
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
	id = pl_sys_shmget(key, size, (flags & ~SHM_NORESERVE) | IPC_CREAT | IPC_EXCL |
					      pl_hugetlb_shm_flags(page));
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
	pl_shared_request_t described = { .kind = PL_KIND_SHM,
					  .length = size,
					  .sparse = flags & SHM_NORESERVE };
	pl_reason_t reason;
	size_t page;
	long id;

	settle_quota();
	pl_pools_describe(&described);
	page = pl_policy_one_pool(&described, &pl_context.config, facts, &reason);
	if (page && (group_refuses || odd_addresses)) {
		page = 0;
		reason = group_refuses ? PL_REASON_POOL_GROUP : PL_REASON_POOL_ADDRESS;
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
	pl_count(PL_COUNTER_SHM_DECIDED);
	pl_count_reason(PL_REASON_POOL);
	pl_count(PL_COUNTER_PLACED);
	note_created(id, (created_t){ .counted = pl_round_up(size, page) });
	return id;
}

long pl_shm_get(int key, size_t size, int flags)
{
	const pl_facts_t *facts = pl_context_facts_for(size);
	long id;

	pl_count(PL_COUNTER_SHM_CALLS);
	if ((key != IPC_PRIVATE && !(flags & IPC_CREAT)) || size < facts->large_page ||
	    pl_context.locks_future ||
	    !pl_policy_in_place(PL_KIND_SHM, &pl_context.config, facts).advise)
		return pl_sys_shmget(key, size, flags);
	if (flags & SHM_HUGETLB)
		return create_plain(key, size, flags, PL_REASON_ALREADY_LARGE);
	if (key != IPC_PRIVATE) {
		/* What is there already is answered by the kernel, with its own errors. */
		id = pl_sys_shmget(key, size, flags & ~IPC_CREAT);
		if (id != -ENOENT)
			return id >= 0 && flags & IPC_EXCL ? -EEXIST
							   : pl_sys_shmget(key, size, flags);
	}
	return create(key, size, flags);
}

/* The hugetlb page size of an attached segment; 0 = none. Nothing says it but smaps and the rule
 * that MADV_DONTNEED cuts no hugetlb page; elsewhere that call drops nothing but page table
 * entries, as the memory is shared. */
static size_t hugetlb_page_at(uintptr_t start, size_t size)
{
	uintptr_t large = pl_context_facts()->large_page;

	if (pl_ops->madvise(start + pl_base_page, pl_base_page, MADV_DONTNEED) != -EINVAL)
		return 0;
	if (size <= large || pl_ops->madvise(start + large, large, MADV_DONTNEED) != -EINVAL)
		return large;
	return PL_GIB;
}

static void enlist(uintptr_t start, size_t size, size_t hugetlb_page, pl_reason_t reason)
{
	pl_range_t range = pl_range(
		start, start + pl_round_up(size, hugetlb_page ? hugetlb_page : pl_base_page));

	if (hugetlb_page)
		pl_pools_use();
	pl_map_enlist(&(pl_segment_t){ .range = range,
				       .asked = size,
				       .kind = PL_KIND_SHM,
				       .reason = reason,
				       .hugetlb_page = hugetlb_page,
				       .whole = range });
}

/* What can be done for a segment on small pages, now that it is attached. */
static pl_reason_t improve(pl_range_t range, created_t *mine)
{
	const pl_facts_t *facts = pl_context_facts();
	pl_shared_request_t request = { .kind = PL_KIND_SHM,
					.memory = pl_memory_now(),
					.sparse = mine && mine->sparse };
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
	return pl_promote_shared(range);
}

static void note_attached(uintptr_t start, size_t size, created_t *mine)
{
	size_t page = hugetlb_page_at(start, size);

	if (!page) {
		enlist(start, size, 0, improve(pl_map_range(start, size), mine));
		return;
	}
	if (!mine || !mine->native)
		enlist(start, size, page, PL_REASON_POOL);
}

/*
 * Attaches where large pages can be mapped; anywhere if that fails. The segment may be on hugetlb
 * pages, by another process: then the map reaches to the end of its last page, for which there has
 * to be room (SHM_REMAP would replace what is there). On 1G pages that would be too far, so no
 * address is tried that they could have.
 */
static long attach_aligned(int id, size_t size, int flags, uintptr_t page)
{
	size_t whole = pl_round_up(size, page);
	long reserved = pl_thp_reserve(whole + page, page);
	uintptr_t start = (uintptr_t)reserved;
	uintptr_t end = start + whole + page;
	uintptr_t unused;
	long result;

	if (pl_sys_failed(reserved))
		return pl_sys_shmat(id, 0, flags);
	if (start % PL_GIB == 0)
		start += page;
	result = pl_sys_shmat(id, start, flags | SHM_REMAP);
	if (pl_sys_failed(result)) {
		pl_ops->munmap((uintptr_t)reserved, end - (uintptr_t)reserved);
		return pl_sys_shmat(id, 0, flags);
	}
	unused = start + (hugetlb_page_at(start, size) ? whole : pl_round_up(size, pl_base_page));
	if (start > (uintptr_t)reserved)
		pl_ops->munmap((uintptr_t)reserved, start - (uintptr_t)reserved);
	if (end > unused)
		pl_ops->munmap(unused, end - unused);
	return result;
}

/* On hugetlb pages the map reaches to the end of its last page, and SHM_REMAP would take what is
 * there from the program. Only an attachment tells. */
static bool reaches_too_far(int id, size_t size)
{
	long start = pl_sys_shmat(id, 0, SHM_RDONLY);
	bool result;

	if (pl_sys_failed(start))
		return false;
	result = hugetlb_page_at((uintptr_t)start, size) != 0;
	pl_sys_shmdt((uintptr_t)start);
	return result;
}

/* What was there is forgotten only when it is gone. */
static long replace_by(int id, uintptr_t addr, int flags, pl_range_t range)
{
	long start = pl_sys_shmat(id, addr, flags);

	if (!pl_sys_failed(start) && flags & SHM_REMAP)
		pl_map_forget(range);
	return start;
}

static long attach_at(int id, size_t size, uintptr_t addr, int flags, const created_t *mine)
{
	uintptr_t page = pl_context_facts()->large_page;
	pl_range_t range = pl_map_range(addr, size);

	if (addr % page && size >= page)
		odd_addresses = true;
	if (flags & SHM_REMAP && size % page && size > page && !(mine && mine->native) &&
	    reaches_too_far(id, size)) {
		pl_count(PL_COUNTER_CUTS_REFUSED);
		return -EINVAL;
	}
	pl_break_yield(range);
	if (flags & SHM_REMAP)
		pl_break_yield_attributes(range);
	if (flags & SHM_REMAP && pl_contract_cuts(range) && !pl_contract_make_plain(range))
		return -EINVAL;
	return replace_by(id, addr, flags, range);
}

/* What is not placed: nothing is asked of the kernel but the call itself. */
static long attach_plain(int id, uintptr_t addr, int flags)
{
	struct shmid_ds status;

	if (addr)
		pl_break_retract();
	if (flags & SHM_REMAP && pl_pools_in_use() && read_status(id, &status))
		return replace_by(id, addr, flags, pl_map_range(addr, status.shm_segsz));
	return pl_sys_shmat(id, addr, flags);
}

long pl_shm_attach(int id, uintptr_t addr, int flags)
{
	const pl_facts_t *facts = pl_context_facts();
	struct shmid_ds status;
	created_t *mine;
	long start;

	pl_count(PL_COUNTER_SHM_CALLS);
	if (!pl_policy_in_place(PL_KIND_SHM, &pl_context.config, facts).advise ||
	    pl_context.locks_future || !read_status(id, &status))
		return attach_plain(id, addr, flags);
	mine = find_created(id, &status);
	if (addr)
		start = attach_at(id, status.shm_segsz, addr, flags, mine);
	else if (status.shm_segsz >= facts->large_page && !(flags & SHM_REMAP))
		start = attach_aligned(id, status.shm_segsz, flags, facts->large_page);
	else
		start = pl_sys_shmat(id, 0, flags);
	if (!pl_sys_failed(start) && status.shm_segsz >= facts->large_page)
		note_attached((uintptr_t)start, status.shm_segsz, mine);
	return start;
}

/* All that is left of the attachment goes: parts of it may have been unmapped before. */
static void forget_attachment(uintptr_t addr)
{
	pl_segment_t segment;
	uintptr_t next = addr;

	while (pl_registry_find(pl_range(next, UINTPTR_MAX), &segment)) {
		next = segment.range.end;
		if (segment.kind == PL_KIND_SHM && segment.whole.start == addr)
			pl_map_forget(segment.range);
	}
}

long pl_shm_detach(uintptr_t addr)
{
	pl_count(PL_COUNTER_SHM_CALLS);
	forget_attachment(addr);
	return pl_sys_shmdt(addr);
}
