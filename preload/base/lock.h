/* SPDX-License-Identifier: MIT */
/*
 * Locks of the shim. A caller may hold malloc's or the loader's lock, may be a signal handler and
 * may be a child whose lock owner does not exist any more (_Fork, clone), so taking a lock can
 * fail; the caller then passes the application's call through unchanged.
 */
#ifndef PL_BASE_LOCK_H
#define PL_BASE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Taken in this order only. A lock is never held across fork: libc takes malloc's locks after the
 * prepare handlers, and our callers hold them already (pl_lock_after_fork). */
typedef enum {
	PL_RANK_BREAK,
	PL_RANK_ARENA,
	PL_RANK_FACTS,
	PL_RANK_REGISTRY,
	PL_RANK_PARTS,
} pl_rank_t;

typedef struct {
	uint32_t word; /* 0 free, 1 held, 2 held and somebody waits */
	pl_rank_t rank;
} pl_lock_t;

#define PL_LOCK_INIT(rank_)                \
	{                                  \
		.word = 0, .rank = (rank_) \
	}

/* Waits for a second at most while the lock does not change hands. Returns false when it could not
 * be had. */
bool pl_lock_take(pl_lock_t *lock);
void pl_lock_release(pl_lock_t *lock);

/* In a forked child: frees the lock. Returns true when it was held at the fork, which means that
 * what it protects may be half changed. */
bool pl_lock_after_fork(pl_lock_t *lock);

#endif
