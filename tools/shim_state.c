/* SPDX-License-Identifier: MIT */
#include "tools/shim_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tools/elf_symbol.h"
#include "tools/message.h"

/* A program may keep the registry busy: so many tries, a millisecond apart. */
enum { TRIES = 50, SEGMENTS_MAX = 1 << 20, FILES_MAX = 4 };

static const char shim_name[] = "libpagelift.so";

/* Reads exactly so much, or returns -errno: -EFAULT where nothing is mapped. */
static int read_memory(const pl_process_t *process, uintptr_t address, void *buffer, size_t length)
{
	char *to = buffer;

	while (length) {
		struct iovec local = { .iov_base = to, .iov_len = length };
		struct iovec remote = { .iov_base = (void *)address, .iov_len = length };
		ssize_t got = process_vm_readv(process->pid, &local, 1, &remote, 1, 0);

		if (got <= 0)
			return got ? -errno : -EFAULT;
		to += got;
		address += (uintptr_t)got;
		length -= (size_t)got;
	}
	return 0;
}

/* Why process_vm_readv was refused where smaps was not: it asks for the right to attach. */
static char *tell_refusal(void)
{
	FILE *stream = fopen("/proc/sys/kernel/yama/ptrace_scope", "r");
	int scope = 0;

	if (stream && fscanf(stream, "%d", &scope) != 1)
		scope = 0;
	if (stream)
		fclose(stream);
	if (scope)
		return pl_format("the kernel refuses to read its memory: the sysctl "
				 "kernel.yama.ptrace_scope is %d, where it takes CAP_SYS_PTRACE",
				 scope);
	return pl_format("the kernel refuses to read its memory: it takes CAP_SYS_PTRACE");
}

static char *tell_memory(const char *what, int error)
{
	if (error == -EPERM)
		return tell_refusal();
	return pl_format("%s cannot be read: %s", what, strerror(-error));
}

/* NULL when the page is one that this program was built for. */
static char *check_page(const pl_status_t *page, char package[17])
{
	memcpy(package, page->package, 16);
	package[16] = '\0';
	for (char *at = package; *at; at++)
		if (*at < '!' || *at > '~')
			*at = '?';
	if (memcmp(page->magic, PL_STATUS_MAGIC, sizeof(page->magic)))
		return pl_format("it has no status page of pagelift's");
	if (page->version != PL_STATUS_VERSION || strcmp(package, PACKAGE_VERSION))
		return pl_format("it is the shim of pagelift %s (status page %u), this is pagelift "
				 "%s (status page %d)",
				 package, page->version, PACKAGE_VERSION, PL_STATUS_VERSION);
	if (page->size != sizeof(*page) || page->config_size != sizeof(pl_config_t) ||
	    page->facts_size != sizeof(pl_facts_t) || page->segment_size != sizeof(pl_segment_t) ||
	    page->counter_count != PL_COUNTERS || page->reason_count != PL_REASONS)
		return pl_format("it is of version %s too, but of another build with other tables",
				 package);
	return NULL;
}

/* The text may end at the end of a map, so it is read bytewise. */
static int read_condition(const pl_process_t *process, uintptr_t where, char *to, size_t size)
{
	uintptr_t text;
	int error = read_memory(process, where, &text, sizeof(text));
	size_t length = 0;

	for (; !error && length < size - 1; length++) {
		error = read_memory(process, text + length, to + length, 1);
		if (!error && to[length] != '-' && (to[length] < 'a' || to[length] > 'z'))
			break;
	}
	to[length] = '\0';
	return error;
}

static const char *state_name(uint32_t value)
{
	static const char *const names[] = { "not started", "starting", "ready", "off" };

	return value < PL_ARRAY_LEN(names) ? names[value] : "?";
}

static int read_figures(const pl_process_t *process, const pl_status_t *page,
			pl_shim_state_t *state)
{
	pl_facts_t facts;
	uint32_t value;
	int error = read_memory(process, (uintptr_t)page->state, &value, sizeof(value));

	if (!error)
		error = read_memory(process, (uintptr_t)page->config, &state->config,
				    sizeof(state->config));
	if (!error)
		error = read_memory(process, (uintptr_t)page->facts, &facts, sizeof(facts));
	if (!error)
		error = read_condition(process, (uintptr_t)page->condition, state->condition,
				       sizeof(state->condition));
	if (!error)
		error = read_memory(process, (uintptr_t)page->counters, state->counters,
				    sizeof(state->counters));
	if (!error)
		error = read_memory(process, (uintptr_t)page->reasons, state->reasons,
				    sizeof(state->reasons));
	if (error)
		return error;
	state->state = state_name(value);
	state->thp_disabled = facts.large_page ? facts.thp_disabled : -1;
	return 0;
}

