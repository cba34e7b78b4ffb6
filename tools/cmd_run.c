/* SPDX-License-Identifier: MIT */
/*
 * `pagelift run`: reads the options, has the plan made (run_plan.c), tells where the shim will not
 * reach, and becomes the command. Each variable of the shim is an option here, by its own table.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/command.h"
#include "tools/message.h"
#include "tools/run_plan.h"

/* One entry of the shim's options.def. */
typedef struct {
	const char *field;
	const char *name;
	const char *type;
	const char *initial;
	const char *accepted;
	const char *help;
} variable_t;

static const variable_t variables[] = {
#define OPTION(field, name, type, initial, accepted, help) \
	{ #field, name, #type, initial, accepted, help },
#include "config/options.def"
#undef OPTION
};

enum {
	VARIABLES = sizeof(variables) / sizeof(variables[0]),
	KEY_VARIABLE = 256,
	KEY_TUNABLES = KEY_VARIABLE + VARIABLES,
	KEY_LIBRARY,
	KEY_DRY_RUN,
};

static const struct argp_option own_options[] = {
	{ .doc = "Options of the launcher:" },
	{ .name = "tunables",
	  .key = KEY_TUNABLES,
	  .arg = "auto|yes|no",
	  .doc = "set glibc's own tunables for malloc as the second best; auto: where the shim "
		 "does not reach malloc (default: auto)" },
	{ .name = "library",
	  .key = KEY_LIBRARY,
	  .arg = "PATH",
	  .doc = "the shim to load (default: the one installed with this program)" },
	{ .name = "dry-run",
	  .key = KEY_DRY_RUN,
	  .doc = "run nothing; print the command that would be run, and why so" },
	{ 0 },
};

enum { OWN_OPTIONS = sizeof(own_options) / sizeof(own_options[0]) };

typedef struct {
	pl_run_request_t request;
	pl_env_t env;
} arguments_t;

/* "MIN_SIZE" -> "min-size". */
static const char *option_name(const variable_t *variable)
{
	char *name = pl_format("%s", variable->field);

	for (char *at = name; *at; at++)
		if (*at == '_')
			*at = '-';
	return name;
}

/* What help shows behind the '=': "--" is a mark that the shim sets, not for people. */
static const char *option_argument(const variable_t *variable)
{
	char *words;
	char *mark;

	if (!strcmp(variable->type, "size"))
		return "SIZE";
	words = pl_format("%s", variable->accepted);
	mark = strstr(words, "|--");
	if (mark)
		*mark = '\0';
	for (char *at = words; !strcmp(variable->type, "set") && *at; at++)
		if (*at == '|')
			*at = ',';
	return words;
}

/* A switch that is off by default may stand without "=yes". */
static bool is_switch(const variable_t *variable)
{
	return !strcmp(variable->accepted, "no|yes");
}

static const char *option_doc(const variable_t *variable)
{
	const char *initial = *variable->initial ? variable->initial : "none";

	if (!strcmp(variable->type, "size"))
		return pl_format("%s (%s; default: %s)", variable->help, variable->accepted,
				 initial);
	return pl_format("%s (default: %s)", variable->help, initial);
}

/* The texts live as long as the program: argp prints them from within argp_parse. */
static void make_options(struct argp_option options[1 + VARIABLES + OWN_OPTIONS])
{
	*options++ = (struct argp_option){
		.doc = "Options of the shim; each sets the variable PAGELIFT_NAME of pagelift(7):"
	};
	for (int i = 0; i < VARIABLES; i++)
		*options++ = (struct argp_option){
			.name = option_name(&variables[i]),
			.key = KEY_VARIABLE + i,
			.arg = option_argument(&variables[i]),
			.flags = is_switch(&variables[i]) ? OPTION_ARG_OPTIONAL : 0,
			.doc = option_doc(&variables[i]),
		};
	memcpy(options, own_options, sizeof(own_options));
}

/* The shim opens the report at the exit of a program, which may stand in another folder by then: a
 * path is taken from here. A folder name with %p in it would be expanded there. */
static char *absolute_report(const char *path)
{
	char *here = *path && *path != '/' && strcmp(path, "stderr") ? getcwd(NULL, 0) : NULL;
	char *absolute = here && !strstr(here, "%p") ? pl_format("%s/%s", here, path)
						     : pl_format("%s", path);

	free(here);
	return absolute;
}

static void set_variable(arguments_t *arguments, const variable_t *variable, const char *value)
{
	char *name = pl_format("PAGELIFT_%s", variable->name);
	char *path = value && !strcmp(variable->field, "report") ? absolute_report(value) : NULL;

	pl_env_set(&arguments->env, name, path ? path : value ? value : "yes");
	free(name);
	free(path);
}

static void set_tunables(arguments_t *arguments, const char *word, struct argp_state *state)
{
	static const char *const words[] = { "auto", "yes", "no" };

	for (int i = 0; i < 3; i++) {
		if (!strcmp(word, words[i])) {
			arguments->request.tunables = (pl_tunables_t)i;
			return;
		}
	}
	argp_error(state, "--tunables takes auto, yes or no, not '%s'", word);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	arguments_t *arguments = state->input;

	if (key >= KEY_VARIABLE && key < KEY_VARIABLE + VARIABLES) {
		set_variable(arguments, &variables[key - KEY_VARIABLE], arg);
		return 0;
	}
	switch (key) {
	case KEY_TUNABLES:
		set_tunables(arguments, arg, state);
		return 0;
	case KEY_LIBRARY:
		arguments->request.library = arg;
		return 0;
	case KEY_DRY_RUN:
		arguments->request.dry_run = true;
		return 0;
	case ARGP_KEY_ARG:
		arguments->request.command = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command to run");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int status_of(int error)
{
	return error == ENOENT ? PL_EXIT_NOT_FOUND : PL_EXIT_CANNOT_RUN;
}

static int cannot_run(const char *command, int error)
{
	char *quoted = pl_quote(command);

	errno = error;
	pl_error("cannot run %s: %m", quoted);
	free(quoted);
	return status_of(error);
}

static int show(const pl_plan_t *plan, const pl_run_request_t *request)
{
	pl_plan_show(plan, request);
	if (fflush(stdout) || ferror(stdout)) {
		pl_error("cannot write to standard output: %m");
		return PL_EXIT_SELF;
	}
	return plan->target.error ? cannot_run(request->command[0], plan->target.error) : 0;
}

static int carry_out(pl_plan_t *plan, const pl_run_request_t *request)
{
	char *warning = pl_target_warning(&plan->target, plan->reach);

	if (warning)
		pl_warn("%s", warning);
	free(warning);
	if (request->dry_run)
		return show(plan, request);
	execvpe(request->command[0], request->command, plan->env.entries);
	return cannot_run(request->command[0], errno);
}

int pl_cmd_run(int argc, char *argv[])
{
	static struct argp_option options[1 + VARIABLES + OWN_OPTIONS];
	const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[--] COMMAND [ARG...]",
		.doc = "Runs COMMAND with the shim loaded.\v"
		       "The exit status is that of COMMAND, or 125 if pagelift itself fails, 126 "
		       "if COMMAND is found but cannot be run, 127 if it is not found.",
	};
	arguments_t arguments = { .env = pl_env_copy(environ) };
	pl_plan_t plan;
	int status;

	make_options(options);
	errno = argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	if (errno) {
		pl_error("cannot read the command line: %m; nothing was run");
		return PL_EXIT_SELF;
	}
	status = pl_plan_make(&arguments.request, arguments.env, &plan);
	if (status)
		return status;
	status = carry_out(&plan, &arguments.request);
	pl_plan_free(&plan);
	return status;
}
