/* SPDX-License-Identifier: MIT */
/*
 * `pagelift status`: shows, for each process named, what its memory got and why. Looks only; the
 * process is neither stopped nor changed.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command.h"
#include "tools/message.h"
#include "tools/status_view.h"

enum { EXIT_SOME = 1, EXIT_USAGE = 2 };
enum { KEY_ALL = 'a', KEY_JSON = 'j' };

typedef struct {
	pid_t *pids;
	size_t count;
	bool json;
	bool all;
} request_t;

static void add_pid(request_t *request, const char *word, struct argp_state *state)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(word, &end, 10);
	if (*word < '0' || *word > '9' || *end || errno || value < 1 || value > INT_MAX)
		argp_error(state, "'%s' is no process id", word);
	request->pids[request->count++] = (pid_t)value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	request_t *request = state->input;

	switch (key) {
	case KEY_ALL:
		request->all = true;
		return 0;
	case KEY_JSON:
		request->json = true;
		return 0;
	case ARGP_KEY_ARG:
		add_pid(request, arg, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no process id given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int show(pid_t pid, const request_t *request, bool first)
{
	int status = 0;
	pl_view_t view;

	if (pl_view_collect(pid, &view))
		return EXIT_SOME;
	if (request->json) {
		pl_view_json(&view);
	} else {
		if (!first)
			putchar('\n');
		pl_view_text(&view, request->all);
	}
	if (view.shim.failure) {
		pl_error("process %d has a shim, but %s; only the kernel's side is shown", pid,
			 view.shim.failure);
		status = EXIT_SOME;
	}
	pl_view_free(&view);
	return status;
}

static int show_all(const request_t *request)
{
	int status = 0;

	for (size_t i = 0; i < request->count; i++)
		if (show(request->pids[i], request, !i))
			status = EXIT_SOME;
	if (fflush(stdout) || ferror(stdout)) {
		pl_error("cannot write to standard output: %m");
		status = EXIT_SOME;
	}
	return status;
}

int pl_cmd_status(int argc, char *argv[])
{
	static const struct argp_option options[] = {
		{ .name = "all",
		  .key = KEY_ALL,
		  .doc = "list segments without resident memory too" },
		{ .name = "json",
		  .key = KEY_JSON,
		  .doc = "one line of JSON for each process, with all segments" },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "PID...",
		.doc = "Shows the memory of running processes: the shim's segments and why they "
		       "are "
		       "as they are, with what the kernel gave each; without the shim the kernel's "
		       "side alone.\v"
		       "The exit status is 0 if all was shown, 1 if something could not be, 2 for "
		       "a "
		       "mistake in the command line.",
	};
	request_t request = { .pids = calloc((size_t)argc, sizeof(pid_t)) };
	int status;

	argp_err_exit_status = EXIT_USAGE;
	if (!request.pids) {
		pl_error("out of memory; nothing is shown");
		return EXIT_SOME;
	}
	errno = argp_parse(&argp, argc, argv, 0, NULL, &request);
	if (errno) {
		pl_error("cannot read the command line: %m; nothing is shown");
		return EXIT_USAGE;
	}
	status = show_all(&request);
	free(request.pids);
	return status;
}
