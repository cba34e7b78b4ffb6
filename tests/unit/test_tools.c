/* SPDX-License-Identifier: MIT */
/* tools/: quoting, the environment and its merges, and the way from a command to its program. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "tools/environment.h"
#include "tools/message.h"
#include "tools/target.h"

/* Takes over `got`. */
static void is_text(char *got, const char *want)
{
	ck_assert_str_eq(got, want);
	free(got);
}

START_TEST(quote_words)
{
	is_text(pl_quote("a-b_c/d.e=f:g,h"), "a-b_c/d.e=f:g,h");
	is_text(pl_quote(""), "''");
	is_text(pl_quote("a b"), "'a b'");
	is_text(pl_quote("it's"), "'it'\\''s'");
	is_text(pl_quote("$x`y`\"z\""), "'$x`y`\"z\"'");
	is_text(pl_quote("~"), "'~'");
	is_text(pl_quote("#x"), "'#x'");
	is_text(pl_quote("a\nb'\\\033"), "$'a\\012b\\'\\\\\\033'");
}
END_TEST

START_TEST(env_changes)
{
	char *const given[] = { (char[]){ "A=1" }, (char[]){ "B=2" },  (char[]){ "noequals" },
				(char[]){ "A=3" }, (char[]){ "AA=4" }, NULL };
	pl_env_t env = pl_env_copy(given);

	ck_assert_uint_eq(env.count, 5);
	ck_assert_str_eq(pl_env_get(&env, "A"), "1");
	ck_assert_ptr_null(pl_env_get(&env, "noequals"));
	ck_assert_ptr_null(pl_env_get(&env, "C"));

	pl_env_set(&env, "A", "x=y");
	pl_env_set(&env, "C", "");
	ck_assert_uint_eq(env.count, 5);
	ck_assert_str_eq(env.entries[0], "A=x=y");
	ck_assert_str_eq(env.entries[1], "B=2");
	ck_assert_str_eq(env.entries[2], "noequals");
	ck_assert_str_eq(env.entries[3], "AA=4");
	ck_assert_str_eq(env.entries[4], "C=");
	ck_assert_ptr_null(env.entries[5]);

	pl_env_unset(&env, "A");
	ck_assert_uint_eq(env.count, 4);
	ck_assert_str_eq(env.entries[0], "B=2");
	pl_env_free(&env);

	env = pl_env_copy(NULL);
	ck_assert_ptr_null(env.entries[0]);
	pl_env_free(&env);
}
END_TEST

/* Files that exist, since the shim is recognised by its inode. */
static char folder[] = "/tmp/pagelift-unit.XXXXXX";

static const char *in_folder(const char *name)
{
	static char paths[8][128];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	const char *path = in_folder(name);
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
	ck_assert_int_eq(chmod(path, mode), 0);
}

static void set_up(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	mkdir(in_folder("other"), 0700);
	mkdir(in_folder("dir"), 0700);
	write_file("libpagelift.so", "", 0644);
	write_file("other/libpagelift.so", "", 0644);
	ck_assert_int_eq(symlink("libpagelift.so", in_folder("link.so")), 0);
}

static void tear_down(void)
{
	char *command = pl_format("rm -rf %s", folder);

	ck_assert_int_eq(system(command), 0);
	free(command);
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
}

static void preload_is(const char *old, const char *want, pl_merge_t want_how)
{
	const char *shim = in_folder("libpagelift.so");
	char *wanted = pl_format(want, shim);
	pl_merge_t how;

	is_text(pl_merge_preload(old, shim, &how), wanted);
	ck_assert_int_eq(how, want_how);
	free(wanted);
}

