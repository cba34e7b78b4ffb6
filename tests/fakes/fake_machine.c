/* SPDX-License-Identifier: MIT */
#include "fake_machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/types.h"
#include "fake_ops.h"
#include "placement/context.h"

pl_facts_t *fake_machine(void)
{
	/* Placement hands them out as const; the object itself is not. */
	pl_facts_t *facts = (pl_facts_t *)(uintptr_t)pl_context_facts();

	memset(&pl_context, 0, sizeof(pl_context));
	pl_config_parse(NULL, NULL, &pl_context.config);
	pl_context.state = PL_READY;
	*facts = (pl_facts_t){ .thp_mode = PL_THP_MADVISE,
			       .large_page = 2 * PL_MIB,
			       .max_maps = 65530 };
	fake_install();
	return facts;
}

bool fake_under_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "vgpreload");
}
