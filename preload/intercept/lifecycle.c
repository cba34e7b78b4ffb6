/* SPDX-License-Identifier: MIT */
#include "intercept/lifecycle.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/file.h"
#include "base/log.h"
#include "base/sys.h"
#include "intercept/libc_entries.h"
#include "intercept/mount.h"
#include "placement/arena.h"
#include "placement/break.h"
#include "placement/bss.h"
#include "placement/context.h"
#include "placement/contract.h"
#include "placement/parts.h"
#include "report/counters.h"
#include "report/report.h"

const char *pl_lifecycle_condition = "off";

static char exe[PL_PATH_MAX];
static bool forked;
static struct {
	bool open;
	dev_t device;
	ino_t inode;
} stderr_at_start;

static void complain(const char *message)
{
	pl_log(PL_LOG_WARN, "%s", message);
}

static void show(const char *name, const char *value)
{
	pl_log(PL_LOG_INFO, "PAGELIFT_%s=%s", name, value);
}

/* The path given to execve(2): a link's own name, where /proc/self/exe has its target's
 * (redis-server is a link to redis-check-rdb on Debian). */
static const char *executed_name(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);

	return name ? name : "";
}

static void read_exe(void)
{
	if (pl_sys_readlinkat("/proc/self/exe", exe, sizeof(exe) - 1) <= 0)
		strncpy(exe, executed_name(), sizeof(exe) - 1);
}

static void remember_stderr(void)
{
	struct stat status;

	stderr_at_start.open = pl_sys_fstat(2, &status) == 0;
	stderr_at_start.device = status.st_dev;
	stderr_at_start.inode = status.st_ino;
}

/* Whether this program is one to act in. */
static bool is_wanted(char **envp)
{
	const pl_config_t *config = &pl_context.config;

	if (config->children == PL_CHILDREN_MARKED)
		return false;
	if (*config->exe || *config->report)
		read_exe();
	if (!pl_config_wants_exe(config, exe) && !pl_config_wants_exe(config, executed_name()))
		return false;
	if (config->children == PL_CHILDREN_NO)
		pl_config_mark_children(envp);
	return true;
}

static void be_quiet(const char *message)
{
	(void)message;
}

/* Twice: PAGELIFT_LOG, wherever it stands, says whether mistakes are to be told. */
static void configure(char **envp)
{
	int complaints = pl_config_parse(envp, be_quiet, &pl_context.config);

	pl_log_set_level((pl_log_level_t)pl_context.config.log);
	if (complaints)
		pl_config_parse(envp, complain, &pl_context.config);
	if (complaints && pl_context.config.strict) {
		pl_log(PL_LOG_ERROR, "PAGELIFT_STRICT=yes: the program is not started");
		pl_sys_exit_group(2);
	}
}

/* A thread that held a lock of ours at the fork does not exist in the child. */
static void after_fork_in_child(void)
{
	forked = true;
	pl_context_after_fork();
	pl_break_after_fork();
	pl_arena_after_fork();
	pl_registry_after_fork();
	pl_parts_after_fork();
	pl_contract_after_fork();
	pl_count(PL_COUNTER_FORKS);
}

static void set_state(pl_state_t state)
{
	__atomic_store_n(&pl_context.state, state, __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)argv;
	set_state(PL_OFF);
	if (getauxval(AT_SECURE)) /* as secure_getenv: nobody's environment is trusted */
		return;
	pl_base_page = getauxval(AT_PAGESZ);
	configure(envp);
	if (!is_wanted(envp))
		return;
	pl_config_echo(&pl_context.config, show);
	if (*pl_context.config.report) {
		pl_context.measures = true;
		remember_stderr();
	}
	set_state(PL_STARTING);
	pl_lifecycle_condition = pl_condition_name(pl_libc_entries_take());
	pl_log(PL_LOG_INFO, "calls inside libc: %s", pl_lifecycle_condition);
	pthread_atfork(NULL, pl_contract_after_fork, after_fork_in_child);
	if (*pl_context.config.hugetlbfs)
		pl_mount_choose(pl_context.config.hugetlbfs);
	pl_bss_advise();
	set_state(PL_READY);
}

static bool stderr_is_unchanged(void)
{
	struct stat status;

	return stderr_at_start.open && pl_sys_fstat(2, &status) == 0 &&
	       status.st_dev == stderr_at_start.device && status.st_ino == stderr_at_start.inode;
}

/* A forked child speaks for itself only in a file of its own. Returns a descriptor or -errno. */
static int open_report(const char *path)
{
	if (strcmp(path, "stderr") == 0)
		return !forked && stderr_is_unchanged() ? 2 : -EBADF;
	if (forked && !strstr(path, "%p"))
		return -EEXIST;
	return pl_report_open(path, (int)pl_sys_getpid());
}

__attribute__((destructor)) static void finish(void)
{
	pl_report_header_t header = {
		.config = &pl_context.config,
		.exe = exe,
		.condition = pl_lifecycle_condition,
	};
	int fd;

	if (!pl_context.measures || !pl_enter())
		return;
	header.facts = pl_context_facts();
	if (header.facts->confined) { /* opening a file could kill now */
		pl_leave();
		return;
	}
	header.pid = (int)pl_sys_getpid();
	fd = open_report(pl_context.config.report);
	if (fd >= 0) {
		pl_report_write(&header, fd);
		if (fd != 2)
			pl_sys_close(fd);
	} else if (!forked) {
		pl_log(PL_LOG_INFO, "PAGELIFT_REPORT=%s: error %d; no report is written",
		       pl_context.config.report, -fd);
	}
	pl_leave();
}
