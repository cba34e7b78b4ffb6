/* SPDX-License-Identifier: MIT */
#include "placement/break.h"

#include <errno.h>
#include <string.h>

#include "backend/ops.h"
#include "backend/thp.h"
#include "base/file.h"
#include "base/lock.h"
#include "placement/context.h"
#include "placement/map.h"
#include "placement/promote.h"
#include "registry/registry.h"
#include "report/collect.h"
#include "report/counters.h"

/* libc's idea of the break (misc/sbrk.c), which sbrk trusts without asking the kernel. */
extern void *__curbrk;

static struct {
	pl_lock_t lock;
	uintptr_t start;    /* the first break seen; 0 = none yet */
	uintptr_t reported; /* what the program knows */
	uintptr_t real;     /* what the kernel has, >= reported */
	uintptr_t advised;  /* advice reaches up to here; 0 = none yet */
	bool exact;         /* never ahead again */
	bool leave;         /* the program advises it by itself */
} heap = { .lock = PL_LOCK_INIT(PL_RANK_BREAK) };

static uintptr_t load(const uintptr_t *field)
{
	return __atomic_load_n(field, __ATOMIC_RELAXED);
}

static void store(uintptr_t *field, uintptr_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELAXED);
}

static void report_break(uintptr_t addr)
{
	store(&heap.reported, addr);
	__curbrk = (void *)addr;
}

long pl_break_set_raw(uintptr_t addr)
{
	uintptr_t now = pl_ops->brk(addr);

	__curbrk = (void *)now;
	return now < addr ? -ENOMEM : 0;
}

static void give_up(void)
{
	if (!heap.exact)
		pl_count(PL_COUNTER_BRK_EXACT);
	heap.exact = true;
}

/* Takes over what the kernel says, when it is not what we left behind. */
static void follow_kernel(void)
{
	uintptr_t now = pl_ops->brk(0);

	if (!heap.start)
		store(&heap.start, now);
	else if (now != heap.real)
		give_up();
	store(&heap.real, now);
	if (heap.reported > now || heap.exact || !heap.reported)
		report_break(now);
}

/* Rule 3: while the real break is ahead, a raw call may have moved it, and then nothing above the
 * reported one can be counted on. Costs the one system call that plain growth costs. */
static void check_kernel(void)
{
	if (heap.real > heap.reported && pl_ops->brk(0) != heap.real)
		follow_kernel();
}

/* Rule 3, where it costs nothing: somebody set libc's idea of the break without us. */
static void synchronize(void)
{
	if (heap.start && (uintptr_t)__curbrk == heap.reported)
		return;
	if (heap.start)
		give_up();
	follow_kernel();
}

/* After the real break fell: what grows again is a new map without advice. */
static void lower_advice(void)
{
	uintptr_t page = pl_context_facts()->large_page;

	if (heap.advised <= heap.real)
		return;
	heap.advised = page ? pl_round_down(heap.real, page) : 0;
	if (page && heap.advised <= pl_round_up(heap.start, page))
		heap.advised = 0;
}

/* The kernel's break is elsewhere now; puts the books right. */
static void settle(uintptr_t real)
{
	store(&heap.real, real);
	if (heap.advised)
		lower_advice();
	pl_registry_resize(heap.start, heap.real);
}

static void set_back_to_reported(void)
{
	if (heap.real > heap.reported)
		settle(pl_ops->brk(heap.reported));
}

/* The heap that was there before us (the constructors of another library may have run first). */
static uintptr_t true_start(void)
{
	enum { START_BRK_FIELD = 47 }; /* proc_pid_stat(5) */
	char text[1024];
	uint64_t start = 0;
	char *field;

	if (pl_file_read("", "/proc/self/stat", text, sizeof(text)) <= 0)
		return heap.start;
	field = strrchr(text, ')'); /* ends field 2 */
	for (int i = 2; field && i < START_BRK_FIELD; i++)
		field = strchr(field + 1, ' ');
	if (field)
		pl_parse_number(field + 1, 10, &start);
	return start && start < heap.start ? (uintptr_t)start : heap.start;
}

/* Advises what was added to the heap. At the first time everything below goes too, and what is
 * resident of it is collapsed: its small pages would keep whole blocks small. */
static void advise_up_to(uintptr_t end, uintptr_t touched, uintptr_t page, pl_reason_t reason)
{
	bool first = !heap.advised;
	pl_range_t range;
	int result;

	if (first)
		store(&heap.start, true_start());
	range = pl_range(first ? pl_round_up(heap.start, page) : heap.advised,
			 pl_round_down(end, page));
	if (pl_range_empty(range))
		return;
	result = pl_thp_advise(range);
	if (result) {
		pl_context_note_advice(result);
		return;
	}
	heap.advised = range.end;
	if (!first)
		return;
	pl_promote_resident(pl_range(range.start, pl_round_up(touched, page)));
	pl_map_enlist(&(pl_segment_t){ .range = pl_range(heap.start, end),
				       .asked = end - heap.start,
				       .kind = PL_KIND_HEAP,
				       .reason = reason });
}

/* Whether the real break may be above the reported one, rising or falling. */
static bool may_be_ahead(const pl_facts_t *facts)
{
	return !heap.exact && !pl_context.locks_future &&
	       pl_policy_may_run_ahead(&pl_context.config, facts);
}