START_TEST(merge_preload)
{
	char *old;

	preload_is(NULL, "%s", PL_MERGE_ALONE);
	preload_is("", "%s", PL_MERGE_ALONE);
	preload_is("libasan.so.8", "libasan.so.8:%s", PL_MERGE_APPENDED);
	/* What was there stays as it was, separators included. */
	preload_is("a.so  b.so ", "a.so  b.so %s", PL_MERGE_APPENDED);
	preload_is("a.so:", "a.so:%s", PL_MERGE_APPENDED);

	preload_is(in_folder("libpagelift.so"), "%s", PL_MERGE_PRESENT);
	old = pl_format("libasan.so.8 %s b.so", in_folder("libpagelift.so"));
	preload_is(old, "libasan.so.8 %s b.so", PL_MERGE_PRESENT);
	free(old);
	old = pl_format("a.so:%s", in_folder("link.so"));
	preload_is(old, old, PL_MERGE_PRESENT);
	free(old);

	old = pl_format("%s:a.so", in_folder("other/libpagelift.so"));
	preload_is(old, "a.so:%s", PL_MERGE_REPLACED);
	free(old);
	preload_is("libpagelift.so", "%s", PL_MERGE_REPLACED);
	old = pl_format("%s:%s", in_folder("libpagelift.so"), in_folder("other/libpagelift.so"));
	preload_is(old, "%s:", PL_MERGE_REPLACED);
	free(old);
}
END_TEST

