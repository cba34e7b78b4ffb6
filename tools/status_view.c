/* SPDX-License-Identifier: MIT */
#include "tools/status_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/message.h"
#include "tools/pagemap.h"

bool pl_view_has_shim(const pl_view_t *view)
{
	return view->shim.loaded && !view->shim.failure;
}

static uint64_t share(uint64_t bytes, const pl_map_t *map, uint64_t inside)
{
	return (uint64_t)((unsigned __int128)bytes * inside / (map->end - map->start));
}

/* Bytes of the map that lie in [start, end). */
static uint64_t overlap(const pl_map_t *map, uint64_t start, uint64_t end)
{
	uint64_t from = map->start > start ? map->start : start;
	uint64_t to = map->end < end ? map->end : end;

	return from < to ? to - from : 0;
}

/* What smaps tells; resident and large only for kernels where nothing finer does. */
static void add_maps(const pl_maps_t *maps, pl_range_t blocks, pl_view_row_t *row,
		     pl_resident_t *resident)
{
	uint64_t end = row->start + row->length;

	for (size_t i = pl_maps_behind(maps, row->start);
	     i < maps->count && maps->list[i].start < end; i++) {
		const pl_map_t *map = &maps->list[i];
		uint64_t inside = overlap(map, row->start, end);
		uint64_t in_blocks = overlap(map, blocks.start, blocks.end);

		row->usage.swap += share(map->swap, map, inside);
		resident->resident += share(map->resident, map, in_blocks);
		resident->large += share(map->large, map, in_blocks);
		if (map->kind != PL_MAP_HUGETLB)
			row->plain = true;
		else if (map->page > row->pool_page)
			row->pool_page = map->page;
	}
}

/* pagemap < 0: it could not be opened. */
static void measure(pl_view_t *view, const pl_maps_t *maps, int pagemap, pl_view_row_t *row)
{
	pl_range_t range = pl_range(row->start, row->start + row->length);
	pl_range_t blocks = pl_range_whole_blocks(range, view->large_page);
	pl_resident_t scanned = { 0 };
	pl_resident_t estimate = { 0 };

	/* Rounding up wraps at the end of the address space. */
	if (pl_range_empty(blocks) || blocks.start < range.start)
		blocks = pl_range(range.start, range.start);
	add_maps(maps, blocks, row, &estimate);
	if (!pl_range_empty(blocks) &&
	    (pagemap < 0 || pl_pagemap_measure(pagemap, blocks.start, blocks.end, &scanned))) {
		scanned = estimate;
		view->estimated = true;
	}
	row->usage.resident = scanned.resident;
	row->usage.large = scanned.large;
}

static void take_segment(const pl_segment_t *segment, pl_view_row_t *ret_row)
{
	*ret_row = (pl_view_row_t){
		.kind = pl_kind_name(segment->kind),
		.reason = pl_reason_name(segment->reason),
		.start = segment->range.start,
		.length = pl_range_length(segment->range),
		.asked = segment->asked,
	};
}

static void take_map(const pl_map_t *map, pl_view_row_t *ret_row)
{
	*ret_row = (pl_view_row_t){
		.kind = pl_map_kind_name(map->kind),
		.start = map->start,
		.length = map->end - map->start,
		.asked = map->end - map->start,
	};
}

static bool wants_map(const pl_view_t *view, const pl_map_t *map)
{
	return map->kind != PL_MAP_FILE && map->end - map->start >= view->large_page;
}

static void make_rows(pl_view_t *view, const pl_maps_t *maps)
{
	bool has_shim = pl_view_has_shim(view);
	size_t most = has_shim ? view->shim.count : maps->count;

	view->rows = calloc(most + 1, sizeof(*view->rows));
	if (!view->rows) {
		pl_error("out of memory; nothing more is shown");
		exit(1);
	}
	for (size_t i = 0; i < most; i++) {
		pl_view_row_t *row = &view->rows[view->row_count];

		if (has_shim)
			take_segment(&view->shim.segments[i], row);
		else if (wants_map(view, &maps->list[i]))
			take_map(&maps->list[i], row);
		else
			continue;
		view->row_count++;
	}
}

static void measure_rows(pl_view_t *view, const pl_maps_t *maps)
{
	int pagemap = openat(view->process.folder, "pagemap", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < view->row_count; i++)
		measure(view, maps, pagemap, &view->rows[i]);
	if (pagemap >= 0)
		close(pagemap);
}

static int compare_rows(const void *left, const void *right)
{
	const pl_view_row_t *a = left;
	const pl_view_row_t *b = right;

	if (a->usage.resident != b->usage.resident)
		return a->usage.resident < b->usage.resident ? 1 : -1;
	if (a->length != b->length)
		return a->length < b->length ? 1 : -1;
	return a->start < b->start ? -1 : a->start > b->start;
}

