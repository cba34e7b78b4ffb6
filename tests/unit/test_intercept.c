/* SPDX-License-Identifier: MIT */
/* intercept: which code may take the jump, and where libc's own functions lie. Nothing is
 * patched. */
#include "harness.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/types.h"
#include "intercept/elf_symbols.h"
#include "intercept/redirect.h"

static const char *const functions[] = { "mmap", "munmap", "mremap", "mprotect", "madvise", "brk" };

#if defined(__x86_64__)
#define ENDBR   0xf3, 0x0f, 0x1e, 0xfa
#define SYSCALL 0x0f, 0x05
#define NOP4    0x90, 0x90, 0x90, 0x90

static const struct {
	const char *what;
	size_t size;
	pl_condition_t expected;
	unsigned char code[32];
} codes[] = {
	{ "mov eax, 11; syscall; nops",
	  17,
	  PL_CONDITION_OK,
	  { 0xb8, 11, 0, 0, 0, SYSCALL, NOP4, NOP4, 0x90, 0xc3 } },
	{ "the shortest without endbr64",
	  14,
	  PL_CONDITION_OK,
	  { 0xb8, 11, 0, 0, 0, SYSCALL, NOP4, 0x90, 0x90, 0xc3 } },
	{ "one byte less",
	  13,
	  PL_CONDITION_TOO_SHORT,
	  { 0xb8, 11, 0, 0, 0, SYSCALL, NOP4, 0x90, 0xc3 } },
	{ "the shortest with endbr64",
	  18,
	  PL_CONDITION_OK,
	  { ENDBR, 0xb8, 11, 0, 0, 0, SYSCALL, NOP4, 0x90, 0x90, 0xc3 } },
	{ "endbr64, one byte less",
	  17,
	  PL_CONDITION_TOO_SHORT,
	  { ENDBR, 0xb8, 11, 0, 0, 0, SYSCALL, NOP4, 0x90, 0xc3 } },
	{ "nothing", 0, PL_CONDITION_TOO_SHORT, { 0 } },
	{ "one byte", 1, PL_CONDITION_TOO_SHORT, { 0xc3 } },
	{ "no system call", 18, PL_CONDITION_NO_SYSCALL, { 0xb8, 11, 0, 0, 0, NOP4, NOP4, NOP4 } },
	{ "system call behind the end",
	  16,
	  PL_CONDITION_NO_SYSCALL,
	  { 0xb8, 11, 0, 0, 0, NOP4, NOP4, 0x90, 0x90, 0x90, SYSCALL } },
	{ "half of it behind the end",
	  17,
	  PL_CONDITION_NO_SYSCALL,
	  { 0xb8, 11, 0, 0, 0, NOP4, NOP4, 0x90, 0x90, 0x90, SYSCALL } },
	{ "system call at the very end",
	  18,
	  PL_CONDITION_OK,
	  { 0xb8, 11, 0, 0, 0, NOP4, NOP4, 0x90, 0x90, 0x90, SYSCALL } },
	{ "jmp rel32", 20, PL_CONDITION_ALREADY_PATCHED, { 0xe9, 1, 2, 3, 4, SYSCALL } },
	{ "jmp rel8", 20, PL_CONDITION_ALREADY_PATCHED, { 0xeb, 1, SYSCALL } },
	{ "jmp *m", 20, PL_CONDITION_ALREADY_PATCHED, { 0xff, 0x25, 0, 0, 0, 0, SYSCALL } },
	{ "jmp *rax", 20, PL_CONDITION_ALREADY_PATCHED, { 0xff, 0xe0, SYSCALL } },
	{ "int3", 20, PL_CONDITION_ALREADY_PATCHED, { 0xcc, SYSCALL } },
	{ "mov r11, imm64", 20, PL_CONDITION_ALREADY_PATCHED, { 0x49, 0xbb, SYSCALL } },
	{ "mov rax, imm64", 20, PL_CONDITION_ALREADY_PATCHED, { 0x48, 0xb8, SYSCALL } },
	{ "endbr64; jmp rel32",
	  20,
	  PL_CONDITION_ALREADY_PATCHED,
	  { ENDBR, 0xe9, 1, 2, 3, 4, SYSCALL } },
	{ "endbr64; int3", 20, PL_CONDITION_ALREADY_PATCHED, { ENDBR, 0xcc, SYSCALL } },
	{ "int3 on endbr64's first byte",
	  20,
	  PL_CONDITION_ALREADY_PATCHED,
	  { 0xcc, 0x0f, 0x1e, 0xfa, SYSCALL } },
	{ "inc [rax], no jump", 20, PL_CONDITION_OK, { 0xff, 0x00, SYSCALL } },
};
#elif defined(__aarch64__)
#define BTI 0x5f, 0x24, 0x03, 0xd5
#define SVC 0x01, 0x00, 0x00, 0xd4
#define NOP 0x1f, 0x20, 0x03, 0xd5

