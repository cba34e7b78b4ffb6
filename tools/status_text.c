/* SPDX-License-Identifier: MIT */
/* The view for people: a few lines, and two tables of libsmartcols. */
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "tools/message.h"
#include "tools/status_view.h"

enum { CELL_SIZE = 32 };

typedef struct {
	const char *name;
	int flags;
} column_t;

/* "0", "4K", "1.5M", "37G": three digits or fewer before the unit, rounded down. */
static const char *human(uint64_t bytes, char text[CELL_SIZE])
{
	static const char units[] = "BKMGTPE";
	unsigned int unit = 0;
	uint64_t tenths = 0;

	for (; bytes >= 1024 && units[unit + 1]; unit++) {
		tenths = bytes % 1024 * 10 / 1024;
		bytes /= 1024;
	}
	if (!bytes)
		return "0";
	if (bytes < 10 && tenths)
		snprintf(text, CELL_SIZE, "%" PRIu64 ".%" PRIu64 "%c", bytes, tenths, units[unit]);
	else
		snprintf(text, CELL_SIZE, "%" PRIu64 "%c", bytes, units[unit]);
	return text;
}

/* "98.4%", rounded down: 100% is all of it. */
static const char *percent(uint64_t part, uint64_t whole, char text[CELL_SIZE])
{
	unsigned int permille;

	if (!whole)
		return "-";
	permille = (unsigned int)((unsigned __int128)part * 1000 / whole);
	if (permille % 10)
		snprintf(text, CELL_SIZE, "%u.%u%%", permille / 10, permille % 10);
	else
		snprintf(text, CELL_SIZE, "%u%%", permille / 10);
	return text;
}

static void fail(void)
{
	pl_error("out of memory; nothing more is shown");
	exit(1);
}

static struct libscols_table *new_table(const column_t *columns, size_t count)
{
	struct libscols_table *table = scols_new_table();

	if (!table)
		fail();
	for (size_t i = 0; i < count; i++)
		if (!scols_table_new_column(table, columns[i].name, 0, columns[i].flags))
			fail();
	return table;
}

static void print(struct libscols_table *table)
{
	putchar('\n');
	fflush(stdout);
	if (scols_print_table(table))
		fail();
	scols_unref_table(table);
}

/* Page sizes in use: "2M", "2M+4K" on transparent huge pages, "2M hugetlb" on those of a pool. */
static const char *pages(const pl_view_t *view, const pl_view_row_t *row, char text[CELL_SIZE])
{
	char base[CELL_SIZE];
	char large[CELL_SIZE];
	char pool[CELL_SIZE];
	bool has_base = row->plain && row->usage.resident > row->usage.large;
	bool has_large = row->plain && !row->pool_page && row->usage.large;

	human(view->base_page, base);
	human(view->large_page, large);
	human(row->pool_page, pool);
	if (row->pool_page)
		snprintf(text, CELL_SIZE, "%.8s hugetlb%s%.8s", pool, row->plain ? "+" : "",
			 row->plain ? base : "");
	else if (!has_base && !has_large)
		return "-";
	else
		snprintf(text, CELL_SIZE, "%.8s%s%.8s", has_large ? large : "",
			 has_large && has_base ? "+" : "", has_base ? base : "");
	return text;
}

static void set(struct libscols_line *line, size_t column, const char *text)
{
	if (scols_line_set_data(line, column, text))
		fail();
}

static void set_usage(struct libscols_line *line, size_t column, const pl_usage_row_t *usage)
{
	char text[CELL_SIZE];

	set(line, column, human(usage->resident, text));
	set(line, column + 1, human(usage->large, text));
	set(line, column + 2, percent(usage->large, usage->resident, text));
}

static void add_segment(struct libscols_table *table, const pl_view_t *view,
			const pl_view_row_t *row)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char text[CELL_SIZE];

	if (!line)
		fail();
	set(line, 0, row->kind);
	snprintf(text, sizeof(text), "0x%" PRIx64, row->start);
	set(line, 1, text);
	set(line, 2, human(row->length, text));
	set_usage(line, 3, &row->usage);
	set(line, 6, pages(view, row, text));
	set(line, 7, row->reason ? row->reason : "-");
}

