/* SPDX-License-Identifier: MIT */
/* Trap: dlopen and dlclose, 100 times, of a library with large zeroed data (plugin.c), its path
 * an argument. */
#define _GNU_SOURCE
#include "victim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#define ROUNDS 100

static void *churn(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		char *block = malloc((size_t)(i * 97 % 300000) + 1);

		v_fill(block, 1, 1);
		free(block);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int bad = 0;

	v_watchdog(100);
	pthread_create(&thread, NULL, churn, NULL);
	for (int i = 0; i < ROUNDS && argc > 1; i++) {
		void *plugin = dlopen(argv[1], i % 2 ? RTLD_NOW : RTLD_LAZY | RTLD_GLOBAL);
		int (*work)(int) = NULL;

		if (plugin)
			*(void **)&work = dlsym(plugin, "plugin_work");
		bad += !work || !work(i) || dlclose(plugin) != 0;
		if (bad == 1 && !plugin)
			v_say("# %s", dlerror());
	}
	pthread_join(thread, NULL);
	v_ok(bad == 0 && argc > 1, "%d rounds of dlopen and dlclose", ROUNDS);
	return v_done();
}
