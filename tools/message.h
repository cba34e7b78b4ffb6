/* SPDX-License-Identifier: MIT */
/*
 * Messages of the tools on standard error, one line each, and text in allocated memory. Running out
 * of memory ends the tool with its own failure status: nothing has been run by then.
 */
#ifndef PL_TOOLS_MESSAGE_H
#define PL_TOOLS_MESSAGE_H

/* Both write "pagelift: ..."; the text ends with the consequence. errno is kept for %m. */
void pl_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void pl_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Formats into new memory that the caller frees. */
char *pl_format(const char *format, ...) __attribute__((format(printf, 1, 2), malloc));

/*
 * The word as a shell takes it, in new memory: bare if nothing in it is special, else in single
 * quotes, or as $'...' if it holds control characters (so the result is always one line).
 */
char *pl_quote(const char *word) __attribute__((malloc));

#endif
