/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"

int pl_file_open(const char *root, const char *path)
{
	char name[PL_PATH_MAX];
	pl_text_t text = PL_TEXT_INIT(name, -1);

	pl_text_format(&text, "%s%s", root, path);
	if (text.used >= sizeof(name))
		return -ENAMETOOLONG;
	return (int)pl_sys_openat(pl_text_end(&text), O_RDONLY | O_CLOEXEC, 0);
}

static long read_some(int fd, char *buffer, size_t length)
{
	long got;

	do
		got = pl_sys_read(fd, buffer, length);
	while (got == -EINTR);
	return got;
}

long pl_file_read(const char *root, const char *path, char *buffer, size_t size)
{
	int fd = pl_file_open(root, path);
	size_t used = 0;
	long got = 0;

	if (fd < 0)
		return fd;
	while (used < size - 1 && (got = read_some(fd, buffer + used, size - 1 - used)) > 0)
		used += (size_t)got;
	pl_sys_close(fd);
	if (got < 0)
		return got;
	buffer[used] = '\0';
	return (long)used;
}

void pl_lines_init(pl_lines_t *lines, int fd)
{
	lines->fd = fd;
	lines->start = 0;
	lines->end = 0;
}

/* Moves what is left to the front and reads more behind it. Returns whether there was more. */
static bool refill(pl_lines_t *lines)
{
	size_t left = lines->end - lines->start;
	long got;

	memmove(lines->data, lines->data + lines->start, left);
	lines->start = 0;
	lines->end = left;
	if (left >= sizeof(lines->data) - 1)
		return false;
	got = read_some(lines->fd, lines->data + left, sizeof(lines->data) - 1 - left);
	if (got <= 0)
		return false;
	lines->end += (size_t)got;
	return true;
}

char *pl_lines_next(pl_lines_t *lines)
{
	char *line;
	char *newline;

	for (;;) {
		line = lines->data + lines->start;
		newline = memchr(line, '\n', lines->end - lines->start);
		if (newline) {
			*newline = '\0';
			lines->start = (size_t)(newline - lines->data) + 1;
			return line;
		}
		if (refill(lines))
			continue;
		if (lines->start == lines->end)
			return NULL;
		line = lines->data + lines->start;
		lines->data[lines->end] = '\0';
		lines->start = lines->end;
		return line;
	}
}

static int digit_value(char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	if (byte >= 'A' && byte <= 'F')
		return byte - 'A' + 10;
	return 16;
}

const char *pl_parse_number(const char *text, unsigned int base, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (; (unsigned int)digit_value(*text) < base; text++)
		value = value * base + (unsigned int)digit_value(*text);
	*ret_value = value;
	return text;
}

bool pl_parse_field(const char *line, const char *name, uint64_t *ret_value)
{
	size_t length = strlen(name);

	if (strncmp(line, name, length) != 0)
		return false;
	line += length;
	while (*line == ' ' || *line == '\t')
		line++;
	pl_parse_number(line, 10, ret_value);
	return true;
}
