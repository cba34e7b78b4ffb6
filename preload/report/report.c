/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/sys.h"

void pl_report_for_each(const pl_facts_t *facts,
			void (*visit)(const pl_report_row_t *row, void *data), void *data)
{
	uintptr_t page = facts->large_page ? facts->large_page : 2 * PL_MIB;
	pl_report_row_t row;
	uintptr_t next = 0;

	while (pl_registry_find(pl_range(next, UINTPTR_MAX), &row.segment)) {
		row.measured = pl_collect_measure(row.segment.range, page, &row.usage);
		visit(&row, data);
		next = row.segment.range.end;
	}
}

static void add_usage(pl_usage_t *total, pl_usage_t more)
{
	total->resident += more.resident;
	total->large += more.large;
}

static void add_row(const pl_report_row_t *row, void *data)
{
	pl_report_t *report = data;
	pl_report_kind_t *kind = &report->kinds[row->segment.kind];

	kind->live++;
	add_usage(&kind->usage, row->usage);
}

static void add_up(pl_report_t *report)
{
	pl_report_for_each(report->header.facts, add_row, report);
	for (pl_kind_t kind = 0; kind < PL_KINDS; kind++) {
		report->kinds[kind].closed = pl_collect_closed(kind);
		add_usage(&report->kinds[kind].usage, report->kinds[kind].closed.usage);
		add_usage(&report->total, report->kinds[kind].usage);
	}
	report->process_known = pl_smaps_process("", &report->process) == 0;
}

int pl_report_write(const pl_report_header_t *header, int fd)
{
	static char buffer[8192];
	pl_text_t text = PL_TEXT_INIT(buffer, fd);
	pl_report_t report = { .header = *header };

	add_up(&report);
	if (header->config->report_format == PL_FORMAT_JSON)
		pl_report_json(&text, &report);
	else
		pl_report_text(&text, &report);
	return pl_text_flush(&text);
}

static void expand_path(pl_text_t *text, const char *path, int pid)
{
	for (; *path; path++) {
		if (path[0] == '%' && path[1] == 'p') {
			pl_text_format(text, "%d", pid);
			path++;
		} else {
			pl_text_format(text, "%c", *path);
		}
	}
}

int pl_report_open(const char *path, int pid)
{
	char name[PL_PATH_MAX];
	pl_text_t text = PL_TEXT_INIT(name, -1);

	expand_path(&text, path, pid);
	if (text.used >= sizeof(name))
		return -ENAMETOOLONG;
	return (int)pl_sys_openat(pl_text_end(&text),
				  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}
