/* SPDX-License-Identifier: MIT */
/* The output of `pagelift run --dry-run`. Whatever comes from outside is quoted, so that a comment
 * stays one line and a terminal sees no control characters. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/message.h"
#include "tools/run_plan.h"

static void put(const char *before, const char *word, const char *after)
{
	char *quoted = pl_quote(word);

	printf("%s%s%s", before, quoted, after);
	free(quoted);
}

static void show_command(const pl_target_t *target, const char *command)
{
	if (!target->command) {
		put("# command:  ", command, "");
		printf(": %s\n", strerror(target->error));
		return;
	}
	put("# command:  ", target->command, "");
	if (strcmp(target->command, target->program) != 0)
		put(", a script that ", target->program, " runs");
	if (!target->has_elf)
		fputs("; its headers cannot be read", stdout);
	putchar('\n');
}

static void show_preload(const pl_plan_t *plan)
{
	static const char *const how[] = {
		[PL_MERGE_ALONE] = "is all of LD_PRELOAD",
		[PL_MERGE_APPENDED] = "is added behind the rest of LD_PRELOAD",
		[PL_MERGE_REPLACED] = "is in LD_PRELOAD in place of another shim",
		[PL_MERGE_PRESENT] = "is in LD_PRELOAD already",
	};

	put("# shim:     ", plan->shim, " ");
	puts(plan->has_preload ? how[plan->preload] : "is left out of LD_PRELOAD");
}

static void show_setting(const char *name, const char *value)
{
	if (!*value)
		return;
	printf(" %s=", name);
	put("", value, "");
}

static void show_complaint(const char *message)
{
	put("# the shim will say: ", message, "\n");
}

static void show_settings(const pl_plan_t *plan)
{
	pl_config_t config;
	char *exe = plan->target.program ? realpath(plan->target.program, NULL) : NULL;

	fputs("# settings:", stdout);
	pl_config_echo(&plan->config, show_setting);
	putchar('\n');
	pl_config_parse(plan->env.entries, show_complaint, &config);
	if (exe && !pl_config_wants_exe(&plan->config, exe))
		put("# PAGELIFT_EXE does not match ", exe, "; the shim does nothing in it\n");
	if (plan->config.children == PL_CHILDREN_MARKED)
		puts("# PAGELIFT_CHILDREN marks it as a child; the shim does nothing in it");
	free(exe);
}

static void show_probe(const pl_plan_t *plan)
{
	const pl_probe_t *probe = &plan->probe;

	if (!plan->has_probe) {
		puts("# probe:    not run");
	} else if (!probe->known) {
		printf("# probe:    failed: %s\n", probe->failure);
	} else {
		printf("# probe:    calls of libc itself %s the shim (",
		       probe->redirected ? "reach" : "do not reach");
		put("", probe->condition, "");
		put("); transparent huge pages: ", probe->thp, "\n");
	}
}

static void show_tunables(const pl_plan_t *plan)
{
	static const char *const how[] = {
		[PL_MERGE_ALONE] = "are all of GLIBC_TUNABLES",
		[PL_MERGE_APPENDED] = "are added behind the rest of GLIBC_TUNABLES",
		[PL_MERGE_REPLACED] = "",
		[PL_MERGE_PRESENT] = "are in GLIBC_TUNABLES already, with the values there",
	};

	printf("# tunables: %s: %s\n", plan->has_tunables ? how[plan->tunables] : "not added",
	       plan->tunables_reason);
}

/* Whether our own environment holds exactly this entry. */
static int is_unchanged(const char *entry)
{
	for (char **own = environ; *own; own++)
		if (!strcmp(*own, entry))
			return 1;
	return 0;
}

static void show_line(const pl_plan_t *plan, char *const command[])
{
	const char *before = "env ";

	for (size_t i = 0; i < plan->env.count; i++) {
		const char *entry = plan->env.entries[i];
		int name_length = (int)strcspn(entry, "=");

		if (is_unchanged(entry))
			continue;
		printf("%s%.*s=", before, name_length, entry);
		put("", entry + name_length + 1, "");
		before = " ";
	}
	for (before = *before == 'e' ? "" : " "; *command; command++) {
		put(before, *command, "");
		before = " ";
	}
	putchar('\n');
}

void pl_plan_show(const pl_plan_t *plan, const pl_run_request_t *request)
{
	show_command(&plan->target, request->command[0]);
	show_preload(plan);
	show_settings(plan);
	show_probe(plan);
	show_tunables(plan);
	show_line(plan, request->command);
}
