/* SPDX-License-Identifier: MIT */
#include "config/parse.h"

#include <string.h>

#include "base/file.h"
#include "base/types.h"

const char *pl_parse_word(const char *accepted, unsigned int index, size_t *ret_length)
{
	for (; index; index--) {
		accepted = strchr(accepted, '|');
		if (!accepted)
			return NULL;
		accepted++;
	}
	*ret_length = strcspn(accepted, "|");
	return accepted;
}

static bool find_word(const char *text, size_t text_length, const char *accepted,
		      unsigned int *ret_index)
{
	const char *word;
	size_t length;

	for (unsigned int i = 0; (word = pl_parse_word(accepted, i, &length)); i++) {
		if (length == text_length && memcmp(word, text, length) == 0) {
			*ret_index = i;
			return true;
		}
	}
	return false;
}

bool pl_parse_choice(const char *text, const char *accepted, unsigned int *ret_value)
{
	return find_word(text, strlen(text), accepted, ret_value);
}

bool pl_parse_set(const char *text, const char *accepted, unsigned int *ret_value)
{
	bool changes = *text == '+' || *text == '-';
	unsigned int mask = changes ? *ret_value : 0;

	for (;;) {
		char sign = changes ? *text : '+';
		unsigned int index;
		size_t length;

		if (changes && sign != '+' && sign != '-')
			return false;
		if (changes)
			text++;
		length = strcspn(text, ",");
		if (!find_word(text, length, accepted, &index))
			return false;
		mask = sign == '+' ? mask | 1U << index : mask & ~(1U << index);
		text += length;
		if (!*text)
			break;
		text++;
	}
	*ret_value = mask;
	return true;
}

static const char *read_size(const char *text, uint64_t *ret_value)
{
	unsigned int shift = 0;
	uint64_t value;

	if (*text < '0' || *text > '9')
		return NULL;
	text = pl_parse_number(text, 10, &value);
	if (*text == 'K' || *text == 'k')
		shift = 10;
	else if (*text == 'M' || *text == 'm')
		shift = 20;
	else if (*text == 'G' || *text == 'g')
		shift = 30;
	if (value > UINT64_MAX >> shift)
		return NULL;
	*ret_value = value << shift;
	return shift ? text + 1 : text;
}

bool pl_parse_size(const char *text, const char *accepted, uint64_t *ret_value)
{
	uint64_t least;
	uint64_t most;
	uint64_t value;

	accepted = read_size(accepted, &least);
	read_size(accepted + 1, &most);
	if (strlen(text) > 18)
		return false;
	text = read_size(text, &value);
	if (!text || *text || value < least || value > most)
		return false;
	*ret_value = value;
	return true;
}

void pl_parse_show_set(pl_text_t *text, const char *accepted, unsigned int mask)
{
	const char *separator = "";
	const char *word;
	size_t length;

	for (unsigned int i = 0; (word = pl_parse_word(accepted, i, &length)); i++) {
		if (!(mask & 1U << i))
			continue;
		pl_text_format(text, "%s", separator);
		for (size_t at = 0; at < length; at++)
			pl_text_format(text, "%c", word[at]);
		separator = ",";
	}
}
