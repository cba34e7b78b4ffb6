/* SPDX-License-Identifier: MIT */
/* A process in which placement is ready, on a machine whose facts a test chooses. */
#ifndef PL_TESTS_FAKES_FAKE_MACHINE_H
#define PL_TESTS_FAKES_FAKE_MACHINE_H

#include <stdbool.h>

#include "facts/facts.h"

/* Installs the fake operations, the default configuration and facts with nothing in the way: large
 * pages of 2M by advice, no limit. Returns the facts that placement sees, to be changed at will. */
pl_facts_t *fake_machine(void);

/* Reasons not to run ahead of the program, from 0; from FAKE_CAREFUL_UNADVISED on they forbid
 * advice as well. Call after fake_machine(). */
enum { FAKE_CAREFUL_UNADVISED = 3, FAKE_CAREFUL_WAYS = 7 };

void fake_make_careful(int way);

/* Whether valgrind runs this: some calls end differently there (it does not know
 * MAP_FIXED_NOREPLACE, and loses track of an mremap that moves and grows). */
bool fake_under_valgrind(void);

#endif
