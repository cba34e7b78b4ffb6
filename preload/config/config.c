/* SPDX-License-Identifier: MIT */
#include "config/config.h"

#include <string.h>

#include "base/text.h"
#include "base/types.h"
#include "config/glob.h"
#include "config/parse.h"

typedef enum { TYPE_choice, TYPE_set, TYPE_size, TYPE_text } option_type_t;

typedef struct {
	const char *name;
	option_type_t type;
	const char *initial;
	const char *accepted;
	size_t offset;
} option_t;

static const option_t options[] = {
#define OPTION(field, name, type, initial, accepted, help) \
	{ name, TYPE_##type, initial, accepted, offsetof(pl_config_t, field) },
#include "config/options.def"
#undef OPTION
};

/* Variables of libhugetlbfs that mean the same here. With `only`, just that value does; the others
 * ask for what this version does not do, and are left alone as libhugetlbfs itself would be. */
static const struct {
	const char *variable;
	const char *only;
	const char *name;
} aliases[] = {
	{ "HUGETLB_MORECORE", "thp", "BACKEND" },
	{ "HUGETLB_RESTRICT_EXE", NULL, "EXE" },
	{ "HUGETLB_DEFAULT_PAGE_SIZE", "2M", "PAGE_SIZE" },
	{ "HUGETLB_DEFAULT_PAGE_SIZE", "1G", "PAGE_SIZE" },
};

enum { MESSAGE_MAX = 1024, VALUE_SHOWN = 80 };

static const char prefix[] = "PAGELIFT_";
static const char children_no[] = "PAGELIFT_CHILDREN=no";

static bool set_text(char *field, const char *value)
{
	size_t length = strlen(value);

	if (length >= PL_OPTION_TEXT_MAX)
		return false;
	memcpy(field, value, length + 1);
	return true;
}

static bool set_value(pl_config_t *config, const option_t *option, const char *value)
{
	void *field = (char *)config + option->offset;

	switch (option->type) {
	case TYPE_choice:
		return pl_parse_choice(value, option->accepted, field);
	case TYPE_set:
		return pl_parse_set(value, option->accepted, field);
	case TYPE_size:
		return pl_parse_size(value, option->accepted, field);
	case TYPE_text:
		return set_text(field, value);
	}
	return false;
}

static void set_defaults(pl_config_t *config)
{
	memset(config, 0, sizeof(*config));
	for (size_t i = 0; i < PL_ARRAY_LEN(options); i++)
		set_value(config, &options[i], options[i].initial);
}

static const option_t *find_option(const char *name, size_t length)
{
	for (size_t i = 0; i < PL_ARRAY_LEN(options); i++)
		if (strlen(options[i].name) == length && !memcmp(options[i].name, name, length))
			return &options[i];
	return NULL;
}

static void show_value(pl_text_t *text, const pl_config_t *config, const option_t *option)
{
	const void *field = (const char *)config + option->offset;
	const char *word;
	size_t length;

	switch (option->type) {
	case TYPE_choice:
		word = pl_parse_word(option->accepted, *(const unsigned int *)field, &length);
		for (size_t i = 0; word && i < length; i++)
			pl_text_format(text, "%c", word[i]);
		break;
	case TYPE_set:
		pl_parse_show_set(text, option->accepted, *(const unsigned int *)field);
		break;
	case TYPE_size:
		pl_text_format(text, "%lu", *(const uint64_t *)field);
		break;
	case TYPE_text:
		pl_text_format(text, "%s", (const char *)field);
		break;
	}
}

/* A value can be of any length; the end of a message is what matters. */
static void put_cut(pl_text_t *text, const char *string)
{
	size_t length = strlen(string);

	for (size_t i = 0; i < length && i < VALUE_SHOWN; i++)
		pl_text_format(text, "%c", string[i]);
	if (length > VALUE_SHOWN)
		pl_text_format(text, "...");
}

static void complain_value(void (*complain)(const char *), const pl_config_t *config,
			   const option_t *option, const char *value)
{
	char message[MESSAGE_MAX];
	pl_text_t text = PL_TEXT_INIT(message, -1);

	pl_text_format(&text, "PAGELIFT_%s=", option->name);
	put_cut(&text, value);
	pl_text_format(&text, " is not one of %s; using ", option->accepted);
	if (option->type == TYPE_text)
		pl_text_format(&text, "none");
	else
		show_value(&text, config, option);
	complain(pl_text_end(&text));
}

static void complain_name(void (*complain)(const char *), const char *entry)
{
	char message[MESSAGE_MAX];
	pl_text_t text = PL_TEXT_INIT(message, -1);

	put_cut(&text, entry);
	pl_text_format(&text, ": no such variable (known:");
	for (size_t i = 0; i < PL_ARRAY_LEN(options); i++)
		pl_text_format(&text, " PAGELIFT_%s", options[i].name);
	pl_text_format(&text, "); ignored");
	complain(pl_text_end(&text));
}

/* Takes NAME=VALUE of the given name length. Returns the number of complaints, 0 or 1. */
static int take(pl_config_t *config, const char *entry, size_t name_length,
		void (*complain)(const char *))
{
	const option_t *option = find_option(entry + strlen(prefix), name_length - strlen(prefix));
	const char *value = entry + name_length + 1;

	if (!option) {
		complain_name(complain, entry);
		return 1;
	}
	if (set_value(config, option, value))
		return 0;
	complain_value(complain, config, option, value);
	return 1;
}

static int take_alias(pl_config_t *config, const char *entry, void (*complain)(const char *))
{
	int complaints = 0;

	for (size_t i = 0; i < PL_ARRAY_LEN(aliases); i++) {
		size_t length = strlen(aliases[i].variable);
		const option_t *option = find_option(aliases[i].name, strlen(aliases[i].name));

		if (strncmp(entry, aliases[i].variable, length) != 0 || entry[length] != '=')
			continue;
		if (aliases[i].only && strcmp(entry + length + 1, aliases[i].only) != 0)
			continue;
		if (!set_value(config, option, entry + length + 1)) {
			complain_value(complain, config, option, entry + length + 1);
			complaints++;
		}
	}
	return complaints;
}

int pl_config_parse(char *const envp[], void (*complain)(const char *message),
		    pl_config_t *ret_config)
{
	int complaints = 0;

	set_defaults(ret_config);
	if (!envp)
		return 0;
	/* Two passes: our own variables win over aliases wherever they stand. */
	for (char *const *entry = envp; *entry; entry++)
		if (**entry == 'H')
			complaints += take_alias(ret_config, *entry, complain);
	for (char *const *entry = envp; *entry; entry++) {
		const char *equals;

		if (strncmp(*entry, prefix, strlen(prefix)) != 0)
			continue;
		equals = strchr(*entry, '=');
		if (equals)
			complaints += take(ret_config, *entry, (size_t)(equals - *entry), complain);
	}
	return complaints;
}

const char *pl_config_backend_name(const pl_config_t *config)
{
	static const char *const names[] = { "auto", "thp", "base", "hugetlb" };

	return config->backend < PL_ARRAY_LEN(names) ? names[config->backend] : "?";
}

bool pl_config_wants_exe(const pl_config_t *config, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file_name = slash ? slash + 1 : path;

	if (!*config->exe)
		return true;
	for (const char *pattern = config->exe;;) {
		size_t length = strcspn(pattern, ":");
		bool whole = memchr(pattern, '/', length) != NULL;

		if (pl_glob_match(pattern, length, whole ? path : file_name))
			return true;
		if (!pattern[length])
			return false;
		pattern += length + 1;
	}
}

void pl_config_echo(const pl_config_t *config, void (*show)(const char *name, const char *value))
{
	for (size_t i = 0; i < PL_ARRAY_LEN(options); i++) {
		char value[PL_OPTION_TEXT_MAX];
		pl_text_t text = PL_TEXT_INIT(value, -1);

		show_value(&text, config, &options[i]);
		show(options[i].name, pl_text_end(&text));
	}
}

bool pl_config_mark_children(char *envp[])
{
	for (char **entry = envp; envp && *entry; entry++) {
		if (strcmp(*entry, children_no) != 0)
			continue;
		memcpy(*entry + strlen(children_no) - 2, "--", 2);
		return true;
	}
	return false;
}