START_TEST(merge_tunables)
{
	static const char added[] = "g.hugetlb=1:g.top_pad=9";
	static const struct {
		const char *old;
		const char *want;
		pl_merge_t how;
	} cases[] = {
		{ NULL, "g.hugetlb=1:g.top_pad=9", PL_MERGE_ALONE },
		{ "", "g.hugetlb=1:g.top_pad=9", PL_MERGE_ALONE },
		{ "x=1", "x=1:g.hugetlb=1:g.top_pad=9", PL_MERGE_APPENDED },
		{ "x=1:", "x=1:g.hugetlb=1:g.top_pad=9", PL_MERGE_APPENDED },
		{ "g.hugetlb=0", "g.hugetlb=0:g.top_pad=9", PL_MERGE_APPENDED },
		{ "g.top_pad=1:x=2", "g.top_pad=1:x=2:g.hugetlb=1", PL_MERGE_APPENDED },
		{ "g.top_pad=1:g.hugetlb=2", "g.top_pad=1:g.hugetlb=2", PL_MERGE_PRESENT },
		/* Only whole names count. */
		{ "g.hugetlbx=1:ag.top_pad=2", "g.hugetlbx=1:ag.top_pad=2:g.hugetlb=1:g.top_pad=9",
		  PL_MERGE_APPENDED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pl_merge_t how;

		is_text(pl_merge_tunables(cases[i].old, added, &how), cases[i].want);
		ck_assert_int_eq(how, cases[i].how);
	}
}
END_TEST

/* What the command leads to, as a file name in our folder; "!N" for errno N. */
static void leads_to(const char *command, const char *search_path, const char *want)
{
	pl_target_t target = pl_target_find(command, search_path);
	char *error = pl_format("!%d", target.error);
	size_t length = strlen(folder) + 1;
	const char *got = target.error ? error : target.program;

	if (!target.error && !strncmp(got, folder, length - 1))
		got += length;
	ck_assert_str_eq(got, want);
	free(error);
	pl_target_free(&target);
}

static void write_script(const char *name, const char *interpreter, const char *rest)
{
	char *text = pl_format("#!%s%s\nexit 0\n", interpreter, rest);

	write_file(name, text, 0755);
	free(text);
}

START_TEST(target_search)
{
	char *enoent = pl_format("!%d", ENOENT);
	char *eacces = pl_format("!%d", EACCES);
	char *path = pl_format("%s:%s", in_folder("nowhere"), folder);

	write_file("prog", "\177ELF", 0755);
	write_file("plain", "", 0644);
	leads_to(in_folder("prog"), NULL, "/bin/sh");
	leads_to(in_folder("none"), NULL, enoent);
	leads_to(in_folder("plain"), NULL, eacces);
	leads_to(in_folder("dir"), NULL, eacces);
	leads_to("", path, enoent);
	leads_to("none", path, enoent);
	leads_to("plain", path, eacces);
	leads_to("dir", path, eacces);
	leads_to("sh", NULL, "/bin/sh");
	free(enoent);
	free(eacces);
	free(path);
}
END_TEST

START_TEST(target_scripts)
{
	write_script("one", " \t/bin/sh", " -e");
	leads_to(in_folder("one"), NULL, "/bin/sh");
	write_script("two", in_folder("one"), "");
	leads_to(in_folder("two"), NULL, "/bin/sh");
	write_script("loop", in_folder("loop"), "");
	leads_to(in_folder("loop"), NULL, "loop");
	write_script("gone", "/nowhere/at/all", "");
	leads_to(in_folder("gone"), NULL, "/nowhere/at/all");
	write_file("nothing", "echo\n", 0755);
	leads_to(in_folder("nothing"), NULL, "/bin/sh");

	write_script("by-env", "/usr/bin/env", " sh");
	leads_to(in_folder("by-env"), "/bin", "/bin/sh");
	write_script("by-env-S", "/usr/bin/env", " -S A=1 sh -e");
	leads_to(in_folder("by-env-S"), "/bin", "/bin/sh");
	/* Not plain from the line: env itself is what is known. */
	write_script("env-option", "/usr/bin/env", " -i");
	leads_to(in_folder("env-option"), "/bin", "/usr/bin/env");
	write_script("env-words", "/usr/bin/env", " sh -e");
	leads_to(in_folder("env-words"), "/bin", "/usr/bin/env");
}
END_TEST

static pl_reach_t reach_of(pl_elf_t elf, const char *preloaded)
{
	pl_elf_t shim = { .bits = ELFCLASS64, .byte_order = ELFDATA2LSB, .machine = EM_X86_64 };
	pl_target_t target = { .program = pl_format("/nowhere"), .has_elf = true, .elf = elf };
	pl_reach_t reach = pl_target_reach(&target, &shim, preloaded);

	/* The file is judged by its headers alone here: it is not there to have other ids. */
	pl_target_free(&target);
	return reach;
}

START_TEST(target_reach)
{
	pl_elf_t usual = { .bits = ELFCLASS64,
			   .byte_order = ELFDATA2LSB,
			   .machine = EM_X86_64,
			   .complete = true,
			   .needs_libraries = true,
			   .interpreter = "/lib64/ld-linux-x86-64.so.2" };
	pl_elf_t other = usual;

	ck_assert_int_eq(reach_of(usual, NULL), PL_REACH_FULL);
	other.machine = EM_AARCH64;
	ck_assert_int_eq(reach_of(other, NULL), PL_REACH_MACHINE);
	other = usual;
	other.bits = ELFCLASS32;
	ck_assert_int_eq(reach_of(other, NULL), PL_REACH_MACHINE);
	other = usual;
	strcpy(other.interpreter, "/lib/ld-musl-x86_64.so.1");
	ck_assert_int_eq(reach_of(other, NULL), PL_REACH_LOADER);
	ck_assert(!pl_reach_allows_preload(PL_REACH_LOADER));
	other = usual;
	other.is_go = true;
	ck_assert_int_eq(reach_of(other, NULL), PL_REACH_PART_GO);
	other.needs_libraries = false;
	*other.interpreter = '\0';
	ck_assert_int_eq(reach_of(other, NULL), PL_REACH_STATIC);
	other.is_go = false;
	ck_assert_int_eq(reach_of(other, NULL), PL_REACH_STATIC);
	other.is_gnu = true;
	ck_assert_int_eq(reach_of(other, NULL), PL_REACH_STATIC_GNU);

	other = usual;
	strcpy(other.sanitizer, "libasan.so.8");
	ck_assert_int_eq(reach_of(other, NULL), PL_REACH_SANITIZER);
	ck_assert_int_eq(reach_of(other, "x.so:libasan.so.8"), PL_REACH_SANITIZER);
	ck_assert_int_eq(reach_of(other, "/usr/lib/libasan.so.8 x.so"), PL_REACH_FULL);
}
END_TEST

Suite *pl_suite(void)
{
	Suite *suite = suite_create("tools");
	TCase *tcase = tcase_create("tools");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, quote_words);
	tcase_add_test(tcase, env_changes);
	tcase_add_test(tcase, merge_preload);
	tcase_add_test(tcase, merge_tunables);
	tcase_add_test(tcase, target_search);
	tcase_add_test(tcase, target_scripts);
	tcase_add_test(tcase, target_reach);
	suite_add_tcase(suite, tcase);
	return suite;
}
