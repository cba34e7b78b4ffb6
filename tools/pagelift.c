/* SPDX-License-Identifier: MIT */
/*
 * The operator's program: finds the subcommand in the table and hands it the rest of the line.
 * Everything else lives in cmd_*.c.
 */
#include <argp.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command.h"
#include "tools/message.h"

static const pl_command_t commands[] = {
#define PL_COMMAND(name, summary) { #name, summary, pl_cmd_##name },
#include "tools/commands.def"
#undef PL_COMMAND
};

typedef struct {
	const pl_command_t *command;
	int first; /* index of the command's name in argv */
} choice_t;

static const pl_command_t *find_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	choice_t *choice = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		choice->command = find_command(arg);
		if (!choice->command)
			argp_error(state, "there is no command '%s'", arg);
		choice->first = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Adds the table of commands to --help. argp frees what is returned. */
static char *add_commands(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t size;
	FILE *stream;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text; /* argp's signature drops the const */
	stream = open_memstream(&list, &size);
	if (!stream)
		return NULL;
	fputs("Commands:\n", stream);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].summary)
			fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fprintf(stream, "\n%s", text ? text : "");
	return fclose(stream) ? NULL : list;
}

static int run_command(const choice_t *choice, int argc, char *argv[])
{
	char *name;
	int status;

	if (asprintf(&name, "%s %s", program_invocation_short_name, choice->command->name) < 0) {
		pl_error("out of memory; nothing was done");
		return PL_EXIT_SELF;
	}
	argv[choice->first] = name;
	status = choice->command->main(argc - choice->first, argv + choice->first);
	free(name);
	return status;
}

int main(int argc, char *argv[])
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "COMMAND [ARG...]",
		.doc = "Moves the memory of an unchanged program onto large pages.\v"
		       "'pagelift COMMAND --help' tells the options of a command.",
		.help_filter = add_commands,
	};
	choice_t choice = { 0 };

	argp_program_version = PACKAGE_NAME " " PACKAGE_VERSION;
	argp_err_exit_status = PL_EXIT_SELF;
	errno = argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice);
	if (errno) {
		pl_error("cannot read the command line: %m; nothing was done");
		return PL_EXIT_SELF;
	}
	return run_command(&choice, argc, argv);
}
