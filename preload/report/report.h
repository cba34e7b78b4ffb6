/* SPDX-License-Identifier: MIT */
/* The report that a program leaves behind at its exit. */
#ifndef PL_REPORT_REPORT_H
#define PL_REPORT_REPORT_H

#include "base/text.h"
#include "config/config.h"
#include "facts/facts.h"
#include "registry/registry.h"
#include "report/collect.h"
#include "report/smaps.h"

/* What the rooms above know. */
typedef struct {
	const pl_config_t *config;
	const pl_facts_t *facts;
	const char *exe;
	const char *condition; /* of the redirection inside libc; "ok" when it was done */
	int pid;
} pl_report_header_t;

typedef struct {
	pl_segment_t segment;
	pl_usage_t usage;
	bool measured; /* false: the kernel would not tell */
} pl_report_row_t;

/* Totals per kind: what lives and what was closed before. */
typedef struct {
	uint64_t live;
	pl_kind_usage_t closed;
	pl_usage_t usage; /* of both */
} pl_report_kind_t;

typedef struct {
	pl_report_header_t header;
	pl_report_kind_t kinds[PL_KINDS];
	pl_usage_t total;
	pl_process_usage_t process;
	bool process_known;
} pl_report_t;

/* Measures everything, then writes the configured form to `fd`. Returns 0 or a negative errno. */
int pl_report_write(const pl_report_header_t *header, int fd);

/* Calls visit for every live segment, measured, in order of address. */
void pl_report_for_each(const pl_facts_t *facts,
			void (*visit)(const pl_report_row_t *row, void *data), void *data);

/* The two forms. */
void pl_report_text(pl_text_t *text, const pl_report_t *report);
void pl_report_json(pl_text_t *text, const pl_report_t *report);

/* Opens a new file for the report; %p in the path becomes pid. Returns a descriptor or a negative
 * errno: -EEXIST for a file or link that is there already. */
int pl_report_open(const char *path, int pid);

#endif
