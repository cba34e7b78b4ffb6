/* SPDX-License-Identifier: MIT */
/*
 * The view as one line of JSON (RFC 8259). Names are those of the shim's report; what only one of
 * the two can know is null or missing in the other.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tools/message.h"
#include "tools/status_view.h"

/* Takes the value over; running out of memory is found at the end, as a value that is missing. */
static void put(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value)) {
		pl_error("out of memory; nothing more is shown");
		exit(1);
	}
}

/* Linux paths are bytes: what is no UTF-8 becomes question marks. */
static json_t *string(const char *text)
{
	json_t *value = json_string(text);
	char *plain;

	if (value)
		return value;
	plain = pl_format("%s", text);
	for (char *at = plain; *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	value = json_string(plain);
	free(plain);
	return value;
}

static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Three decimals, rounded down, as in the report. */
static json_t *ratio(uint64_t part, uint64_t whole)
{
	if (!whole)
		return json_null();
	return json_real((double)(uint64_t)((unsigned __int128)part * 1000 / whole) / 1000);
}

static void put_usage(json_t *object, const pl_usage_row_t *usage)
{
	put(object, "resident", number(usage->resident));
	put(object, "large", number(usage->large));
	put(object, "coverage", ratio(usage->large, usage->resident));
	put(object, "swap", number(usage->swap));
}

static json_t *segment(const pl_view_row_t *row)
{
	json_t *object = json_object();
	char start[32];

	snprintf(start, sizeof(start), "0x%" PRIx64, row->start);
	put(object, "kind", string(row->kind));
	put(object, "start", string(start));
	put(object, "length", number(row->length));
	put(object, "asked", number(row->asked));
	put(object, "reason", row->reason ? string(row->reason) : json_null());
	put(object, "measured", json_true());
	put_usage(object, &row->usage);
	put(object, "pool_page", number(row->pool_page));
	return object;
}

static json_t *kind(const pl_view_kind_t *from)
{
	json_t *object = json_object();

	put(object, "kind", string(from->kind));
	put(object, "live", number(from->live));
	put(object, "closed", json_null());
	put(object, "length", number(from->length));
	put_usage(object, &from->usage);
	return object;
}

static json_t *process(const pl_view_t *view)
{
	const pl_view_process_t *sums = &view->sums;
	json_t *object = json_object();

	put(object, "anonymous", number(sums->anonymous));
	put(object, "anonymous_large", number(sums->anonymous_large));
	put(object, "coverage", ratio(sums->anonymous_large, sums->anonymous));
	put(object, "shmem", number(sums->shmem));
	put(object, "shmem_large", number(sums->shmem_large));
	put(object, "hugetlb", number(sums->hugetlb));
	put(object, "page_tables", number(view->process.page_tables));
	put(object, "swap", number(sums->swap));
	return object;
}

static json_t *shim(const pl_view_t *view)
{
	const char *why = view->absence ? view->absence : view->shim.failure;
	json_t *object = json_object();

	put(object, "loaded", json_boolean(view->shim.loaded));
	put(object, "path", view->shim.path ? string(view->shim.path) : json_null());
	put(object, "state", pl_view_has_shim(view) ? string(view->shim.state) : json_null());
	put(object, "failure", why ? string(why) : json_null());
	return object;
}

static json_t *redirect(const pl_shim_state_t *state)
{
	json_t *object = json_object();

	put(object, "done", json_boolean(!strcmp(state->condition, "ok")));
	put(object, "condition", string(state->condition));
	return object;
}

static json_t *thp(const pl_view_t *view)
{
	json_t *object = json_object();

	put(object, "enabled", string(pl_facts_thp_name(view->machine.thp_mode)));
	put(object, "disabled",
	    json_integer(view->process.thp_disabled ? 1 : view->shim.thp_disabled));
	return object;
}

static json_t *counters(const pl_shim_state_t *state)
{
	json_t *object = json_object();

	for (pl_counter_t i = 0; i < PL_COUNTERS; i++)
		put(object, pl_counter_name(i), number(state->counters[i]));
	return object;
}

static json_t *reasons(const pl_shim_state_t *state)
{
	json_t *object = json_object();

	for (pl_reason_t i = 0; i < PL_REASONS; i++)
		if (state->reasons[i])
			put(object, pl_reason_name(i), number(state->reasons[i]));
	return object;
}

static void put_tables(json_t *object, const pl_view_t *view)
{
	json_t *segments = json_array();
	json_t *kinds = json_array();
	json_t *total = json_object();

	for (size_t i = 0; i < view->row_count; i++)
		json_array_append_new(segments, segment(&view->rows[i]));
	for (size_t i = 0; i < view->kind_count; i++)
		json_array_append_new(kinds, kind(&view->kinds[i]));
	put_usage(total, &view->total.usage);
	put(object, "segments", segments);
	put(object, "kinds", kinds);
	put(object, "total", total);
}

int pl_view_json(const pl_view_t *view)
{
	bool has_shim = pl_view_has_shim(view);
	const pl_shim_state_t *state = &view->shim;
	json_t *object = json_object();
	int error;

	put(object, "pagelift", string(PACKAGE_VERSION));
	put(object, "pid", json_integer(view->process.pid));
	put(object, "exe", string(view->process.exe));
	put(object, "shim", shim(view));
	put(object, "backend",
	    has_shim ? string(pl_config_backend_name(&state->config)) : json_null());
	put(object, "page_size", number(view->large_page));
	put(object, "redirect", has_shim ? redirect(state) : json_null());
	put(object, "thp", thp(view));
	put(object, "estimated", json_boolean(view->estimated));
	put_tables(object, view);
	put(object, "process", process(view));
	put(object, "counters", has_shim ? counters(state) : json_null());
	put(object, "reasons", has_shim ? reasons(state) : json_null());
	error = json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(object);
	return error;
}
