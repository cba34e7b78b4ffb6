/* SPDX-License-Identifier: MIT */
#include "fake_arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sys.h"
#include "placement/map.h"

uintptr_t fake_heap;
uintptr_t fake_heap_end;

static void unmap(uintptr_t start, uintptr_t end)
{
	if (start < end && pl_unmap(start, end - start))
		abort();
}

void fake_heap_new(void)
{
	pl_request_t request = { .origin = PL_ORIGIN_LIBC,
				 .length = 2 * FAKE_HEAP_SIZE,
				 .prot = PROT_NONE,
				 .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
	long start = pl_map(&request, -1, 0);

	if (pl_sys_failed(start))
		abort();
	fake_heap = pl_round_up((uintptr_t)start, FAKE_HEAP_SIZE);
	fake_heap_end = fake_heap;
	unmap((uintptr_t)start, fake_heap);
	unmap(fake_heap + FAKE_HEAP_SIZE, (uintptr_t)start + request.length);
}

long fake_heap_protect(uintptr_t start, uintptr_t end, int prot)
{
	return pl_protect(PL_ORIGIN_LIBC, start, end - start, prot, -1);
}

long fake_heap_grow(size_t length)
{
	long result =
		fake_heap_protect(fake_heap_end, fake_heap_end + length, PROT_READ | PROT_WRITE);

	if (result)
		return result;
	memset((void *)fake_heap_end, 0x33, length);
	fake_heap_end += length;
	return 0;
}

long fake_heap_shrink(uintptr_t end)
{
	pl_request_t request = { .origin = PL_ORIGIN_LIBC,
				 .addr = end,
				 .length = fake_heap_end - end,
				 .prot = PROT_NONE,
				 .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED };
	long result = pl_map(&request, -1, 0);

	if (!pl_sys_failed(result))
		fake_heap_end = end;
	return result;
}

bool fake_is_readable(uintptr_t addr)
{
	int fd = pl_file_open("", "/proc/self/maps");
	bool readable = false;
	pl_lines_t lines;
	const char *line;

	if (fd < 0)
		abort();
	pl_lines_init(&lines, fd);
	while ((line = pl_lines_next(&lines))) {
		uint64_t start;
		uint64_t end;

		line = pl_parse_number(line, 16, &start);
		line = pl_parse_number(line + 1, 16, &end);
		if (start <= addr && addr < end)
			readable = line[1] == 'r';
	}
	close(fd);
	return readable;
}
