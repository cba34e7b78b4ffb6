/* SPDX-License-Identifier: MIT */
/* What the subcommands of pagelift share: their table, and the exit statuses of env(1). */
#ifndef PL_TOOLS_COMMAND_H
#define PL_TOOLS_COMMAND_H

enum {
	PL_EXIT_SELF = 125,       /* pagelift itself failed; nothing was run */
	PL_EXIT_CANNOT_RUN = 126, /* the program was found but could not be run */
	PL_EXIT_NOT_FOUND = 127,  /* there is no such program */
};

typedef struct {
	const char *name;
	const char *summary;
	/* argv[0] is "pagelift NAME", for messages; returns the exit status. */
	int (*main)(int argc, char *argv[]);
} pl_command_t;

#define PL_COMMAND(name, summary) int pl_cmd_##name(int argc, char *argv[]);
#include "tools/commands.def"
#undef PL_COMMAND

#endif
