/* SPDX-License-Identifier: MIT */
/* Helpers of the victims; see victim.h. */
#define _GNU_SOURCE
#include "victim.h"

#include <features.h>
#if !__GLIBC_PREREQ(2, 32)
#define strerrorname_np strerror
#endif

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_int v_wrongs;
static _Thread_local sigjmp_buf v_jump;
static _Thread_local volatile sig_atomic_t v_armed;
static _Thread_local void *volatile v_address;

static void v_write(const char *text, size_t n)
{
	ssize_t done;

	while (n > 0 && (done = write(STDOUT_FILENO, text, n)) > 0) {
		text += done;
		n -= (size_t)done;
	}
}

static void v_line(const char *prefix, const char *fmt, va_list ap)
{
	char buf[512];
	size_t n = strlen(prefix);
	int more;

	memcpy(buf, prefix, n);
	more = vsnprintf(buf + n, sizeof(buf) - n - 1, fmt, ap);
	if (more > 0)
		n += (size_t)more < sizeof(buf) - n - 1 ? (size_t)more : sizeof(buf) - n - 2;
	buf[n++] = '\n';
	v_write(buf, n);
}

void v_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	v_line("", fmt, ap);
	va_end(ap);
}

void v_figure(const char *name, long value)
{
	v_say("# %s %ld", name, value);
}

bool v_ok(bool good, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	v_line(good ? "ok " : "wrong: ", fmt, ap);
	va_end(ap);
	if (!good)
		v_wrongs++;
	return good;
}

bool v_wrong_if(bool bad, const char *fmt, ...)
{
	va_list ap;

	if (!bad || v_wrongs++ >= 20)
		return bad;
	va_start(ap, fmt);
	v_line("wrong: ", fmt, ap);
	va_end(ap);
	return bad;
}

void v_outcome(const char *name, bool success)
{
	v_say("%s: %s", name, success ? "ok" : strerrorname_np(errno));
}

int v_done(void)
{
	v_say("done");
	return v_wrongs ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void v_hung(int sig)
{
	static const char text[] = "wrong: hung\n";

	(void)sig;
	v_write(text, sizeof(text) - 1);
	_exit(99);
}

void v_watchdog(unsigned seconds)
{
	signal(SIGALRM, v_hung);
	alarm(seconds);
}

size_t v_page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void *v_page_up(const void *p)
{
	return (void *)(((uintptr_t)p + V_PAGE - 1) & ~(uintptr_t)(V_PAGE - 1));
}

void v_fill(void *p, int v, size_t n)
{
	memset(p, v, n);
}

void v_stamp(void *p, size_t n, uint64_t seed)
{
	uint64_t *word = p;

	for (size_t i = 0; i < n / 8; i++)
		word[i] = (seed + 1) * 0x9e3779b97f4a7c15u + i;
}

bool v_stamped(const void *p, size_t n, uint64_t seed)
{
	const uint64_t *word = p;

	for (size_t i = 0; i < n / 8; i++)
		if (word[i] != (seed + 1) * 0x9e3779b97f4a7c15u + i)
			return false;
	return true;
}

bool v_holds(const void *p, size_t n, unsigned char v)
{
	const unsigned char *byte = p;

	if (n == 0)
		return true;
	return byte[0] == v && memcmp(byte, byte + 1, n - 1) == 0;
}

static void v_faulted(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (!v_armed) {
		signal(sig, SIG_DFL);
		return;
	}
	v_address = info->si_addr;
	siglongjmp(v_jump, sig);
}

int v_fault(volatile char *p, bool write, void **ret_addr)
{
	struct sigaction action = { .sa_sigaction = v_faulted, .sa_flags = SA_SIGINFO };
	int sig;

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sig = sigsetjmp(v_jump, 1);
	if (sig == 0) {
		v_armed = 1;
		if (write)
			*p = *p;
		else
			(void)*p;
	}
	v_armed = 0;
	if (sig && ret_addr)
		*ret_addr = v_address;
	return sig;
}

/* Calls line(arg, text) for each line of a file; static buffer, so for one thread at a time. */
static void v_lines(const char *path, void (*line)(void *arg, const char *text), void *arg)
{
	static char buf[8192];
	size_t held = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while ((n = read(fd, buf + held, sizeof(buf) - 1 - held)) > 0) {
		char *text = buf, *end;

		buf[held += (size_t)n] = '\0';
		while ((end = strchr(text, '\n'))) {
			*end = '\0';
			line(arg, text);
			text = end + 1;
		}
		held -= (size_t)(text - buf);
		memmove(buf, text, held);
	}
	close(fd);
}

struct v_query {
	const char *name;
	uintptr_t from, to;
	bool inside;
	long sum;
};

static void v_match(void *arg, const char *text)
{
	struct v_query *query = arg;
	size_t n = strlen(query->name);
	uintptr_t from, to;

	/* A VMA header is "from-to rwxp ..."; the values that follow belong to it. */
	if (query->to && sscanf(text, "%lx-%lx ", &from, &to) == 2)
		query->inside = from < query->to && to > query->from;
	else if (query->inside && strncmp(text, query->name, n) == 0 && text[n] == ':')
		query->sum += atol(text + n + 1);
}

long v_status_kb(const char *name)
{
	struct v_query query = { .name = name, .inside = true };

	v_lines("/proc/self/status", v_match, &query);
	return query.sum;
}

long v_rollup_kb(const char *name)
{
	struct v_query query = { .name = name, .inside = true };

	v_lines("/proc/self/smaps_rollup", v_match, &query);
	return query.sum;
}

long v_range_kb(const void *p, size_t n, const char *name)
{
	struct v_query query = { .name = name, .from = (uintptr_t)p, .to = (uintptr_t)p + n };

	v_lines("/proc/self/smaps", v_match, &query);
	return query.sum;
}

void *v_map(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

long v_arg(int argc, char **argv, const char *name, long fallback)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, name) == 0)
			return atol(argv[i + 1]);
	return fallback;
}
