/* SPDX-License-Identifier: MIT */
#include "base/types.h"

uintptr_t pl_base_page = 4 * PL_KIB;