/* Drops what no shim of ours writes; ranges that overlap would cost a walk each. */
static size_t check_segments(pl_segment_t *segments, size_t count)
{
	uintptr_t end = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if ((unsigned int)segments[i].kind >= PL_KINDS ||
		    (unsigned int)segments[i].reason >= PL_REASONS ||
		    pl_range_empty(segments[i].range) || segments[i].range.start < end)
			continue;
		end = segments[i].range.end;
		segments[kept++] = segments[i];
	}
	return kept;
}

/* One try: -EAGAIN when the registry was changing. */
static int read_segments(const pl_process_t *process, uintptr_t where, pl_shim_state_t *state)
{
	pl_registry_view_t before;
	pl_registry_view_t after;
	int error = read_memory(process, where, &before, sizeof(before));
	int error_behind;

	if (error)
		return error;
	if (before.changes & 1)
		return -EAGAIN;
	if (before.count > SEGMENTS_MAX)
		return -EBADMSG;
	free(state->segments);
	state->segments = calloc(before.count + 1, sizeof(*state->segments));
	if (!state->segments)
		return -ENOMEM;
	/* An array that has moved may be unmapped already: that is no failure, but another try. */
	error = read_memory(process, (uintptr_t)before.segments, state->segments,
			    before.count * sizeof(*state->segments));
	error_behind = read_memory(process, where, &after, sizeof(after));
	if (error_behind)
		return error_behind;
	if (before.changes != after.changes)
		return -EAGAIN;
	if (!error)
		state->count = check_segments(state->segments, before.count);
	return error;
}

static int read_registry(const pl_process_t *process, uintptr_t where, pl_shim_state_t *state)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int error = -EAGAIN;

	for (int i = 0; i < TRIES && error == -EAGAIN; i++) {
		if (i)
			nanosleep(&pause, NULL);
		error = read_segments(process, where, state);
	}
	return error;
}

static char *read_page(const pl_process_t *process, uintptr_t address, pl_shim_state_t *state)
{
	pl_status_t page;
	int error = read_memory(process, address, &page, sizeof(page));
	char *failure =
		error ? tell_memory("its status page", error) : check_page(&page, state->package);

	if (failure)
		return failure;
	error = read_figures(process, &page, state);
	if (error)
		return tell_memory("its state", error);
	error = read_registry(process, (uintptr_t)page.registry, state);
	if (error == -EAGAIN)
		return pl_format("its list of segments changes faster than it can be read (%d "
				 "tries); try again",
				 TRIES);
	if (error == -EBADMSG)
		return pl_format("its list of segments is damaged");
	return error ? tell_memory("its list of segments", error) : NULL;
}

static char *tell_file(int error)
{
	switch (error) {
	case -ESTALE:
	case -ENOENT:
		return pl_format("its file was replaced or deleted since it was loaded (root can "
				 "read it all the same)");
	case -ENOEXEC:
	case -EBADMSG:
		return pl_format("its file is damaged or no shared library of this machine");
	default:
		return pl_format("its file cannot be read: %s", strerror(-error));
	}
}

static char *read_shim(const pl_process_t *process, const pl_map_t *map, pl_shim_state_t *state)
{
	pl_elf_symbol_t symbol;
	int fd = pl_shim_open(process, map);
	int error = fd;

	if (fd >= 0) {
		error = pl_elf_find_data(fd, "pagelift_status", &symbol);
		close(fd);
	}
	if (error == -ENOENT && fd >= 0)
		return pl_format("its file has no variable pagelift_status: a foreign library of "
				 "that name, or a shim older than this program");
	if (error)
		return tell_file(error);
	if (map->offset != symbol.first_offset)
		return pl_format("its file is mapped in a way that ld.so does not");
	return read_page(process, map->start - symbol.first_address + symbol.value, state);
}

/* The first map of a file that is named like the shim: ld.so maps a library from its start on. */
static bool is_shim(const pl_map_t *map)
{
	const char *slash = strrchr(map->path, '/');
	size_t length = sizeof(shim_name) - 1;

	return slash && map->inode && !map->offset && !strncmp(slash + 1, shim_name, length) &&
	       (!slash[1 + length] || !strcmp(slash + 1 + length, " (deleted)"));
}

pl_shim_state_t pl_shim_state_read(const pl_process_t *process, const pl_maps_t *maps)
{
	pl_shim_state_t state = { .thp_disabled = -1 };
	int files = 0;

	for (size_t i = 0; i < maps->count && files < FILES_MAX; i++) {
		if (!is_shim(&maps->list[i]))
			continue;
		files++;
		pl_shim_state_free(&state);
		state.loaded = true;
		state.path = pl_format("%s", maps->list[i].path);
		state.failure = read_shim(process, &maps->list[i], &state);
		if (!state.failure)
			break;
	}
	return state;
}

void pl_shim_state_free(pl_shim_state_t *state)
{
	free(state->path);
	free(state->failure);
	free(state->segments);
	*state = (pl_shim_state_t){ .thp_disabled = -1 };
}
