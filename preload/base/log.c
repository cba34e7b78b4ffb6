/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <unistd.h>

#include "base/sys.h"
#include "base/text.h"

static pl_log_level_t max_level = PL_LOG_WARN;

void pl_log_set_level(pl_log_level_t level)
{
	max_level = level;
}

void pl_log(pl_log_level_t level, const char *format, ...)
{
	char line[1200];
	pl_text_t text = PL_TEXT_INIT(line, -1);
	va_list arguments;

	if (level > max_level)
		return;
	pl_text_format(&text, "pagelift: ");
	va_start(arguments, format);
	pl_text_vformat(&text, format, arguments);
	va_end(arguments);
	if (text.used == text.capacity)
		text.used--;
	text.data[text.used++] = '\n';
	pl_sys_write(STDERR_FILENO, line, text.used);
}
