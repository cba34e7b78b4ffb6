/* SPDX-License-Identifier: MIT */
/* What libc's own six functions become. */
#ifndef PL_INTERCEPT_LIBC_ENTRIES_H
#define PL_INTERCEPT_LIBC_ENTRIES_H

#include "intercept/redirect.h"

/* Redirects the six functions and calls one of them to see that the call arrives; puts everything
 * back if it does not. */
pl_condition_t pl_libc_entries_take(void);

#endif
