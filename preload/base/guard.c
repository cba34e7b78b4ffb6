/* SPDX-License-Identifier: MIT */
#include "base/guard.h"

__thread unsigned char pl_guard_inside __attribute__((tls_model("initial-exec")));
