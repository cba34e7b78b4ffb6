/* SPDX-License-Identifier: MIT */
#include "tools/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/message.h"

/* include/linux/sched.h: a thread of the kernel's own. */
enum { KERNEL_THREAD = 0x00200000 };

/* A program may say that its environment is as long as its address space (PR_SET_MM_MAP). */
enum { ENVIRONMENT_MAX = 8 << 20 };

FILE *pl_process_file(const pl_process_t *process, const char *name)
{
	int fd = openat(process->folder, name, O_RDONLY | O_CLOEXEC);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !stream)
		close(fd);
	return stream;
}

/* State letter and flags of stat (proc_pid_stat(5)); the name before them may hold anything. */
static bool read_state(const pl_process_t *process, char *ret_state, unsigned int *ret_flags)
{
	char text[1024];
	FILE *stream = pl_process_file(process, "stat");
	size_t length;
	const char *rest;

	if (!stream)
		return false;
	length = fread(text, 1, sizeof(text) - 1, stream);
	fclose(stream);
	text[length] = '\0';
	rest = strrchr(text, ')');
	return rest && sscanf(rest, ") %c %*d %*d %*d %*d %*d %u", ret_state, ret_flags) == 2;
}

bool pl_process_lives(const pl_process_t *process)
{
	unsigned int flags;
	char state;

	return read_state(process, &state, &flags) && state != 'Z' && state != 'X';
}

void pl_process_complain(const pl_process_t *process, int error)
{
	if (error == EACCES || error == EPERM)
		pl_error("process %d may not be looked at: it takes the same user and groups as "
			 "that process has, or CAP_SYS_PTRACE; nothing is shown of it",
			 process->pid);
	else if (error == ESRCH || !pl_process_lives(process))
		pl_error("process %d has ended; nothing is shown of it", process->pid);
	else
		pl_error("cannot read /proc/%d: %s; nothing is shown of it", process->pid,
			 strerror(error));
}

static void read_status(pl_process_t *process)
{
	FILE *stream = pl_process_file(process, "status");
	unsigned long value;
	char *line = NULL;
	size_t size = 0;

	if (!stream)
		return;
	while (getline(&line, &size, stream) > 0) {
		if (sscanf(line, "VmPTE: %lu", &value) == 1)
			process->page_tables = (uint64_t)value << 10;
		else if (sscanf(line, "THP_enabled: %lu", &value) == 1)
			process->thp_disabled = !value;
	}
	free(line);
	fclose(stream);
}

static char *read_name(const pl_process_t *process)
{
	char text[64] = "";
	FILE *stream = pl_process_file(process, "comm");

	if (stream && !fgets(text, sizeof(text), stream))
		*text = '\0';
	if (stream)
		fclose(stream);
	text[strcspn(text, "\n")] = '\0';
	return pl_format("[%s]", text);
}

static char *read_exe(const pl_process_t *process)
{
	char path[PATH_MAX];
	ssize_t length = readlinkat(process->folder, "exe", path, sizeof(path) - 1);

	if (length <= 0)
		return read_name(process);
	path[length] = '\0';
	return pl_format("%s", path);
}

/* The answer of /proc to a process id that is not in it. */
static void complain_of_none(pid_t pid, int error)
{
	if (error != ENOENT)
		pl_error("cannot open /proc/%d: %s; nothing is shown of it", pid, strerror(error));
	else if (access("/proc/self", F_OK))
		pl_error("/proc is not mounted; nothing can be shown");
	else if (!kill(pid, 0) || errno == EPERM)
		pl_error("process %d is hidden (the mount option hidepid of /proc): it takes the "
			 "user of that process, or root; nothing is shown of it",
			 pid);
	else
		pl_error("there is no process %d", pid);
}

int pl_process_open(pid_t pid, pl_process_t *ret_process)
{
	pl_process_t process = { .pid = pid };
	char *path = pl_format("/proc/%d", pid);
	unsigned int flags = 0;
	char state = '?';

	process.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(path);
	if (process.folder < 0) {
		complain_of_none(pid, errno);
		return -1;
	}
	if (!read_state(&process, &state, &flags))
		pl_error("process %d has ended; nothing is shown of it", pid);
	else if (flags & KERNEL_THREAD)
		pl_error("process %d is a thread of the kernel, which has no memory of its own; "
			 "nothing is shown of it",
			 pid);
	else if (state == 'Z' || state == 'X')
		pl_error("process %d has ended and waits for its parent (a zombie); "
			 "nothing is shown of it",
			 pid);
	else {
		read_status(&process);
		process.exe = read_exe(&process);
		*ret_process = process;
		return 0;
	}
	close(process.folder);
	return -1;
}

void pl_process_close(pl_process_t *process)
{
	close(process->folder);
	free(process->exe);
	*process = (pl_process_t){ .folder = -1 };
}

uint64_t pl_process_auxv(const pl_process_t *process, uint64_t type)
{
	FILE *stream = pl_process_file(process, "auxv");
	uint64_t value = 0;
	uint64_t pair[2];

	while (stream && fread(pair, sizeof(pair), 1, stream) == 1)
		if (pair[0] == type)
			value = pair[1];
	if (stream)
		fclose(stream);
	return value;
}

bool pl_process_env_holds(const pl_process_t *process, const char *name, const char *word)
{
	FILE *stream = pl_process_file(process, "environ");
	char *text = malloc(ENVIRONMENT_MAX + 1);
	size_t length = stream && text ? fread(text, 1, ENVIRONMENT_MAX, stream) : 0;
	size_t name_length = strlen(name);
	bool holds = false;

	if (text)
		text[length] = '\0';
	for (size_t at = 0; at < length; at += strlen(text + at) + 1)
		holds |= !strncmp(text + at, name, name_length) && text[at + name_length] == '=' &&
			 strstr(text + at, word);
	free(text);
	if (stream)
		fclose(stream);
	return holds;
}
