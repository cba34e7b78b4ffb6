/* SPDX-License-Identifier: MIT */
/* Reads small files and long line-oriented ones (/proc, /sys) without allocation. */
#ifndef PL_BASE_FILE_H
#define PL_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_PATH_MAX = 512 };

/* Opens root followed by path for reading, close-on-exec. Returns a descriptor or -errno. */
int pl_file_open(const char *root, const char *path);

/* Reads at most size - 1 bytes of a file into `buffer` and ends them with a NUL.
 * Returns their number or -errno. */
long pl_file_read(const char *root, const char *path, char *buffer, size_t size);

/* A file read line by line. Lines longer than the buffer come in pieces. */
typedef struct {
	int fd;
	size_t start;
	size_t end;
	char data[4096];
} pl_lines_t;

void pl_lines_init(pl_lines_t *lines, int fd);

/* Returns the next line without its newline, valid until the next call, or NULL at the end of the
 * file or on a read error. */
char *pl_lines_next(pl_lines_t *lines);

/* Parses digits in a base up to 16. Returns where they end; *ret_value is 0 without any. */
const char *pl_parse_number(const char *text, unsigned int base, uint64_t *ret_value);

/* If `line` starts with `name`, stores the number behind it (blanks skipped). Returns whether. */
bool pl_parse_field(const char *line, const char *name, uint64_t *ret_value);

#endif