static void show_segments(const pl_view_t *view, bool all)
{
	static const column_t columns[] = {
		{ "KIND", 0 },
		{ "START", SCOLS_FL_RIGHT },
		{ "SIZE", SCOLS_FL_RIGHT },
		{ "RESIDENT", SCOLS_FL_RIGHT },
		{ "LARGE", SCOLS_FL_RIGHT },
		{ "COVERAGE", SCOLS_FL_RIGHT },
		{ "PAGE", SCOLS_FL_RIGHT },
		{ "REASON", 0 },
	};
	struct libscols_table *table = new_table(columns, PL_ARRAY_LEN(columns));
	size_t hidden = 0;

	for (size_t i = 0; i < view->row_count; i++) {
		const pl_view_row_t *row = &view->rows[i];

		if (all || row->usage.resident || row->usage.swap)
			add_segment(table, view, row);
		else
			hidden++;
	}
	if (view->row_count > hidden)
		print(table);
	else
		scols_unref_table(table);
	if (hidden)
		printf("(%zu without resident memory in whole large pages: --all shows them)\n",
		       hidden);
}

static void add_kind(struct libscols_table *table, const pl_view_kind_t *kind)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char text[CELL_SIZE];

	if (!line)
		fail();
	set(line, 0, kind->kind);
	snprintf(text, sizeof(text), "%" PRIu64, kind->live);
	set(line, 1, text);
	set(line, 2, human(kind->length, text));
	set_usage(line, 3, &kind->usage);
	set(line, 6, human(kind->usage.swap, text));
}

static void show_kinds(const pl_view_t *view)
{
	static const column_t columns[] = {
		{ "KIND", 0 },
		{ "COUNT", SCOLS_FL_RIGHT },
		{ "SIZE", SCOLS_FL_RIGHT },
		{ "RESIDENT", SCOLS_FL_RIGHT },
		{ "LARGE", SCOLS_FL_RIGHT },
		{ "COVERAGE", SCOLS_FL_RIGHT },
		{ "SWAP", SCOLS_FL_RIGHT },
	};
	struct libscols_table *table;

	if (!view->kind_count)
		return;
	table = new_table(columns, PL_ARRAY_LEN(columns));
	for (size_t i = 0; i < view->kind_count; i++)
		add_kind(table, &view->kinds[i]);
	add_kind(table, &view->total);
	print(table);
}

static void show_shim(const pl_view_t *view)
{
	const pl_shim_state_t *shim = &view->shim;
	char *path = shim->path ? pl_quote(shim->path) : NULL;

	if (view->absence)
		printf("  shim: not in this process: %s\n", view->absence);
	else if (shim->failure)
		printf("  shim: %s, but %s; these are the kernel's maps\n", path, shim->failure);
	else
		printf("  shim: pagelift %s, %s; backend %s\n  calls inside libc: %s%s\n",
		       shim->package, shim->state, pl_config_backend_name(&shim->config),
		       strcmp(shim->condition, "ok") ? "not seen: " : "seen (entries redirected)",
		       strcmp(shim->condition, "ok") ? shim->condition : "");
	free(path);
}

static void show_header(const pl_view_t *view)
{
	char *exe = pl_quote(view->process.exe);
	char text[CELL_SIZE];
	int disabled = view->process.thp_disabled ? 1 : view->shim.thp_disabled;

	printf("%s (pid %d)\n", exe, view->process.pid);
	show_shim(view);
	printf("  transparent huge pages: %s", pl_facts_thp_name(view->machine.thp_mode));
	if (disabled > 0)
		printf(", disabled by prctl%s", disabled == 3 ? " but for advised memory" : "");
	printf("; large page %s\n", human(view->large_page, text));
	if (view->estimated)
		puts("  figures: of whole maps, shared out by length (PAGEMAP_SCAN takes Linux "
		     "6.7)");
	free(exe);
}

static void show_sums(const pl_view_t *view)
{
	const pl_view_process_t *sums = &view->sums;
	char text[CELL_SIZE];

	printf("\nprocess: anonymous %s", human(sums->anonymous, text));
	printf(" (%s large)", human(sums->anonymous_large, text));
	printf(", shmem %s", human(sums->shmem, text));
	printf(" (%s large)", human(sums->shmem_large, text));
	printf(", hugetlb %s", human(sums->hugetlb, text));
	printf(", page tables %s", human(view->process.page_tables, text));
	printf(", swap %s\n", human(sums->swap, text));
}

static void show_reasons(const pl_shim_state_t *shim)
{
	bool any = false;

	printf("calls by verdict:");
	for (pl_reason_t i = 0; i < PL_REASONS; i++) {
		if (!shim->reasons[i])
			continue;
		printf("%s %s %" PRIu64, any ? "," : "", pl_reason_name(i), shim->reasons[i]);
		any = true;
	}
	puts(any ? "" : " none");
}

void pl_view_text(const pl_view_t *view, bool all)
{
	show_header(view);
	show_segments(view, all);
	show_kinds(view);
	show_sums(view);
	if (pl_view_has_shim(view))
		show_reasons(&view->shim);
}
