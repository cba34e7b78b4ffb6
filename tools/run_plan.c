/* SPDX-License-Identifier: MIT */
#include "tools/run_plan.h"

#include <stdlib.h>
#include <unistd.h>

#include "tools/command.h"
#include "tools/message.h"
#include "tools/shim.h"

/*
 * What glibc can do for its own malloc where the shim cannot: hugetlb=1 (since 2.35) advises huge
 * pages for what malloc gets from the kernel, and a big top_pad lets it get that in pieces which
 * hold whole huge pages.
 */
static const char tunables[] = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864";

/* The shim complains by itself, to the command's standard error. */
static void ignore(const char *message)
{
	(void)message;
}

static void add_shim(pl_plan_t *plan)
{
	const char *old = pl_env_get(&plan->env, "LD_PRELOAD");
	char *merged;

	if (!pl_reach_allows_preload(plan->reach))
		return;
	merged = pl_merge_preload(old, plan->shim, &plan->preload);
	if (plan->preload != PL_MERGE_PRESENT)
		pl_env_set(&plan->env, "LD_PRELOAD", merged);
	plan->has_preload = true;
	free(merged);
}

/* Why the settings or the program leave nothing for tunables to do; NULL if they may serve. */
static const char *reason_against(const pl_plan_t *plan)
{
	const pl_config_t *config = &plan->config;

	if (plan->target.error)
		return "the command cannot be run";
	if (config->backend == PL_BACKEND_BASE)
		return "backend base moves nothing";
	if (!(config->segments & PL_SET_HEAP))
		return "PAGELIFT_SEGMENTS leaves malloc's memory out";
	if (*config->exe)
		return "PAGELIFT_EXE names programs, and tunables would act in all";
	if (config->children != PL_CHILDREN_YES)
		return "PAGELIFT_CHILDREN leaves programs out, and tunables would act in all";
	if (plan->reach != PL_REACH_FULL && plan->reach != PL_REACH_UNKNOWN &&
	    plan->reach != PL_REACH_PART_GO && plan->reach != PL_REACH_STATIC_GNU)
		return "the program would not heed them";
	if (plan->reach == PL_REACH_STATIC)
		return "the program has no malloc of glibc";
	return NULL;
}

/* Whether --tunables=auto sets them; runs the probe if that is what it hangs on. */
static bool wants_tunables(pl_plan_t *plan)
{
	plan->tunables_reason = reason_against(plan);
	if (plan->tunables_reason)
		return false;
	if (plan->reach == PL_REACH_STATIC_GNU) {
		plan->tunables_reason = "the shim is not loaded, but the malloc inside heeds them";
		return true;
	}
	plan->probe = pl_probe_run(&plan->env);
	plan->has_probe = true;
	if (!plan->probe.known)
		plan->tunables_reason = "it is not known whether the shim reaches malloc";
	else if (plan->probe.redirected)
		plan->tunables_reason = "the shim reaches malloc by itself";
	else
		plan->tunables_reason = "the shim does not reach malloc's own calls";
	return plan->probe.known && !plan->probe.redirected;
}

static void add_tunables(pl_plan_t *plan, pl_tunables_t wish)
{
	char *merged;

	if (wish == PL_TUNABLES_AUTO) {
		if (!wants_tunables(plan))
			return;
	} else {
		plan->tunables_reason =
			wish == PL_TUNABLES_YES ? "--tunables=yes" : "--tunables=no";
		if (wish == PL_TUNABLES_NO)
			return;
	}
	merged = pl_merge_tunables(pl_env_get(&plan->env, "GLIBC_TUNABLES"), tunables,
				   &plan->tunables);
	if (plan->tunables != PL_MERGE_PRESENT)
		pl_env_set(&plan->env, "GLIBC_TUNABLES", merged);
	plan->has_tunables = true;
	free(merged);
}

int pl_plan_make(const pl_run_request_t *request, pl_env_t env, pl_plan_t *ret_plan)
{
	pl_plan_t plan = { .env = env };
	pl_elf_t shim_elf;

	plan.shim = pl_shim_find(request->library, &shim_elf);
	if (!plan.shim) {
		pl_env_free(&plan.env);
		return PL_EXIT_SELF;
	}
	pl_config_parse(plan.env.entries, ignore, &plan.config);
	plan.target = pl_target_find(request->command[0], pl_env_get(&plan.env, "PATH"));
	plan.reach = pl_target_reach(&plan.target, &shim_elf, pl_env_get(&plan.env, "LD_PRELOAD"));
	add_shim(&plan);
	add_tunables(&plan, request->tunables);
	if (request->dry_run && !plan.has_probe && plan.has_preload) {
		plan.probe = pl_probe_run(&plan.env);
		plan.has_probe = true;
	}
	*ret_plan = plan;
	return 0;
}

void pl_plan_free(pl_plan_t *plan)
{
	pl_env_free(&plan->env);
	pl_target_free(&plan->target);
	free(plan->shim);
}
