/* SPDX-License-Identifier: MIT */
/* The library that victim "dlloop" opens and closes: large zeroed data, a constructor and a
 * destructor. */
#include <stdlib.h>
#include <string.h>

static char zeroed[5 << 20];
static char *block;

int plugin_work(int seed);

static __attribute__((constructor)) void plugin_start(void)
{
	block = malloc(3 << 20);
	if (block)
		memset(block, 1, 3 << 20);
}

static __attribute__((destructor)) void plugin_stop(void)
{
	free(block);
}

/* Whether the zeroed data is zero; leaves it dirty. */
int plugin_work(int seed)
{
	for (size_t i = 0; i < sizeof(zeroed); i++)
		if (zeroed[i])
			return 0;
	memset(zeroed, seed | 1, sizeof(zeroed));
	return block && block[0] == 1;
}
