/* SPDX-License-Identifier: MIT */
/* Formatting without allocation, locale or stdio: what log lines and reports are written with. */
#ifndef PL_BASE_TEXT_H
#define PL_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Collects text in `data`. With fd >= 0 a full buffer is written there; else text that does not
 * fit is dropped. The first failed write is kept in `error` and ends all further writing. */
typedef struct {
	char *data;
	size_t capacity;
	size_t used;
	int fd;
	int error; /* negative errno */
} pl_text_t;

#define PL_TEXT_INIT(buffer_, fd_)                                                                 \
	{                                                                                          \
		.data = (buffer_), .capacity = sizeof(buffer_), .used = 0, .fd = (fd_), .error = 0 \
	}

/*
 * A subset of printf(3): %s %c %d %u %x %ld %lu %lx %zu %%, each with an optional '-' and width
 * (decimal or *).
 */
void pl_text_format(pl_text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pl_text_vformat(pl_text_t *text, const char *format, va_list arguments);

/* Writes part/whole with three decimals, rounded down ("0.984"), or `none` when whole is 0. */
void pl_text_ratio(pl_text_t *text, uint64_t part, uint64_t whole, const char *none);

/* Writes a string as the inside of a JSON string: quotes, backslashes and controls escaped, bytes
 * that are not UTF-8 replaced by U+FFFD. */
void pl_text_json_string(pl_text_t *text, const char *string);

/* Ends the text with a NUL (cutting its last byte when full) and returns it. */
const char *pl_text_end(pl_text_t *text);

/* Writes what is buffered to text->fd. Returns 0 or the first negative errno. */
int pl_text_flush(pl_text_t *text);

#endif
