/* SPDX-License-Identifier: MIT */
/* Messages to the program's standard error. Silent but for configuration mistakes by default. */
#ifndef PL_BASE_LOG_H
#define PL_BASE_LOG_H

typedef enum {
	PL_LOG_ERROR,
	PL_LOG_WARN,
	PL_LOG_INFO,
	PL_LOG_DEBUG,
} pl_log_level_t;

void pl_log_set_level(pl_log_level_t level);

/* Writes "pagelift: MESSAGE\n" in one write, cut at 1200 bytes; pl_text_format's conversions. The
 * message of a failure ends with its consequence. */
void pl_log(pl_log_level_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
