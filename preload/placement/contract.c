/* SPDX-License-Identifier: MIT */
#include "placement/contract.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "backend/ops.h"
#include "backend/thp.h"
#include "base/file.h"
#include "base/sys.h"
#include "placement/map.h"
#include "placement/pools.h"
#include "registry/registry.h"
#include "report/counters.h"

/* Parts of cut pages that the program has unmapped, sorted by nothing, disjoint. */
enum { DEAD_MAX = 64 };

static pl_range_t dead[DEAD_MAX];
static bool shared_with_others;

/* The hugetlb page of ours that `addr` cuts in two; empty when it cuts none. */
static pl_range_t cut_page(uintptr_t addr)
{
	pl_segment_t segment;
	uintptr_t start;

	if (!pl_registry_find(pl_range(addr, addr + 1), &segment) || !segment.hugetlb_page)
		return pl_range(0, 0);
	start = pl_round_down(addr, segment.hugetlb_page);
	return addr == start ? pl_range(0, 0) : pl_range(start, start + segment.hugetlb_page);
}

bool pl_contract_cuts(pl_range_t range)
{
	if (!pl_pools_in_use() || !pl_registry_may_meet(range))
		return false;
	return !pl_range_empty(cut_page(range.start)) || !pl_range_empty(cut_page(range.end));
}

static void remember(pl_range_t part)
{
	for (size_t i = 0; i < DEAD_MAX; i++) {
		if (!pl_range_empty(dead[i]))
			continue;
		dead[i] = part;
		return;
	}
	pl_count(PL_COUNTER_CUTS_KEPT); /* the page then stays until the process ends */
}

/* Bytes of the page that were unmapped. Parts do not overlap: each is clipped by the caller. */
static size_t dead_bytes(pl_range_t page)
{
	size_t bytes = 0;

	for (size_t i = 0; i < DEAD_MAX; i++)
		bytes += pl_range_length(pl_range_clip(dead[i], page));
	return bytes;
}

static void forget_parts(pl_range_t page)
{
	for (size_t i = 0; i < DEAD_MAX; i++)
		if (pl_range_meets(dead[i], page))
			dead[i] = pl_range(0, 0);
}

/* The part of one page that is still there and now goes. Parts may be unmapped twice. */
static void unmap_part(pl_range_t page, pl_range_t part)
{
	part = pl_range_clip(part, page);
	for (size_t i = 0; i < DEAD_MAX; i++) {
		if (!pl_range_meets(dead[i], part))
			continue;
		if (dead[i].start <= part.start && dead[i].end < part.end)
			part.start = dead[i].end;
		else if (dead[i].start > part.start && dead[i].end >= part.end)
			part.end = dead[i].start;
		else if (dead[i].start <= part.start)
			return;
		else
			dead[i] = pl_range(0, 0); /* swallowed by the new part */
	}
	remember(part);
	if (dead_bytes(page) < pl_range_length(page))
		return;
	forget_parts(page);
	pl_map_forget(page);
	pl_ops->munmap(page.start, pl_range_length(page));
}

void pl_contract_unmap(pl_range_t range)
{
	pl_range_t head = cut_page(range.start);
	pl_range_t tail = cut_page(range.end);
	pl_range_t inner = range;

	pl_count(PL_COUNTER_CUTS);
	if (!pl_range_empty(head)) {
		unmap_part(head, range);
		inner.start = head.end;
	}
	if (!pl_range_empty(tail)) {
		if (tail.start != head.start)
			unmap_part(tail, range);
		inner.end = tail.start;
	}
	if (pl_range_empty(inner))
		return;
	pl_map_forget(inner);
	pl_ops->munmap(inner.start, pl_range_length(inner));
}

/* A dump flag acts on whole pages: those that the range holds. */
static long advise_whole_pages(pl_range_t part, uintptr_t page, int advice)
{
	pl_range_t pages = pl_range_whole_blocks(part, page);

	return pl_range_empty(pages)
		       ? 0
		       : pl_ops->madvise(pages.start, pl_range_length(pages), advice);
}

/* The kernel gives whole pages back to the pool and drops their reservation; a touch after that is
 * a SIGBUS if the pool has no more. So they stay, as zeros. Whether what cannot be written may be
 * removed is for the kernel to say; such pages are fetched again at once. */
static long remove_in_place(pl_range_t part)
{
	long result;

	if (!pl_thp_populate(part, PROT_WRITE)) {
		memset((void *)part.start, 0, pl_range_length(part));
		return 0;
	}
	result = pl_ops->madvise(part.start, pl_range_length(part), MADV_REMOVE);
	if (!result)
		pl_thp_populate(part, PROT_READ);
	return result;
}

/* As on plain shared memory: hints succeed, DONTNEED keeps the contents. FREE and WIPEONFORK are
 * for private memory: the kernel's answers are right. */
