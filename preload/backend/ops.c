/* SPDX-License-Identifier: MIT */
#include "backend/ops.h"

#include "base/sys.h"

const pl_ops_t pl_ops_kernel = {
	.mmap = pl_sys_mmap,
	.munmap = pl_sys_munmap,
	.mremap = pl_sys_mremap,
	.mprotect = pl_sys_mprotect,
	.madvise = pl_sys_madvise,
	.brk = pl_sys_brk,
	.prctl = pl_sys_prctl,
};

const pl_ops_t *pl_ops = &pl_ops_kernel;
