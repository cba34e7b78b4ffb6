/* SPDX-License-Identifier: MIT */
/*
 * Another process, as /proc shows it. Its folder is opened once and everything is read below it, so
 * that a process id that the kernel gives to another process meanwhile misleads nobody.
 */
#ifndef PL_TOOLS_PROCESS_H
#define PL_TOOLS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct {
	pid_t pid;
	int folder;           /* descriptor of /proc/PID */
	char *exe;            /* the program's path, or "[name]" where that may not be read */
	uint64_t page_tables; /* bytes, VmPTE */
	bool thp_disabled;    /* the kernel gives it no transparent huge page at all */
} pl_process_t;

/* Returns 0, or -1 after a message that tells why its memory cannot be shown. */
int pl_process_open(pid_t pid, pl_process_t *ret_process);
void pl_process_close(pl_process_t *process);

/* Opens a file of the folder; NULL with errno. */
FILE *pl_process_file(const pl_process_t *process, const char *name);

/* Whether it still runs: the state read so far is that of one process. */
bool pl_process_lives(const pl_process_t *process);

/* The message for a file of the folder that could not be opened or read, with the remedy. */
void pl_process_complain(const pl_process_t *process, int error);

/* A number from its auxiliary vector (getauxval(3)); 0 when it is not there or cannot be read. */
uint64_t pl_process_auxv(const pl_process_t *process, uint64_t type);

/* Whether a variable of the environment it was started with holds the word; false if unreadable. */
bool pl_process_env_holds(const pl_process_t *process, const char *name, const char *word);

#endif