static long advise_part(pl_range_t part, uintptr_t page, int advice)
{
	switch (advice) {
	case MADV_NORMAL:
	case MADV_RANDOM:
	case MADV_SEQUENTIAL:
	case MADV_WILLNEED:
	case MADV_COLD:
	case MADV_PAGEOUT:
	case MADV_HUGEPAGE:
	case MADV_NOHUGEPAGE:
	case MADV_COLLAPSE:
	case MADV_DONTNEED:
		return 0;
	case MADV_REMOVE:
		return remove_in_place(part);
	case MADV_DONTDUMP:
	case MADV_DODUMP:
		return advise_whole_pages(part, page, advice);
	case MADV_DONTFORK:
	case MADV_DOFORK:
		if (pl_contract_cuts(part))
			pl_contract_make_plain(part);
		break;
	default:
		break;
	}
	return pl_ops->madvise(part.start, pl_range_length(part), advice);
}

static bool find_pages(pl_range_t range, pl_segment_t *ret_segment)
{
	return pl_pools_in_use() && pl_registry_find_hugetlb(range, ret_segment);
}

/* The kernel goes on behind a hole, and reports it in the end (madvise(2), ENOMEM). */
bool pl_contract_advise(pl_range_t range, int advice, long *ret_result)
{
	pl_segment_t segment;
	long holes = 0;

	if (!find_pages(range, &segment))
		return false;
	while (!pl_range_empty(range)) {
		pl_range_t pages = find_pages(range, &segment)
					   ? pl_range_clip(segment.range, range)
					   : pl_range(range.end, range.end);
		long result = 0;

		if (pages.start > range.start)
			result = pl_ops->madvise(range.start, pages.start - range.start, advice);
		if (result == -ENOMEM)
			holes = result;
		if ((!result || result == -ENOMEM) && !pl_range_empty(pages))
			result = advise_part(pages, segment.hugetlb_page, advice);
		if (result && result != -ENOMEM) {
			*ret_result = result;
			return true;
		}
		range.start = pages.end;
	}
	*ret_result = holes;
	return true;
}

void pl_contract_after_fork(void)
{
	shared_with_others = true;
}

/* The protection of the map that holds `addr`, from /proc; -1 when it cannot be read. */
static int protection_at(uintptr_t addr)
{
	int fd = pl_file_open("", "/proc/self/maps");
	pl_lines_t lines;
	int prot = -1;
	char *line;

	if (fd < 0)
		return -1;
	pl_lines_init(&lines, fd);
	while (prot < 0 && (line = pl_lines_next(&lines))) {
		uint64_t start;
		uint64_t end;
		const char *rest = pl_parse_number(line, 16, &start);

		rest = pl_parse_number(rest + 1, 16, &end);
		if (addr >= start && addr < end)
			prot = (rest[1] == 'r' ? PROT_READ : 0) |
			       (rest[2] == 'w' ? PROT_WRITE : 0) | (rest[3] == 'x' ? PROT_EXEC : 0);
	}
	pl_sys_close(fd);
	return prot;
}

/* Copies pages to one plain shared map and moves that over them. */
static bool replace_page(pl_range_t page)
{
	size_t length = pl_range_length(page);
	int prot = protection_at(page.start);
	long copy;

	if (prot < 0 || !(prot & PROT_READ))
		return false;
	copy = pl_ops->mmap(0, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pl_sys_failed(copy))
		return false;
	memcpy((void *)copy, (const void *)page.start, length);
	if (pl_ops->mprotect((uintptr_t)copy, length, prot) ||
	    pl_sys_failed(pl_ops->mremap((uintptr_t)copy, length, length,
					 MREMAP_MAYMOVE | MREMAP_FIXED, page.start))) {
		pl_ops->munmap((uintptr_t)copy, length);
		return false;
	}
	pl_map_forget(page);
	pl_count(PL_COUNTER_MADE_PLAIN);
	return true;
}

/* A task has one link for each thread, beside those of every folder (fs/proc/base.c,
 * proc_task_getattr). */
static bool is_alone(void)
{
	enum { LINKS_OF_ONE_THREAD = 3 };
	struct stat status;
	int fd;
	long result;

	if (shared_with_others)
		return false;
	fd = pl_file_open("", "/proc/self/task");
	if (fd < 0)
		return false;
	result = pl_sys_fstat(fd, &status);
	pl_sys_close(fd);
	return !result && status.st_nlink == LINKS_OF_ONE_THREAD;
}

bool pl_contract_make_whole_plain(pl_range_t range)
{
	pl_segment_t segment;

	if (!find_pages(range, &segment))
		return true;
	if (is_alone() && replace_page(range))
		return true;
	pl_count(PL_COUNTER_CUTS_REFUSED);
	return false;
}

bool pl_contract_make_plain(pl_range_t range)
{
	pl_range_t head = cut_page(range.start);
	pl_range_t tail = cut_page(range.end);

	if (is_alone() && (pl_range_empty(head) || replace_page(head)) &&
	    (pl_range_empty(tail) || tail.start == head.start || replace_page(tail)))
		return true;
	pl_count(PL_COUNTER_CUTS_REFUSED);
	return false;
}