static void add_row(pl_view_kind_t *kind, const pl_view_row_t *row)
{
	kind->live++;
	kind->length += row->length;
	kind->usage.resident += row->usage.resident;
	kind->usage.large += row->usage.large;
	kind->usage.swap += row->usage.swap;
}

/* Kinds are compared as the pointers that the name tables give. */
static void add_kind(pl_view_t *view, const char *name)
{
	pl_view_kind_t *kind = &view->kinds[view->kind_count];

	*kind = (pl_view_kind_t){ .kind = name };
	for (size_t i = 0; i < view->row_count; i++)
		if (view->rows[i].kind == name)
			add_row(kind, &view->rows[i]);
	if (kind->live)
		view->kind_count++;
}

static void make_totals(pl_view_t *view)
{
	view->kinds = calloc((size_t)PL_KINDS + PL_MAP_KINDS, sizeof(*view->kinds));
	if (!view->kinds) {
		pl_error("out of memory; nothing more is shown");
		exit(1);
	}
	if (pl_view_has_shim(view))
		for (pl_kind_t kind = 0; kind < PL_KINDS; kind++)
			add_kind(view, pl_kind_name(kind));
	else
		for (pl_map_kind_t kind = 0; kind < PL_MAP_KINDS; kind++)
			add_kind(view, pl_map_kind_name(kind));
	view->total.kind = "total";
	for (size_t i = 0; i < view->row_count; i++)
		add_row(&view->total, &view->rows[i]);
}

static bool is_shmem(pl_map_kind_t kind)
{
	return kind == PL_MAP_SHARED || kind == PL_MAP_SHM || kind == PL_MAP_MEMFD ||
	       kind == PL_MAP_TMPFS;
}

static void sum_up(const pl_maps_t *maps, pl_view_process_t *sums)
{
	for (size_t i = 0; i < maps->count; i++) {
		const pl_map_t *map = &maps->list[i];

		sums->anonymous += map->anonymous;
		sums->anonymous_large += map->anonymous_large;
		sums->shmem_large += map->shmem_large;
		sums->hugetlb += map->hugetlb;
		sums->swap += map->swap;
		/* A private map of a file has pages of its own where it was written. */
		if (is_shmem(map->kind) && map->resident > map->anonymous)
			sums->shmem += map->resident - map->anonymous;
	}
}

/* name: "smaps", or "maps" for what costs no walk over the page tables. */
static int read_maps(const pl_process_t *process, const char *name, pl_maps_t *ret_maps)
{
	FILE *stream = pl_process_file(process, name);
	FILE *mountinfo;
	int error;

	if (!stream)
		return -errno;
	mountinfo = pl_process_file(process, "mountinfo");
	error = pl_maps_read(stream, mountinfo, ret_maps);
	if (mountinfo)
		fclose(mountinfo);
	fclose(stream);
	return error;
}

/* Without transparent huge pages: what one page of a page table spans. */
static void read_machine(pl_view_t *view)
{
	pl_facts_read_files("", &view->machine);
	view->base_page = (uint64_t)sysconf(_SC_PAGESIZE);
	view->large_page = view->machine.large_page;
	if (view->large_page <= view->base_page)
		view->large_page = view->base_page * view->base_page / 8;
}

/* Segments first, then figures: what is mapped in between is in neither. */
static int collect(pl_view_t *view)
{
	pl_maps_t maps;
	int error = read_maps(&view->process, "maps", &maps);

	if (!error) {
		view->shim = pl_shim_state_read(&view->process, &maps);
		pl_maps_free(&maps);
		error = read_maps(&view->process, "smaps", &maps);
	}
	if (error)
		return error;
	if (!view->shim.loaded)
		view->absence = pl_shim_absence(&view->process);
	make_rows(view, &maps);
	measure_rows(view, &maps);
	sum_up(&maps, &view->sums);
	pl_maps_free(&maps);
	return pl_process_lives(&view->process) ? 0 : -ESRCH;
}

int pl_view_collect(pid_t pid, pl_view_t *ret_view)
{
	pl_view_t view = { 0 };
	int error;

	if (pl_process_open(pid, &view.process))
		return -1;
	read_machine(&view);
	error = collect(&view);
	if (error) {
		pl_process_complain(&view.process, -error);
		pl_view_free(&view);
		return -1;
	}
	make_totals(&view);
	qsort(view.rows, view.row_count, sizeof(*view.rows), compare_rows);
	*ret_view = view;
	return 0;
}

void pl_view_free(pl_view_t *view)
{
	pl_process_close(&view->process);
	pl_shim_state_free(&view->shim);
	free(view->rows);
	free(view->kinds);
	*view = (pl_view_t){ 0 };
}
