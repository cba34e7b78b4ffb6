/* SPDX-License-Identifier: MIT */
/* The report as one line of JSON (RFC 8259). */
#include "report/counters.h"
#include "report/report.h"

static void put_usage(pl_text_t *text, pl_usage_t usage)
{
	pl_text_format(text, "\"resident\":%lu,\"large\":%lu,\"coverage\":", usage.resident,
		       usage.large);
	pl_text_ratio(text, usage.large, usage.resident, "null");
}

static void put_header(pl_text_t *text, const pl_report_header_t *header)
{
	bool done = header->condition[0] == 'o' && header->condition[1] == 'k';

	pl_text_format(text, "{\"pagelift\":\"%s\",\"pid\":%d,\"exe\":\"", PACKAGE_VERSION,
		       header->pid);
	pl_text_json_string(text, header->exe);
	pl_text_format(text, "\",\"backend\":\"%s\",\"page_size\":%lu,",
		       pl_config_backend_name(header->config), header->facts->large_page);
	pl_text_format(text, "\"redirect\":{\"done\":%s,\"condition\":\"%s\"},",
		       done ? "true" : "false", header->condition);
	pl_text_format(text, "\"thp\":{\"enabled\":\"%s\",\"disabled\":%d}",
		       pl_facts_thp_name(header->facts->thp_mode), header->facts->thp_disabled);
}

typedef struct {
	pl_text_t *text;
	const char *separator;
} rows_t;

static void put_row(const pl_report_row_t *row, void *data)
{
	rows_t *rows = data;
	const pl_segment_t *segment = &row->segment;

	pl_text_format(rows->text,
		       "%s{\"kind\":\"%s\",\"start\":\"0x%lx\",\"length\":%lu,\"asked\":%lu,"
		       "\"pool_page\":%lu,\"reason\":\"%s\",\"measured\":%s,",
		       rows->separator, pl_kind_name(segment->kind), segment->range.start,
		       pl_range_length(segment->range), segment->asked, segment->hugetlb_page,
		       pl_reason_name(segment->reason), row->measured ? "true" : "false");
	put_usage(rows->text, row->usage);
	pl_text_format(rows->text, "}");
	rows->separator = ",";
}

static void put_kinds(pl_text_t *text, const pl_report_t *report)
{
	const char *separator = "";

	for (pl_kind_t i = 0; i < PL_KINDS; i++) {
		const pl_report_kind_t *kind = &report->kinds[i];

		if (!kind->live && !kind->closed.segments)
			continue;
		pl_text_format(text, "%s{\"kind\":\"%s\",\"live\":%lu,\"closed\":%lu,", separator,
			       pl_kind_name(i), kind->live, kind->closed.segments);
		put_usage(text, kind->usage);
		pl_text_format(text, "}");
		separator = ",";
	}
}

static void put_process(pl_text_t *text, const pl_report_t *report)
{
	if (!report->process_known) {
		pl_text_format(text, "null");
		return;
	}
	pl_text_format(text, "{\"anonymous\":%lu,\"anonymous_large\":%lu,\"coverage\":",
		       report->process.anonymous, report->process.anonymous_large);
	pl_text_ratio(text, report->process.anonymous_large, report->process.anonymous, "null");
	pl_text_format(text, "}");
}

static void put_counters(pl_text_t *text)
{
	for (pl_counter_t i = 0; i < PL_COUNTERS; i++)
		pl_text_format(text, "%s\"%s\":%lu", i ? "," : "", pl_counter_name(i),
			       pl_counters[i]);
}

static void put_reasons(pl_text_t *text)
{
	const char *separator = "";

	for (pl_reason_t i = 0; i < PL_REASONS; i++) {
		if (!pl_reason_counts[i])
			continue;
		pl_text_format(text, "%s\"%s\":%lu", separator, pl_reason_name(i),
			       pl_reason_counts[i]);
		separator = ",";
	}
}

void pl_report_json(pl_text_t *text, const pl_report_t *report)
{
	rows_t rows = { .text = text, .separator = "" };

	put_header(text, &report->header);
	pl_text_format(text, ",\"segments\":[");
	pl_report_for_each(report->header.facts, put_row, &rows);
	pl_text_format(text, "],\"kinds\":[");
	put_kinds(text, report);
	pl_text_format(text, "],\"total\":{");
	put_usage(text, report->total);
	pl_text_format(text, "},\"process\":");
	put_process(text, report);
	pl_text_format(text, ",\"counters\":{");
	put_counters(text);
	pl_text_format(text, "},\"reasons\":{");
	put_reasons(text);
	pl_text_format(text, "}}\n");
}
