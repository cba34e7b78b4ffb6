/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/sys.h"

int pl_text_flush(pl_text_t *text)
{
	size_t done = 0;

	while (text->fd >= 0 && !text->error && done < text->used) {
		long wrote = pl_sys_write(text->fd, text->data + done, text->used - done);

		if (wrote == -EINTR)
			continue;
		if (wrote <= 0)
			text->error = wrote ? (int)wrote : -EIO;
		else
			done += (size_t)wrote;
	}
	text->used = 0;
	return text->error;
}

static void put(pl_text_t *text, char byte)
{
	if (text->used == text->capacity) {
		if (text->fd < 0)
			return;
		pl_text_flush(text);
	}
	text->data[text->used++] = byte;
}

static void put_padded(pl_text_t *text, const char *string, size_t length, int width)
{
	size_t wanted = (size_t)(width < 0 ? -width : width);
	size_t padding = wanted > length ? wanted - length : 0;

	for (size_t i = 0; width > 0 && i < padding; i++)
		put(text, ' ');
	for (size_t i = 0; i < length; i++)
		put(text, string[i]);
	for (size_t i = 0; width < 0 && i < padding; i++)
		put(text, ' ');
}

static void put_number(pl_text_t *text, uint64_t value, bool negative, unsigned int base, int width)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (negative)
		digits[--at] = '-';
	put_padded(text, digits + at, sizeof(digits) - at, width);
}

static void put_signed(pl_text_t *text, int64_t value, int width)
{
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;

	put_number(text, magnitude, value < 0, 10, width);
}

/* Reads "-", a width and '*'; leaves *format at what follows. */
static int read_width(const char **format, va_list *arguments)
{
	bool left = **format == '-';
	int width = 0;

	if (left)
		(*format)++;
	if (**format == '*') {
		(*format)++;
		width = va_arg(*arguments, int);
	}
	for (; **format >= '0' && **format <= '9'; (*format)++)
		width = width * 10 + (**format - '0');
	return left && width > 0 ? -width : width;
}

static void put_conversion(pl_text_t *text, const char **format, va_list *arguments)
{
	int width = read_width(format, arguments);
	bool is_long = **format == 'l' || **format == 'z';
	char byte;

	if (is_long)
		(*format)++;
	switch (**format) {
	case 's': {
		const char *string = va_arg(*arguments, const char *);

		put_padded(text, string, strlen(string), width);
		break;
	}
	case 'c':
		byte = (char)va_arg(*arguments, int);
		put_padded(text, &byte, 1, width);
		break;
	case 'd':
		put_signed(text, is_long ? va_arg(*arguments, long) : va_arg(*arguments, int),
			   width);
		break;
	case 'u':
	case 'x':
		put_number(text,
			   is_long ? va_arg(*arguments, unsigned long)
				   : va_arg(*arguments, unsigned int),
			   false, **format == 'x' ? 16 : 10, width);
		break;
	default:
		put(text, **format);
	}
}

void pl_text_vformat(pl_text_t *text, const char *format, va_list arguments)
{
	va_list list;

	va_copy(list, arguments);
	for (; *format; format++) {
		if (*format != '%') {
			put(text, *format);
			continue;
		}
		format++;
		put_conversion(text, &format, &list);
		if (!*format)
			break;
	}
	va_end(list);
}

void pl_text_format(pl_text_t *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	pl_text_vformat(text, format, arguments);
	va_end(arguments);
}

void pl_text_ratio(pl_text_t *text, uint64_t part, uint64_t whole, const char *none)
{
	uint64_t thousandths;

	if (!whole) {
		pl_text_format(text, "%s", none);
		return;
	}
	thousandths = (uint64_t)((unsigned __int128)part * 1000 / whole);
	pl_text_format(text, "%lu.%lu%lu%lu", thousandths / 1000, thousandths / 100 % 10,
		       thousandths / 10 % 10, thousandths % 10);
}

/* Length of the UTF-8 sequence (RFC 3629) that starts here; 0 when it is none. Overlong forms and
 * surrogates pass: no JSON reader that we know minds them less than a broken sequence. */
static size_t utf8_length(const unsigned char *bytes)
{
	size_t length = bytes[0] < 0xc2 ? 0 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;

	if (bytes[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* Writes one character of a JSON string. Returns the bytes of it. */
static size_t put_json_character(pl_text_t *text, const unsigned char *bytes)
{
	size_t length = 1;

	if (bytes[0] == '"' || bytes[0] == '\\') {
		pl_text_format(text, "\\%c", bytes[0]);
	} else if (bytes[0] < 0x20) {
		pl_text_format(text, "\\u00%x%x", bytes[0] >> 4, bytes[0] & 15);
	} else if (bytes[0] < 0x80) {
		put(text, (char)bytes[0]);
	} else if (!(length = utf8_length(bytes))) {
		pl_text_format(text, "\\ufffd");
		length = 1;
	} else {
		for (size_t i = 0; i < length; i++)
			put(text, (char)bytes[i]);
	}
	return length;
}

void pl_text_json_string(pl_text_t *text, const char *string)
{
	const unsigned char *bytes = (const unsigned char *)string;

	while (*bytes)
		bytes += put_json_character(text, bytes);
}

const char *pl_text_end(pl_text_t *text)
{
	if (text->used == text->capacity)
		text->used--;
	text->data[text->used] = '\0';
	return text->data;
}
