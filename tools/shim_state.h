/* SPDX-License-Identifier: MIT */
/*
 * The state of the shim in another process, copied through its status page (report/status.h) with
 * process_vm_readv(2), for which the kernel checks who may. The other process may write there what
 * it likes: counts are bounded, and numbers that index our tables are checked before their use.
 */
#ifndef PL_TOOLS_SHIM_STATE_H
#define PL_TOOLS_SHIM_STATE_H

#include "report/status.h"
#include "tools/process.h"
#include "tools/process_maps.h"

typedef struct {
	bool loaded;   /* a file named libpagelift.so is mapped */
	char *path;    /* the file, in the names of that process */
	char *failure; /* why its state is not known; NULL when all of the following is */
	const char *state;
	char condition[32]; /* of the redirection inside libc: "ok", ... */
	char package[17];
	pl_config_t config;
	int thp_disabled; /* what PR_GET_THP_DISABLE gave; -1 when it was not asked yet */
	uint64_t counters[PL_COUNTERS];
	uint64_t reasons[PL_REASONS];
	pl_segment_t *segments; /* sorted and disjoint; kinds and reasons are in range */
	size_t count;
} pl_shim_state_t;

pl_shim_state_t pl_shim_state_read(const pl_process_t *process, const pl_maps_t *maps);
void pl_shim_state_free(pl_shim_state_t *state);

/*
 * Opens a file that the process has mapped, and only if it is still that file, as it may be in
 * another mount namespace, replaced or deleted. Returns a descriptor or -errno: -ESTALE for another
 * file of that name.
 */
int pl_shim_open(const pl_process_t *process, const pl_map_t *map);

/* Why there is no shim in the process, as far as that can be told. */
const char *pl_shim_absence(const pl_process_t *process);

#endif
