/* SPDX-License-Identifier: MIT */
/* The maps of a process with the kernel's figures for each: /proc/PID/smaps (proc_pid_smaps(5)). */
#ifndef PL_TOOLS_PROCESS_MAPS_H
#define PL_TOOLS_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum {
	PL_MAP_FILE, /* of a file on disk, of a device, of the kernel: nothing for us */
	PL_MAP_HEAP,
	PL_MAP_STACK,
	PL_MAP_ANONYMOUS,
	PL_MAP_SHARED, /* shared anonymous */
	PL_MAP_SHM,    /* SysV */
	PL_MAP_MEMFD,
	PL_MAP_TMPFS,
	PL_MAP_HUGETLB,
	PL_MAP_KINDS
} pl_map_kind_t;

/* Figures are bytes. */
typedef struct {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* in the file */
	unsigned long inode;
	char *path; /* file or name in brackets; "" without */
	pl_map_kind_t kind;
	uint64_t page;     /* KernelPageSize */
	uint64_t resident; /* hugetlb pages counted in */
	uint64_t large;    /* of these, mapped as large pages of either sort */
	uint64_t anonymous;
	uint64_t anonymous_large;
	uint64_t shmem_large;
	uint64_t hugetlb;
	uint64_t swap;
} pl_map_t;

typedef struct {
	pl_map_t *list; /* by address */
	size_t count;
} pl_maps_t;

/*
 * Reads smaps (or maps, without figures), and mountinfo (NULL: none), which tells what files lie on
 * tmpfs. Returns 0 or -errno: -ESRCH when there is no map, as for a process that is ending.
 */
int pl_maps_read(FILE *smaps, FILE *mountinfo, pl_maps_t *ret_maps);
void pl_maps_free(pl_maps_t *maps);

/* Index of the first map that ends behind the address; maps->count without one. */
size_t pl_maps_behind(const pl_maps_t *maps, uint64_t address);

const char *pl_map_kind_name(pl_map_kind_t kind);

#endif