static const struct {
	const char *what;
	size_t size;
	pl_condition_t expected;
	unsigned char code[32];
} codes[] = {
	{ "the shortest", 16, PL_CONDITION_OK, { NOP, SVC, NOP, NOP } },
	{ "too short", 12, PL_CONDITION_TOO_SHORT, { NOP, SVC, NOP } },
	{ "with bti c", 20, PL_CONDITION_OK, { BTI, NOP, SVC, NOP, NOP } },
	{ "bti c, too short", 16, PL_CONDITION_TOO_SHORT, { BTI, NOP, SVC, NOP } },
	{ "no system call", 20, PL_CONDITION_NO_SYSCALL, { NOP, NOP, NOP, NOP, NOP } },
	{ "b", 20, PL_CONDITION_ALREADY_PATCHED, { 0x01, 0x00, 0x00, 0x14, SVC } },
	{ "bti c; b", 20, PL_CONDITION_ALREADY_PATCHED, { BTI, 0x01, 0x00, 0x00, 0x14, SVC } },
	{ "brk", 20, PL_CONDITION_ALREADY_PATCHED, { 0x00, 0x00, 0x20, 0xd4, SVC } },
	{ "ldr x16", 20, PL_CONDITION_ALREADY_PATCHED, { 0x50, 0x00, 0x00, 0x58, SVC } },
	{ "br x16", 20, PL_CONDITION_ALREADY_PATCHED, { 0x00, 0x02, 0x1f, 0xd6, SVC } },
};
#endif

START_TEST(code_by_row)
{
	pl_condition_t got = pl_redirect_inspect(codes[_i].code, codes[_i].size);

	ck_assert_msg(got == codes[_i].expected, "%s: %s", codes[_i].what, pl_condition_name(got));
}
END_TEST

START_TEST(condition_names)
{
	static const char *const names[] = {
#define CONDITION(id, name, meaning) name,
#include "intercept/conditions.def"
#undef CONDITION
	};

	ck_assert_str_eq(pl_condition_name(PL_CONDITION_OK), "ok");
	for (size_t i = 0; i < PL_ARRAY_LEN(names); i++) {
		ck_assert_str_eq(pl_condition_name((pl_condition_t)i), names[i]);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(names[i], names[j]);
	}
}
END_TEST

/* As the loader knows it, in libc and nowhere else: a sanitizer has functions of the same names. */
START_TEST(functions_of_libc)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	pl_elf_object_t object;
	uintptr_t addr = 0;
	size_t size = 0;

	ck_assert_ptr_nonnull(libc);
	ck_assert(pl_elf_find_libc(&object));
	ck_assert(pl_elf_find_symbol(&object, functions[_i], STT_FUNC, &addr, &size));
	ck_assert_uint_eq(addr, (uintptr_t)dlsym(libc, functions[_i]));
	ck_assert_uint_gt(size, 0);
	ck_assert_int_eq(pl_redirect_inspect((const unsigned char *)addr, size), PL_CONDITION_OK);
	dlclose(libc);
}
END_TEST

/* Every function that libc exports under one version is found where dlsym finds it. */
START_TEST(many_functions_of_libc)
{
	static const char *const names[] = { "malloc", "free",  "open",   "printf", "qsort",
					     "sbrk",   "fork",  "getpid", "strtol", "madvise",
					     "shmget", "msync", "execve", "dup2",   "socket" };
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	pl_elf_object_t object;
	uintptr_t addr;
	size_t size;

	ck_assert(pl_elf_find_libc(&object));
	for (size_t i = 0; i < PL_ARRAY_LEN(names); i++) {
		ck_assert_msg(pl_elf_find_symbol(&object, names[i], STT_FUNC, &addr, &size), "%s",
			      names[i]);
		ck_assert_msg(addr == (uintptr_t)dlsym(libc, names[i]), "%s", names[i]);
	}
	dlclose(libc);
}
END_TEST

START_TEST(what_libc_does_not_define)
{
	static const char *const names[] = { "",     "no_such_function", "pl_map", "mmap2",
					     "MMAP", "environ" /* data */ };
	pl_elf_object_t object;
	uintptr_t addr = 7;
	size_t size = 7;

	ck_assert(pl_elf_find_libc(&object));
	for (size_t i = 0; i < PL_ARRAY_LEN(names); i++)
		ck_assert_msg(!pl_elf_find_symbol(&object, names[i], STT_FUNC, &addr, &size), "%s",
			      names[i]);
	ck_assert_uint_eq(addr, 7);
	ck_assert_uint_eq(size, 7);
}
END_TEST

START_TEST(nothing_is_redirected_by_itself)
{
	for (size_t i = 0; i < PL_ARRAY_LEN(functions); i++)
		ck_assert_uint_eq(pl_redirect_entry(functions[i]), 0);
}
END_TEST

static void unused_target(void)
{
}

/* All or none: the function that libc has not keeps the first from being changed. */
START_TEST(all_or_none)
{
	static const pl_redirection_t redirections[] = { { "munmap", unused_target },
							 { "no_such_function", unused_target } };
	unsigned char before[32];
	pl_elf_object_t object;
	uintptr_t addr = 0;
	size_t size;

	ck_assert(pl_elf_find_libc(&object));
	ck_assert(pl_elf_find_symbol(&object, "munmap", STT_FUNC, &addr, &size));
	memcpy(before, (const void *)addr, sizeof(before));
	ck_assert_int_eq(pl_redirect_all(redirections, 2), PL_CONDITION_SYMBOL_MISSING);
	ck_assert_mem_eq((const void *)addr, before, sizeof(before));
	ck_assert_uint_eq(pl_redirect_entry("munmap"), 0);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("intercept");
	TCase *cases = tcase_create("intercept");

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, code_by_row, 0, PL_ARRAY_LEN(codes));
	tcase_add_test(cases, condition_names);
	tcase_add_loop_test(cases, functions_of_libc, 0, PL_ARRAY_LEN(functions));
	tcase_add_test(cases, many_functions_of_libc);
	tcase_add_test(cases, what_libc_does_not_define);
	tcase_add_test(cases, nothing_is_redirected_by_itself);
	tcase_add_test(cases, all_or_none);
	suite_add_tcase(suite, cases);
	return suite;
}
