/* SPDX-License-Identifier: MIT */
#include "tools/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/message.h"

enum { PROBE_MILLISECONDS = 5000, REPORT_MAX = 1 << 20 };

typedef struct {
	char folder[256];
	char report[272];
} place_t;

static pl_probe_t failed(const char *what, int error)
{
	pl_probe_t probe = { 0 };

	if (error)
		snprintf(probe.failure, sizeof(probe.failure), "%s: %s", what, strerror(error));
	else
		snprintf(probe.failure, sizeof(probe.failure), "%s", what);
	return probe;
}

/* A new folder that only we may enter. The shim expands % in the report's name and takes names up
 * to 255 bytes, so a TMPDIR with either is passed over. */
static bool make_place(place_t *ret_place)
{
	const char *base = getenv("TMPDIR");

	if (!base || *base != '/' || strchr(base, '%') || strlen(base) > 200)
		base = "/tmp";
	snprintf(ret_place->folder, sizeof(ret_place->folder), "%s/pagelift.XXXXXX", base);
	if (!mkdtemp(ret_place->folder))
		return false;
	snprintf(ret_place->report, sizeof(ret_place->report), "%s/report", ret_place->folder);
	return true;
}

static void remove_place(const place_t *place)
{
	unlink(place->report);
	rmdir(place->folder);
}

static pl_env_t make_environment(const pl_env_t *env, const place_t *place)
{
	/* HUGETLB_RESTRICT_EXE is libhugetlbfs' name for PAGELIFT_EXE. */
	static const char *const dropped[] = { "PAGELIFT_EXE", "HUGETLB_RESTRICT_EXE",
					       "PAGELIFT_CHILDREN", "PAGELIFT_STRICT" };
	pl_env_t copy = pl_env_copy(env->entries);

	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		pl_env_unset(&copy, dropped[i]);
	pl_env_set(&copy, "PAGELIFT_REPORT", place->report);
	pl_env_set(&copy, "PAGELIFT_REPORT_FORMAT", "json");
	pl_env_set(&copy, "PAGELIFT_LOG", "error");
	return copy;
}

/* Starts ourselves as "pagelift probe", without terminal, with the given signal mask. */
static int start(const pl_env_t *env, const sigset_t *mask, pid_t *ret_pid)
{
	char *argv[] = { (char[]){ "pagelift" }, (char[]){ "probe" }, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, 0, 1);
	posix_spawn_file_actions_adddup2(&actions, 0, 2);
	posix_spawnattr_setsigmask(&attributes, mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn(ret_pid, "/proc/self/exe", &actions, &attributes, argv, env->entries);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Waits for the end of the child, killing it when its time is over. Where the caller ignores
 * SIGCHLD there is no status to be had; the report counts, not the status. */
static bool finish(pid_t pid)
{
	const struct timespec step = { .tv_nsec = 500000 };

	for (int i = 0; i < PROBE_MILLISECONDS * 2; i++) {
		if (waitpid(pid, NULL, WNOHANG))
			return true;
		nanosleep(&step, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return false;
}

static bool copy_string(const json_t *value, char *to, size_t size)
{
	const char *text = json_string_value(value);

	snprintf(to, size, "%s", text ? text : "unknown");
	return text != NULL;
}

/* json_loadfd reads byte by byte. */
static json_t *load(int fd)
{
	char *text = malloc(REPORT_MAX);
	size_t length = 0;
	ssize_t got;
	json_t *value = NULL;

	while (text && length < REPORT_MAX &&
	       (got = read(fd, text + length, REPORT_MAX - length)) > 0)
		length += (size_t)got;
	if (text)
		value = json_loadb(text, length, 0, NULL);
	free(text);
	return value;
}

static pl_probe_t read_report(const place_t *place)
{
	pl_probe_t probe = { 0 };
	json_t *report;
	json_t *redirect;
	int fd = open(place->report, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return failed("it wrote no report", 0);
	report = load(fd);
	close(fd);
	redirect = json_object_get(report, "redirect");
	probe.known = json_is_boolean(json_object_get(redirect, "done")) &&
		      copy_string(json_object_get(redirect, "condition"), probe.condition,
				  sizeof(probe.condition));
	probe.redirected = json_is_true(json_object_get(redirect, "done"));
	copy_string(json_object_get(json_object_get(report, "thp"), "enabled"), probe.thp,
		    sizeof(probe.thp));
	json_decref(report);
	return probe.known ? probe : failed("its report cannot be read", 0);
}

static pl_probe_t run(const pl_env_t *env, const sigset_t *mask)
{
	pl_probe_t probe;
	pl_env_t own;
	place_t place;
	pid_t pid;
	int error;

	if (!make_place(&place))
		return failed("cannot make a temporary folder", errno);
	own = make_environment(env, &place);
	error = start(&own, mask, &pid);
	if (error)
		probe = failed("cannot start the probe", error);
	else if (!finish(pid))
		probe = failed("the probe did not end", 0);
	else
		probe = read_report(&place);
	pl_env_free(&own);
	remove_place(&place);
	return probe;
}

pl_probe_t pl_probe_run(const pl_env_t *env)
{
	sigset_t ending;
	sigset_t mask;
	pl_probe_t probe;

	/* A signal that ends us waits until the folder is removed; it ends the child at once. */
	sigemptyset(&ending);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGQUIT);
	sigaddset(&ending, SIGTERM);
	sigprocmask(SIG_BLOCK, &ending, &mask);
	probe = run(env, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return probe;
}
