/* SPDX-License-Identifier: MIT */
/* mremap as it passes through placement: large pages stay whole when a map has to move. */
#ifndef PL_PLACEMENT_REMAP_H
#define PL_PLACEMENT_REMAP_H

#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

/* The arguments of mremap(2). */
typedef struct {
	uintptr_t old;
	size_t old_length;
	size_t new_length;
	int flags;
	uintptr_t target;
} pl_remap_request_t;

/* Returns the new address or a negative errno. The caller is inside pl_enter(). */
long pl_remap(pl_origin_t origin, const pl_remap_request_t *request);

#endif
