/* SPDX-License-Identifier: MIT */
/*
 * Another library that patches libc's entries before the shim looks at them, as Open MPI or a
 * tracer does: PATCH=jump or PATCH=trap, PATCH_FUNCTION names one function. Linked with -z
 * initfirst; x86-64 only.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
extern void *__curbrk;
extern char **environ;

static long answer(long ret)
{
	if (ret < 0 && ret > -4096) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}

static long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static long new_mmap(long a, long b, long c, long d, long e, long f)
{
	return answer(raw(SYS_mmap, a, b, c, d, e, f));
}

static long new_munmap(long a, long b)
{
	return answer(raw(SYS_munmap, a, b, 0, 0, 0, 0));
}

static long new_mremap(long a, long b, long c, long d, long e)
{
	return answer(raw(SYS_mremap, a, b, c, d, e, 0));
}

static long new_mprotect(long a, long b, long c)
{
	return answer(raw(SYS_mprotect, a, b, c, 0, 0, 0));
}

static long new_madvise(long a, long b, long c)
{
	return answer(raw(SYS_madvise, a, b, c, 0, 0, 0));
}

static int new_brk(long a)
{
	__curbrk = (void *)raw(SYS_brk, a, 0, 0, 0, 0, 0);
	if ((long)__curbrk < a) {
		errno = ENOMEM;
		return -1;
	}
	return 0;
}

static struct {
	const char *name;
	void *replacement;
	unsigned char *entry;
} patches[] = {
	{ "mmap", (void *)new_mmap, NULL },       { "munmap", (void *)new_munmap, NULL },
	{ "mremap", (void *)new_mremap, NULL },   { "mprotect", (void *)new_mprotect, NULL },
	{ "madvise", (void *)new_madvise, NULL }, { "brk", (void *)new_brk, NULL },
};

/* A breakpoint's owner sends the call where it wants it. */
static void trapped(int sig, siginfo_t *info, void *context)
{
	greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)sig;
	(void)info;
	for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++)
		if ((unsigned char *)*rip == patches[i].entry + 1)
			*rip = (greg_t)patches[i].replacement;
}

static void patch(size_t i, int jump)
{
	unsigned char *entry = patches[i].entry;
	int32_t distance = (int32_t)((char *)patches[i].replacement - (char *)(entry + 5));
	uintptr_t page = (uintptr_t)entry & ~(uintptr_t)4095;

	raw(SYS_mprotect, (long)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0, 0);
	entry[0] = jump ? 0xe9 : 0xcc;
	if (jump)
		memcpy(entry + 1, &distance, sizeof(distance));
	raw(SYS_mprotect, (long)page, 8192, PROT_READ | PROT_EXEC, 0, 0, 0);
}

static const char *value(char **envp, const char *name)
{
	size_t n = strlen(name);

	for (; *envp; envp++)
		if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
			return *envp + n + 1;
	return "";
}

/* libc's constructor has not run yet, so environ is not set: the arguments tell. */
static __attribute__((constructor)) void patch_start(int argc, char **argv, char **envp)
{
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER };
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	const char *only = value(envp, "PATCH_FUNCTION");
	int jump = strcmp(value(envp, "PATCH"), "jump") == 0;

	(void)argc;
	(void)argv;
	if (!libc)
		_exit(91);
	sigaction(SIGTRAP, &action, NULL);
	for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
		patches[i].entry = dlsym(libc, patches[i].name);
		if (!patches[i].entry)
			_exit(92);
		if (!*only || strcmp(only, patches[i].name) == 0)
			patch(i, jump);
	}
}
#endif
