/* SPDX-License-Identifier: MIT */
#include "tools/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command.h"

static void say(const char *severity, const char *format, va_list args)
{
	int error = errno;
	char *text;

	if (vasprintf(&text, format, args) < 0)
		return;
	/* One call on the unbuffered stream, so that lines of other programs do not mix in. */
	fprintf(stderr, "pagelift: %s%s\n", severity, text);
	free(text);
	errno = error;
}

void pl_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("", format, args);
	va_end(args);
}

void pl_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("warning: ", format, args);
	va_end(args);
}

static void die_of_memory(void)
{
	fputs("pagelift: out of memory; nothing was run\n", stderr);
	exit(PL_EXIT_SELF);
}

char *pl_format(const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		die_of_memory();
	return text;
}

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "_@%+=:,./-";

static int is_control(unsigned char byte)
{
	return byte < ' ' || byte == 0x7f;
}

static int has_control(const char *word)
{
	for (; *word; word++)
		if (is_control((unsigned char)*word))
			return 1;
	return 0;
}

/* The bytes of the word between their quotes, in either form. */
static void put_quoted(FILE *stream, const char *word, int control)
{
	for (; *word; word++) {
		if (control && is_control((unsigned char)*word))
			fprintf(stream, "\\%03o", (unsigned char)*word);
		else if (control && (*word == '\'' || *word == '\\'))
			fprintf(stream, "\\%c", *word);
		else if (*word == '\'')
			fputs("'\\''", stream);
		else
			putc(*word, stream);
	}
}

char *pl_quote(const char *word)
{
	int control = has_control(word);
	char *text = NULL;
	size_t size;
	FILE *stream;

	if (*word && !word[strspn(word, plain)])
		return pl_format("%s", word);
	stream = open_memstream(&text, &size);
	if (!stream)
		die_of_memory();
	fputs(control ? "$'" : "'", stream);
	put_quoted(stream, word, control);
	putc('\'', stream);
	if (fclose(stream))
		die_of_memory();
	return text;
}
