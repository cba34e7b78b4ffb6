/* SPDX-License-Identifier: MIT */
/* The report for people. Sizes are in MiB, rounded down. */
#include "report/counters.h"
#include "report/report.h"

static void put_header(pl_text_t *text, const pl_report_header_t *header)
{
	pl_text_format(text, "pagelift %s: %s (pid %d), backend %s\n", PACKAGE_VERSION, header->exe,
		       header->pid, pl_config_backend_name(header->config));
	pl_text_format(text, "  transparent huge pages: %s",
		       pl_facts_thp_name(header->facts->thp_mode));
	if (header->facts->thp_disabled > 0)
		pl_text_format(text, ", disabled by prctl%s",
			       header->facts->thp_disabled == 3 ? " but for advised memory" : "");
	pl_text_format(text, "; large page %lu KiB\n",
		       (unsigned long)(header->facts->large_page / PL_KIB));
	pl_text_format(text, "  calls inside libc: %s\n",
		       header->condition[0] == 'o' && header->condition[1] == 'k'
			       ? "seen (entries redirected)"
			       : header->condition);
}

static void put_usage(pl_text_t *text, pl_usage_t usage)
{
	pl_text_format(text, " %10lu %10lu  ", usage.resident / PL_MIB, usage.large / PL_MIB);
	pl_text_ratio(text, usage.large, usage.resident, "-");
}

static void put_kinds(pl_text_t *text, const pl_report_t *report)
{
	pl_text_format(text, "\n  %-8s %8s %8s %10s %10s  %s\n", "kind", "live", "closed",
		       "resident", "large", "coverage");
	for (pl_kind_t i = 0; i < PL_KINDS; i++) {
		const pl_report_kind_t *kind = &report->kinds[i];

		if (!kind->live && !kind->closed.segments)
			continue;
		pl_text_format(text, "  %-8s %8lu %8lu", pl_kind_name(i), kind->live,
			       kind->closed.segments);
		put_usage(text, kind->usage);
		pl_text_format(text, "\n");
	}
	pl_text_format(text, "  %-8s %8s %8s", "total", "", "");
	put_usage(text, report->total);
	pl_text_format(text, "\n");
}

static void put_process(pl_text_t *text, const pl_report_t *report)
{
	if (!report->process_known)
		return;
	pl_text_format(text, "  %-26s", "anonymous memory in all");
	put_usage(text, (pl_usage_t){ .resident = report->process.anonymous,
				      .large = report->process.anonymous_large });
	pl_text_format(text, "\n");
}

static void put_row(const pl_report_row_t *row, void *data)
{
	pl_text_t *text = data;
	const pl_segment_t *segment = &row->segment;

	pl_text_format(text, "  %-8s 0x%-14lx %10lu", pl_kind_name(segment->kind),
		       segment->range.start, segment->asked / PL_MIB);
	if (row->measured)
		put_usage(text, row->usage);
	else
		pl_text_format(text, " %10s %10s  -", "?", "?");
	pl_text_format(text, "  %s\n", pl_reason_name(segment->reason));
}

static void put_reasons(pl_text_t *text)
{
	pl_text_format(text, "\n  mmap calls by verdict:");
	for (pl_reason_t i = 0; i < PL_REASONS; i++)
		if (pl_reason_counts[i])
			pl_text_format(text, " %s %lu", pl_reason_name(i), pl_reason_counts[i]);
	pl_text_format(text, "\n");
}

void pl_report_text(pl_text_t *text, const pl_report_t *report)
{
	put_header(text, &report->header);
	put_kinds(text, report);
	put_process(text, report);
	pl_text_format(text, "\n  %-8s %-16s %10s %10s %10s  %s\n", "segment", "start", "asked",
		       "resident", "large", "coverage  reason");
	pl_report_for_each(report->header.facts, put_row, text);
	put_reasons(text);
}
