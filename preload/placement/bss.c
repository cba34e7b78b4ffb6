/* SPDX-License-Identifier: MIT */
#include "placement/bss.h"

#include <link.h>

#include "backend/thp.h"
#include "placement/context.h"
#include "placement/map.h"
#include "report/counters.h"

/* What lies behind the bytes from the file, from the first whole page on, is anonymous memory
 * (fs/binfmt_elf.c, elf/dl-map-segments.h). */
static pl_range_t zeroed_part(const struct dl_phdr_info *object, const ElfW(Phdr) * header)
{
	uintptr_t start = object->dlpi_addr + header->p_vaddr;

	if (header->p_type != PT_LOAD || header->p_memsz <= header->p_filesz)
		return pl_range(0, 0);
	return pl_range(pl_round_up(start + header->p_filesz, pl_base_page),
			pl_round_up(start + header->p_memsz, pl_base_page));
}

static void place(pl_range_t range)
{
	const pl_facts_t *facts = pl_context_facts_for(pl_range_length(range));
	pl_verdict_t verdict = pl_policy_in_place(PL_KIND_BSS, &pl_context.config, facts);
	int result;

	if (!verdict.advise || pl_range_empty(pl_range_whole_blocks(range, facts->large_page)) ||
	    pl_range_length(range) < pl_context.config.min_size)
		return;
	result = pl_thp_advise(range);
	if (result) {
		pl_context_note_advice(result);
		return;
	}
	pl_count(PL_COUNTER_PLACED);
	pl_map_enlist(&(pl_segment_t){ .range = range,
				       .asked = pl_range_length(range),
				       .kind = PL_KIND_BSS,
				       .reason = verdict.reason });
}

static int place_object(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		pl_range_t range = zeroed_part(object, &object->dlpi_phdr[i]);

		if (!pl_range_empty(range))
			place(range);
	}
	return 0;
}

void pl_bss_advise(void)
{
	dl_iterate_phdr(place_object, NULL);
}
