/* SPDX-License-Identifier: MIT */
/* Turns the text of one variable into a value of its type. */
#ifndef PL_CONFIG_PARSE_H
#define PL_CONFIG_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* All return false, and leave *ret_value alone, when the text is none of what is accepted. */

/* accepted: words separated by '|'. The value is the word's index. */
bool pl_parse_choice(const char *text, const char *accepted, unsigned int *ret_value);

/* A comma list of accepted words replaces the mask; when every item has a + or - in front, it
 * changes the mask that is in *ret_value. */
bool pl_parse_set(const char *text, const char *accepted, unsigned int *ret_value);

/* Digits and an optional K, M or G (powers of 1024), within "least-most". */
bool pl_parse_size(const char *text, const char *accepted, uint64_t *ret_value);

/* The word at `index` of a '|' list: its start, its length in *ret_length; NULL past the end. */
const char *pl_parse_word(const char *accepted, unsigned int index, size_t *ret_length);

/* Writes a mask as a comma list of its words. */
void pl_parse_show_set(pl_text_t *text, const char *accepted, unsigned int mask);

#endif
