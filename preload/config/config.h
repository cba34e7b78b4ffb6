/* SPDX-License-Identifier: MIT */
/*
 * The configuration: one value per entry of options.def, read once from the environment. Later
 * changes of the environment (setproctitle overwrites it) have no effect.
 */
#ifndef PL_CONFIG_CONFIG_H
#define PL_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

enum { PL_OPTION_TEXT_MAX = 256 };

typedef unsigned int pl_option_choice_t;
typedef unsigned int pl_option_set_t;
typedef uint64_t pl_option_size_t;
typedef char pl_option_text_t[PL_OPTION_TEXT_MAX];

typedef struct {
#define OPTION(field, name, type, initial, accepted, help) pl_option_##type##_t field;
#include "config/options.def"
#undef OPTION
} pl_config_t;

/* Values of the choices, in the order of their accepted lists (a unit test holds them to it). */
enum { PL_BACKEND_AUTO, PL_BACKEND_THP, PL_BACKEND_BASE, PL_BACKEND_HUGETLB };
enum { PL_PAGE_AUTO, PL_PAGE_2M, PL_PAGE_1G };
enum { PL_POPULATE_AUTO, PL_POPULATE_EAGER, PL_POPULATE_LAZY };
enum { PL_CHILDREN_YES, PL_CHILDREN_NO, PL_CHILDREN_MARKED };
enum { PL_FORMAT_TEXT, PL_FORMAT_JSON };
enum {
	PL_SET_HEAP = 1,
	PL_SET_MMAP = 2,
	PL_SET_BSS = 4,
	PL_SET_SHARED = 8,
	PL_SET_SHM = 16,
	PL_SET_TMPFS = 32,
	PL_SETS_ALL = 63,
};

/*
 * Reads PAGELIFT_* (and the libhugetlbfs variables taken as aliases) from an environment.
 * `complain` is called with one message, ending with its consequence, for each unknown name or bad
 * value; the default is kept. envp may be NULL. Returns the number of complaints.
 */
int pl_config_parse(char *const envp[], void (*complain)(const char *message),
		    pl_config_t *ret_config);

/* The word that stands for a choice, as the variable takes it; "?" outside the list. */
const char *pl_config_backend_name(const pl_config_t *config);

/* Whether the program at `path` is one to act in (PAGELIFT_EXE; an empty list means all). */
bool pl_config_wants_exe(const pl_config_t *config, const char *path);

/* Calls show(NAME, value as text) for every option: the start-up echo. */
void pl_config_echo(const pl_config_t *config, void (*show)(const char *name, const char *value));

/*
 * PAGELIFT_CHILDREN=no: marks the variable in place, so that this program keeps its configuration
 * and those that it executes know that they are children. Returns whether it stood in envp.
 */
bool pl_config_mark_children(char *envp[]);

#endif
