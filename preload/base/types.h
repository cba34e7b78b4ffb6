/* SPDX-License-Identifier: MIT */
/* Sizes, address ranges and rounding, used by every room. */
#ifndef PL_BASE_TYPES_H
#define PL_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PL_KIB ((uintptr_t)1 << 10)
#define PL_MIB ((uintptr_t)1 << 20)
#define PL_GIB ((uintptr_t)1 << 30)

/* Every byte of the shim's interface that other objects may see is marked by this. */
#define PL_EXPORT           __attribute__((visibility("default")))
#define PL_ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* Bytes of a base page. Written once by the constructor from AT_PAGESZ, before any other use. */
extern uintptr_t pl_base_page;

/* Half-open range of addresses; empty when start >= end. */
typedef struct {
	uintptr_t start;
	uintptr_t end;
} pl_range_t;

/* Rounds down or up to a power of two. Rounding up wraps to a small value near the end of the
 * address space; callers that take lengths from an application check for it. */
static inline uintptr_t pl_round_down(uintptr_t value, uintptr_t unit)
{
	return value & ~(unit - 1);
}

static inline uintptr_t pl_round_up(uintptr_t value, uintptr_t unit)
{
	return (value + unit - 1) & ~(unit - 1);
}

static inline pl_range_t pl_range(uintptr_t start, uintptr_t end)
{
	return (pl_range_t){ .start = start, .end = end };
}

static inline bool pl_range_empty(pl_range_t range)
{
	return range.start >= range.end;
}

static inline uintptr_t pl_range_length(pl_range_t range)
{
	return pl_range_empty(range) ? 0 : range.end - range.start;
}

static inline bool pl_range_meets(pl_range_t a, pl_range_t b)
{
	return a.start < b.end && b.start < a.end && a.start < a.end && b.start < b.end;
}

static inline pl_range_t pl_range_clip(pl_range_t range, pl_range_t bounds)
{
	return pl_range(range.start > bounds.start ? range.start : bounds.start,
			range.end < bounds.end ? range.end : bounds.end);
}

/* The whole blocks of `unit` bytes that lie inside the range; empty when there is none. */
static inline pl_range_t pl_range_whole_blocks(pl_range_t range, uintptr_t unit)
{
	uintptr_t start = pl_round_up(range.start, unit);

	return start < range.start ? pl_range(0, 0)
				   : pl_range(start, pl_round_down(range.end, unit));
}

#endif