/* The break to ask for, given that the heap is large enough: ahead of `addr` when allowed. */
static uintptr_t goal(uintptr_t addr, const pl_facts_t *facts)
{
	if (!may_be_ahead(facts))
		return addr;
	if (heap.real > heap.reported || pl_ops->brk(0) == heap.real) /* else checked already */
		return pl_round_up(addr, facts->large_page);
	follow_kernel();
	return addr;
}

/* Moves the kernel's break to `addr`, or ahead of it when allowed. Returns 0 or -ENOMEM. */
static long extend(uintptr_t addr)
{
	const pl_facts_t *facts = pl_context_facts_for(addr - heap.start);
	pl_verdict_t decided = pl_policy_in_place(PL_KIND_HEAP, &pl_context.config, facts);
	uintptr_t page = facts->large_page;
	uintptr_t touched = heap.reported;
	bool large_enough = decided.advise && !heap.leave && addr - heap.start > page;
	uintptr_t wanted = large_enough ? goal(addr, facts) : addr;
	uintptr_t now = pl_ops->brk(wanted);

	if (now < addr && wanted > addr)
		now = pl_ops->brk(addr);
	if (now < addr)
		return -ENOMEM;
	store(&heap.real, now);
	report_break(addr);
	if (large_enough) {
		advise_up_to(now, touched, page, decided.reason);
		pl_registry_resize(heap.start, now);
	}
	return 0;
}

static long grow(uintptr_t addr)
{
	check_kernel();
	if (addr > heap.real)
		return extend(addr);
	pl_count(PL_COUNTER_BRK_SAVED);
	report_break(addr);
	return 0;
}

/* Rule 1. Nothing between the two breaks was ever handed out dirty: pages are zeroed here, or given
 * back, at the moment they fall. */
static void zero_fallen(uintptr_t addr, uintptr_t old)
{
	pl_range_t fallen = pl_range_clip(
		pl_range(pl_round_up(addr, pl_base_page), pl_round_up(old, pl_base_page)),
		pl_range(0, heap.real));

	if (!pl_range_empty(fallen))
		memset((void *)fallen.start, 0, pl_range_length(fallen));
}

static long shrink(uintptr_t addr)
{
	const pl_facts_t *facts = heap.advised ? pl_context_facts() : NULL;
	uintptr_t old;
	uintptr_t keep;

	check_kernel();
	old = heap.reported;
	keep = facts && may_be_ahead(facts) ? pl_round_up(addr, facts->large_page) : addr;

	/* Below its start the kernel refuses, and libc reports success with the break unmoved. */
	if (addr < heap.start)
		keep = addr;
	if (keep < heap.real) {
		if (pl_context_measures())
			pl_collect_closing(pl_range(keep, heap.real),
					   facts ? facts->large_page : 0);
		settle(pl_ops->brk(keep));
	}
	/* As libc: what the kernel refuses to shrink is no error, and the break stays. */
	if (heap.real > keep) {
		report_break(old);
		return 0;
	}
	report_break(addr);
	if (heap.real > addr)
		zero_fallen(addr, old);
	return 0;
}

static long set_break(uintptr_t addr)
{
	if (!addr) {
		report_break(heap.reported);
		return 0;
	}
	if (addr == heap.reported)
		return 0;
	return addr > heap.reported ? grow(addr) : shrink(addr);
}

long pl_break_set_for_libc(uintptr_t addr)
{
	long result;

	if (!pl_lock_take(&heap.lock))
		return pl_break_set_raw(addr);
	pl_count(PL_COUNTER_BRK_CALLS);
	synchronize();
	result = set_break(addr);
	pl_lock_release(&heap.lock);
	return result;
}

long pl_break_set_for_program(uintptr_t addr)
{
	long result;

	pl_break_retract();
	if (!pl_lock_take(&heap.lock))
		return pl_break_set_raw(addr);
	result = pl_break_set_raw(addr);
	if (heap.start) {
		settle((uintptr_t)__curbrk);
		store(&heap.reported, (uintptr_t)__curbrk);
	}
	pl_lock_release(&heap.lock);
	return result;
}

/* As misc/sbrk.c of glibc: the kernel is asked once, then __curbrk is trusted. */
long pl_break_move(intptr_t increment, bool pass_through)
{
	uintptr_t old;
	uintptr_t wanted;
	long result;

	if (!__curbrk)
		pl_break_set_raw(0);
	old = (uintptr_t)__curbrk;
	wanted = old + (uintptr_t)increment;
	if (!increment)
		return (long)old;
	if (increment > 0 ? wanted < old : wanted > old)
		return -ENOMEM;
	result = pass_through ? pl_break_set_raw(wanted) : pl_break_set_for_program(wanted);
	return result ? result : (long)old;
}

void pl_break_retract(void)
{
	if (!pl_lock_take(&heap.lock))
		return;
	set_back_to_reported();
	give_up();
	pl_lock_release(&heap.lock);
}

void pl_break_yield(pl_range_t range)
{
	if (pl_range_meets(range, pl_range(load(&heap.reported), load(&heap.real))))
		pl_break_retract();
}

void pl_break_yield_attributes(pl_range_t range)
{
	if (!heap.exact && pl_range_meets(range, pl_range(load(&heap.start), load(&heap.real))))
		pl_break_retract();
}

void pl_break_leave_advice(pl_range_t range)
{
	if (pl_range_meets(range, pl_range(load(&heap.start), load(&heap.real))))
		heap.leave = true;
}

void pl_break_after_fork(void)
{
	/* Held by a thread that is not here: its change may be half done. */
	if (pl_lock_after_fork(&heap.lock))
		follow_kernel();
}
