/* SPDX-License-Identifier: MIT */
#include "tools/target.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/message.h"

/* The kernel reads 256 bytes of a script (BINPRM_BUF_SIZE) and follows five interpreters. */
enum { SCRIPT_LINE_MAX = 256, SCRIPT_DEPTH_MAX = 5 };

/* 0 if the kernel would start this file, else the errno of execve. */
static int check_executable(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno;
	if (!S_ISREG(status.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
}

/* execvp(3): goes on after a file that may not be run, and reports that one if nothing follows. */
static char *search(const char *command, const char *search_path, int *ret_error)
{
	int error = ENOENT;

	for (const char *folder = search_path;;) {
		size_t length = strcspn(folder, ":");
		char *path = pl_format("%.*s%s%s", (int)length, folder, length ? "/" : "", command);
		int found = check_executable(path);

		if (!found) {
			*ret_error = 0;
			return path;
		}
		if (found == EACCES)
			error = EACCES;
		free(path);
		if (!folder[length])
			break;
		folder += length + 1;
	}
	*ret_error = error;
	return NULL;
}

static char *find_file(const char *command, const char *search_path, int *ret_error)
{
	if (!*command) {
		*ret_error = ENOENT;
		return NULL;
	}
	if (!strchr(command, '/'))
		return search(command, search_path ? search_path : "/bin:/usr/bin", ret_error);
	*ret_error = check_executable(command);
	return *ret_error ? NULL : pl_format("%s", command);
}

/* Splits "#! INTERPRETER [ARGUMENT]" in place; returns NULL for any other line. */
static char *split_script_line(char *line, char **ret_argument)
{
	char *end;

	if (strncmp(line, "#!", 2) != 0)
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	end = line + strlen(line);
	while (end > line + 2 && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	line += 2 + strspn(line + 2, " \t");
	end = line + strcspn(line, " \t");
	*ret_argument = end + strspn(end, " \t");
	*end = '\0';
	return line;
}

/*
 * The command that "env ARGUMENT" runs, in place; NULL if it is not plain from the line. Only -S
 * makes env split the kernel's single argument.
 */
static char *command_of_env(const char *interpreter, char *argument)
{
	const char *slash = strrchr(interpreter, '/');

	if (strcmp(slash ? slash + 1 : interpreter, "env") != 0)
		return NULL;
	if (!strncmp(argument, "-S", 2)) {
		argument += 2 + strspn(argument + 2, " \t");
		while (argument[strcspn(argument, "= \t")] == '=') {
			argument += strcspn(argument, " \t");
			argument += strspn(argument, " \t");
		}
		argument[strcspn(argument, " \t")] = '\0';
	}
	if (!*argument || *argument == '-' || strpbrk(argument, "=\"'\\$ \t"))
		return NULL;
	return argument;
}

/* The file that a script hands itself to, in new memory; NULL if that is not how `start` reads. */
static char *find_interpreter(char *start, const char *search_path)
{
	char *argument;
	char *interpreter = split_script_line(start, &argument);
	char *command;
	char *path = NULL;
	int error;

	if (!interpreter || !*interpreter)
		return NULL;
	command = command_of_env(interpreter, argument);
	if (command)
		path = find_file(command, search_path, &error);
	return path ? path : pl_format("%s", interpreter);
}

/*
 * Reads one file. Returns the interpreter to look at next, in new memory, or NULL when this is the
 * file to judge.
 */
static char *look_into(pl_target_t *target, const char *path, const char *search_path)
{
	char start[SCRIPT_LINE_MAX + 1];
	char *next = NULL;
	ssize_t got;
	int error;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return NULL;
	error = pl_elf_inspect(fd, &target->elf);
	target->has_elf = !error;
	if (error == -ENOEXEC && (got = pread(fd, start, SCRIPT_LINE_MAX, 0)) >= 0) {
		start[got] = '\0';
		next = find_interpreter(start, search_path);
		/* What the kernel does not know execvp hands to the shell. */
		if (!next)
			next = pl_format("/bin/sh");
	}
	close(fd);
	return next;
}

pl_target_t pl_target_find(const char *command, const char *search_path)
{
	pl_target_t target = { 0 };

	target.command = find_file(command, search_path, &target.error);
	if (!target.command)
		return target;
	target.program = pl_format("%s", target.command);
	for (int depth = 0; depth <= SCRIPT_DEPTH_MAX; depth++) {
		char *next = look_into(&target, target.program, search_path);

		if (!next)
			break;
		free(target.program);
		target.program = next;
	}
	return target;
}

void pl_target_free(pl_target_t *target)
{
	free(target->command);
	free(target->program);
	*target = (pl_target_t){ 0 };
}
