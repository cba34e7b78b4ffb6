/* SPDX-License-Identifier: MIT */
#include "fake_machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/types.h"
#include "fake_ops.h"
#include "placement/context.h"

/* Placement hands them out as const; the object itself is not. */
static pl_facts_t *facts_in_force(void)
{
	return (pl_facts_t *)(uintptr_t)pl_context_facts();
}

pl_facts_t *fake_machine(void)
{
	pl_facts_t *facts = facts_in_force();

	memset(&pl_context, 0, sizeof(pl_context));
	pl_config_parse(NULL, NULL, &pl_context.config);
	pl_context.state = PL_READY;
	*facts = (pl_facts_t){ .thp_mode = PL_THP_MADVISE,
			       .large_page = 2 * PL_MIB,
			       .max_maps = 65530 };
	fake_install();
	return facts;
}

void fake_make_careful(int way)
{
	pl_facts_t *facts = facts_in_force();

	switch (way) {
	case 0:
		facts->limits_tight = true;
		break;
	case 1:
		facts->strict_overcommit = true;
		break;
	case 2:
		pl_context.locks_future = true;
		break;
	case FAKE_CAREFUL_UNADVISED:
		pl_context.config.backend = PL_BACKEND_BASE;
		break;
	case 4:
		pl_context.config.segments = PL_SET_MMAP;
		break;
	case 5:
		facts->large_page = 0;
		break;
	case 6:
		facts->confined = true;
		break;
	}
}

bool fake_under_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "vgpreload");
}
