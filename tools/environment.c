/* SPDX-License-Identifier: MIT */
#include "tools/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/command.h"
#include "tools/message.h"

/* What separates the names in LD_PRELOAD for ld.so (elf/rtld.c). */
static const char preload_separators[] = " :";

static void reserve(pl_env_t *env, size_t count)
{
	char **entries = reallocarray(env->entries, count + 1, sizeof(*entries));

	if (!entries) {
		pl_error("out of memory; nothing was run");
		exit(PL_EXIT_SELF);
	}
	env->entries = entries;
}

pl_env_t pl_env_copy(char *const entries[])
{
	pl_env_t env = { 0 };
	size_t count = 0;

	while (entries && entries[count])
		count++;
	reserve(&env, count);
	for (; env.count < count; env.count++)
		env.entries[env.count] = pl_format("%s", entries[env.count]);
	env.entries[count] = NULL;
	return env;
}

void pl_env_free(pl_env_t *env)
{
	for (size_t i = 0; i < env->count; i++)
		free(env->entries[i]);
	free(env->entries);
	*env = (pl_env_t){ 0 };
}

static bool is_entry_of(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(entry, name, length) && entry[length] == '=';
}

const char *pl_env_get(const pl_env_t *env, const char *name)
{
	for (size_t i = 0; i < env->count; i++)
		if (is_entry_of(env->entries[i], name))
			return env->entries[i] + strlen(name) + 1;
	return NULL;
}

/* Drops the entries of that name at `from` and behind. */
static void drop(pl_env_t *env, const char *name, size_t from)
{
	size_t kept = from;

	for (size_t i = from; i < env->count; i++) {
		if (is_entry_of(env->entries[i], name))
			free(env->entries[i]);
		else
			env->entries[kept++] = env->entries[i];
	}
	env->count = kept;
	env->entries[kept] = NULL;
}

void pl_env_set(pl_env_t *env, const char *name, const char *value)
{
	char *entry = pl_format("%s=%s", name, value);

	for (size_t i = 0; i < env->count; i++) {
		if (!is_entry_of(env->entries[i], name))
			continue;
		free(env->entries[i]);
		env->entries[i] = entry;
		drop(env, name, i + 1);
		return;
	}
	reserve(env, env->count + 1);
	env->entries[env->count++] = entry;
	env->entries[env->count] = NULL;
}

void pl_env_unset(pl_env_t *env, const char *name)
{
	drop(env, name, 0);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat stat_a;
	struct stat stat_b;

	if (!strcmp(a, b))
		return true;
	return !stat(a, &stat_a) && !stat(b, &stat_b) && stat_a.st_dev == stat_b.st_dev &&
	       stat_a.st_ino == stat_b.st_ino;
}

static const char *file_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* `text` with the first `length` bytes of `more` and `end` behind it; frees `text`. */
static char *append(char *text, const char *more, size_t length, const char *end)
{
	char *longer = pl_format("%s%.*s%s", text, (int)length, more, end);

	free(text);
	return longer;
}

typedef enum { OTHER, SAME_SHIM, OTHER_SHIM } preload_name_t;

static preload_name_t classify(const char *name, size_t length, const char *shim)
{
	char *copy = pl_format("%.*s", (int)length, name);
	preload_name_t kind = OTHER;

	if (is_same_file(copy, shim))
		kind = SAME_SHIM;
	else if (!strcmp(file_name_of(copy), file_name_of(shim)))
		kind = OTHER_SHIM;
	free(copy);
	return kind;
}

/* Counts the names of one kind in a list. */
static size_t count_names(const char *list, preload_name_t kind, const char *shim)
{
	size_t count = 0;

	for (const char *at = list; *at;) {
		size_t length = strcspn(at, preload_separators);

		count += length && classify(at, length, shim) == kind;
		at += length + (at[length] != '\0');
	}
	return count;
}

/* The list without other shims, each name followed by a colon, in new memory. */
static char *drop_other_shims(const char *list, const char *shim)
{
	char *kept = pl_format("%s", "");

	for (const char *at = list; *at;) {
		size_t length = strcspn(at, preload_separators);

		if (length && classify(at, length, shim) != OTHER_SHIM)
			kept = append(kept, at, length, ":");
		at += length + (at[length] != '\0');
	}
	return kept;
}

char *pl_merge_preload(const char *old, const char *shim, pl_merge_t *ret_how)
{
	char *merged = pl_format("%s", old ? old : "");
	bool present = count_names(merged, SAME_SHIM, shim);
	size_t end;

	*ret_how = present ? PL_MERGE_PRESENT : *merged ? PL_MERGE_APPENDED : PL_MERGE_ALONE;
	if (count_names(merged, OTHER_SHIM, shim)) {
		char *kept = drop_other_shims(merged, shim);

		free(merged);
		merged = kept;
		*ret_how = PL_MERGE_REPLACED;
	}
	if (present)
		return merged;
	end = strlen(merged);
	if (end && !strchr(preload_separators, merged[end - 1]))
		merged = append(merged, ":", 1, "");
	return append(merged, shim, strlen(shim), "");
}

/* Whether the list sets the tunable whose name is the first `length` bytes of `name`. */
static bool sets_tunable(const char *list, const char *name, size_t length)
{
	for (;;) {
		if (!strncmp(list, name, length) && list[length] == '=')
			return true;
		list = strchr(list, ':');
		if (!list)
			return false;
		list++;
	}
}

char *pl_merge_tunables(const char *old, const char *added, pl_merge_t *ret_how)
{
	char *merged = pl_format("%s", old ? old : "");

	*ret_how = PL_MERGE_PRESENT;
	for (const char *pair = added; *pair;) {
		size_t length = strcspn(pair, ":");

		if (!sets_tunable(merged, pair, strcspn(pair, "="))) {
			size_t end = strlen(merged);

			if (end && merged[end - 1] != ':')
				merged = append(merged, ":", 1, "");
			merged = append(merged, pair, length, "");
			*ret_how = old && *old ? PL_MERGE_APPENDED : PL_MERGE_ALONE;
		}
		pair += length + (pair[length] != '\0');
	}
	return merged;
}
