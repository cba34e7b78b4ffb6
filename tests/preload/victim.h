/* SPDX-License-Identifier: MIT */
/*
 * What the victims share: checks that print "ok NAME" or "wrong: NAME", figures ("# name value",
 * which the comparison of plain and shimmed output leaves out), readings of /proc/self, and fault
 * probes. Nothing here calls malloc, so that a check does not move the heap it looks at.
 */
#ifndef VICTIM_H
#define VICTIM_H

#ifndef _GNU_SOURCE
#error "victims define _GNU_SOURCE first"
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define V_KIB      ((size_t)1 << 10)
#define V_MIB      ((size_t)1 << 20)
#define V_PAGE     (v_page())
#define V_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Older headers lack these; the numbers are the kernel's (include/uapi/linux). */
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* One line on stdout by write(2). */
void v_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A figure that may differ between runs: "# name value". */
void v_figure(const char *name, long value);
/* Prints the check's line in either case; returns good. */
bool v_ok(bool good, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For loops and threads: prints only when bad (the first 20 times). Returns bad. */
bool v_wrong_if(bool bad, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "name: ok", or "name: ENOMEM": the outcome of a call, given its success, then errno is read. */
void v_outcome(const char *name, bool success);
/* The exit status: 0 when nothing was wrong. Prints "done". */
int v_done(void);
/* Stops the process with "wrong: hung" after this many seconds. */
void v_watchdog(unsigned seconds);

size_t v_page(void);
void *v_page_up(const void *p);
/* memset that the compiler cannot leave out because the memory is freed next. */
void v_fill(void *p, int v, size_t n);
/* Every 8 bytes of [p, p+n) get a value made of seed and offset; n is rounded down to 8. */
void v_stamp(void *p, size_t n, uint64_t seed);
bool v_stamped(const void *p, size_t n, uint64_t seed);
/* Whether all n bytes are v. */
bool v_holds(const void *p, size_t n, unsigned char v);
/* The signal (0: none) that reading or writing one byte raises; ret_addr (may be NULL) gets
 * si_addr. */
int v_fault(volatile char *p, bool write, void **ret_addr);

/* A value in KiB of /proc/self/status, of smaps_rollup, or summed over the VMAs that meet [p,
 * p+n). */
long v_status_kb(const char *name);
long v_rollup_kb(const char *name);
long v_range_kb(const void *p, size_t n, const char *name);

/* mmap of private anonymous read-write memory; NULL on failure. */
void *v_map(size_t n);
/* The number after "--name" in argv, or fallback. */
long v_arg(int argc, char **argv, const char *name, long fallback);

#endif
