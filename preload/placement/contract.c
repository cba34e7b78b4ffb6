/* SPDX-License-Identifier: MIT */
#include "placement/contract.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "backend/ops.h"
#include "backend/thp.h"
#include "base/file.h"
#include "base/sys.h"
#include "base/text.h"
#include "placement/context.h"
#include "placement/map.h"
#include "placement/parts.h"
#include "placement/pools.h"
#include "registry/registry.h"
#include "report/counters.h"

#ifndef MADV_DONTNEED_LOCKED /* Linux 5.18 */
#define MADV_DONTNEED_LOCKED 24
#endif

/* Copying needs as much memory again: no more than this share of what is available. */
enum { COPY_SHARE = 4 };

static bool shared_with_others;

static bool find_pages(pl_range_t range, pl_segment_t *ret_segment)
{
	return pl_pools_in_use() && pl_registry_find_hugetlb(range, ret_segment);
}

/* The hugetlb page of ours that `addr` cuts in two; empty when it cuts none. */
static pl_range_t cut_page(uintptr_t addr)
{
	pl_segment_t segment;
	uintptr_t start;

	if (!find_pages(pl_range(addr, addr + 1), &segment))
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

static void unmap_part(pl_range_t page, pl_range_t range)
{
	if (!pl_parts_add(page, range))
		return;
	pl_map_forget(page);
	pl_ops->munmap(page.start, pl_range_length(page));
}

long pl_contract_unmap(pl_range_t range)
{
	pl_range_t head = cut_page(range.start);
	pl_range_t tail = cut_page(range.end);
	pl_range_t inner = pl_range(pl_range_empty(head) ? range.start : head.end,
				    pl_range_empty(tail) ? range.end : tail.start);

	pl_count(PL_COUNTER_CUTS);
	if (!pl_range_empty(inner)) {
		long result;

		pl_map_forget(inner);
		result = pl_ops->munmap(inner.start, pl_range_length(inner));
		if (result)
			return result;
	}
	if (!pl_range_empty(head))
		unmap_part(head, range);
	if (!pl_range_empty(tail) && tail.start != head.start)
		unmap_part(tail, range);
	return 0;
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
	case MADV_DONTNEED_LOCKED:
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

/* Whether a line of /proc/self/maps is of a shared map, and its protection. */
static bool parse_shared(const char *line, pl_range_t *ret_map, int *ret_prot)
{
	uint64_t start;
	uint64_t end;
	const char *rest = pl_parse_number(line, 16, &start);

	rest = pl_parse_number(rest + 1, 16, &end);
	*ret_map = pl_range(start, end);
	*ret_prot = (rest[1] == 'r' ? PROT_READ : 0) | (rest[2] == 'w' ? PROT_WRITE : 0) |
		    (rest[3] == 'x' ? PROT_EXEC : 0);
	return rest[4] == 's';
}

/* The one protection that all of a range has, without a gap; -1 when it has not, or cannot be read
 * by the program itself. */
static int protection_of(pl_range_t range)
{
	int fd = pl_file_open("", "/proc/self/maps");
	pl_lines_t lines;
	int found = -1;
	char *line;

	if (fd < 0)
		return -1;
	pl_lines_init(&lines, fd);
	while (!pl_range_empty(range) && (line = pl_lines_next(&lines))) {
		pl_range_t map;
		int prot;
		bool shared = parse_shared(line, &map, &prot);

		if (map.end <= range.start)
			continue;
		if (!shared || map.start > range.start || (found >= 0 && prot != found))
			break;
		found = prot;
		range.start = map.end;
	}
	pl_sys_close(fd);
	return pl_range_empty(range) && found >= 0 && found & PROT_READ ? found : -1;
}

/* A task has one link for each thread, beside those of every folder (fs/proc/base.c,
 * proc_task_getattr). */
static bool has_one_thread(void)
{
	enum { LINKS_OF_ONE_THREAD = 3 };
	int fd = pl_file_open("", "/proc/self/task");
	struct stat status;
	long result;

	if (fd < 0)
		return false;
	result = pl_sys_fstat(fd, &status);
	pl_sys_close(fd);
	return !result && status.st_nlink == LINKS_OF_ONE_THREAD;
}

/* A child made without fork(3) shares the memory too. */
static bool has_no_children(void)
{
	char path[PL_PATH_MAX];
	char children[32];
	pl_text_t text = PL_TEXT_INIT(path, -1);

	pl_text_format(&text, "/proc/self/task/%lu/children", (unsigned long)pl_sys_getpid());
	return pl_file_read("", pl_text_end(&text), children, sizeof(children)) == 0;
}

static bool is_alone(void)
{
	return !shared_with_others && !pl_context_facts()->confined && has_one_thread() &&
	       has_no_children();
}

/* A signal handler that writes between copy and move would write to what goes. */
static long copy_and_move(pl_range_t range, uintptr_t copy, int prot)
{
	uint64_t all = UINT64_MAX;
	uint64_t before = 0;
	long result;

	pl_sys_sigprocmask(&all, &before);
	memcpy((void *)copy, (const void *)range.start, pl_range_length(range));
	result = pl_ops->mprotect(copy, pl_range_length(range), prot);
	if (!result)
		result = pl_ops->mremap(copy, pl_range_length(range), pl_range_length(range),
					MREMAP_MAYMOVE | MREMAP_FIXED, range.start);
	pl_sys_sigprocmask(&before, NULL);
	return result;
}

/* What was unmapped in a page that stayed is there again, and now can go. */
static void unmap_noted_parts(pl_range_t range)
{
	pl_range_t part;

	while (!pl_range_empty(part = pl_parts_find(range))) {
		pl_parts_forget(part);
		pl_ops->munmap(part.start, pl_range_length(part));
	}
}

/* Copies a range to one plain shared map and moves that over it. */
static bool replace(pl_range_t range)
{
	size_t length = pl_range_length(range);
	int prot = protection_of(range);
	long copy;

	if (prot < 0 || length > pl_memory_now() / COPY_SHARE)
		return false;
	copy = pl_ops->mmap(0, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pl_sys_failed(copy))
		return false;
	if (pl_sys_failed(copy_and_move(range, (uintptr_t)copy, prot))) {
		pl_ops->munmap((uintptr_t)copy, length);
		return false;
	}
	unmap_noted_parts(range);
	pl_map_forget(range);
	pl_count(PL_COUNTER_MADE_PLAIN);
	return true;
}

/* Others may be attached to a SysV segment. */
static bool is_ours_alone(pl_range_t range)
{
	pl_segment_t segment;

	return find_pages(range, &segment) && segment.kind == PL_KIND_SHARED &&
	       range.start >= segment.whole.start && range.end <= segment.whole.end && is_alone();
}

static bool replace_cut(pl_range_t page)
{
	return pl_range_empty(page) || (is_ours_alone(page) && replace(page));
}

bool pl_contract_make_plain(pl_range_t range)
{
	pl_range_t head = cut_page(range.start);
	pl_range_t tail = cut_page(range.end);

	if (replace_cut(head) && (tail.start == head.start || replace_cut(tail)))
		return true;
	pl_count(PL_COUNTER_CUTS_REFUSED);
	return false;
}

bool pl_contract_make_whole_plain(pl_range_t range)
{
	pl_segment_t segment;

	if (!find_pages(range, &segment))
		return true;
	if (!pl_range_empty(range) && pl_contract_make_plain(range) &&
	    (!find_pages(range, &segment) || (is_ours_alone(range) && replace(range))))
		return true;
	return false;
}
