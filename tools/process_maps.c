/* SPDX-License-Identifier: MIT */
#include "tools/process_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/message.h"

/* A device number as the kernel writes it, "MAJOR:MINOR", in hexadecimal in maps. */
typedef struct {
	unsigned int major;
	unsigned int minor;
} device_t;

typedef struct {
	device_t *list;
	size_t count;
} devices_t;

/* vm.max_map_count is an int; nobody has a thousandth of that. */
enum { MAPS_MAX = 1 << 24 };

/* Makes room for one more entry; capacities are the powers of two. */
static void *grow(void *list, size_t count, size_t size)
{
	void *more;

	if (count & (count - 1))
		return list;
	more = reallocarray(list, count ? 2 * count : 1, size);
	if (!more) {
		pl_error("out of memory; nothing more is shown");
		exit(1);
	}
	return more;
}

/* Lines of mountinfo: "36 35 0:25 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=65536k". */
static devices_t read_tmpfs(FILE *mountinfo)
{
	devices_t devices = { 0 };
	char *line = NULL;
	size_t size = 0;

	while (mountinfo && getline(&line, &size, mountinfo) > 0) {
		const char *type = strstr(line, " - ");
		device_t device;

		if (!type ||
		    (strncmp(type + 3, "tmpfs ", 6) && strncmp(type + 3, "devtmpfs ", 9)) ||
		    sscanf(line, "%*d %*d %u:%u", &device.major, &device.minor) != 2)
			continue;
		devices.list = grow(devices.list, devices.count, sizeof(device));
		devices.list[devices.count++] = device;
	}
	free(line);
	return devices;
}

static bool is_tmpfs(const devices_t *devices, device_t device)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->list[i].major == device.major &&
		    devices->list[i].minor == device.minor)
			return true;
	return false;
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Names of mm/shmem.c, ipc/shm.c and fs/proc/task_mmu.c. Hugetlb is told later, by its page. */
static pl_map_kind_t find_kind(const pl_map_t *map, const devices_t *devices, device_t device)
{
	const char *path = map->path;

	if (!strcmp(path, "[heap]"))
		return PL_MAP_HEAP;
	if (starts_with(path, "[stack"))
		return PL_MAP_STACK;
	if (!*path || starts_with(path, "[anon:"))
		return PL_MAP_ANONYMOUS;
	if (starts_with(path, "[anon_shmem:") || !strcmp(path, "/dev/zero (deleted)"))
		return PL_MAP_SHARED;
	if (starts_with(path, "/SYSV"))
		return PL_MAP_SHM;
	if (starts_with(path, "/memfd:"))
		return PL_MAP_MEMFD;
	return *path == '/' && is_tmpfs(devices, device) ? PL_MAP_TMPFS : PL_MAP_FILE;
}

/* "55d0c8a00000-55d0c8a21000 rw-p 00000000 08:01 1234   /path"; fields start with a capital. */
static bool parse_map(char *line, const devices_t *devices, pl_map_t *ret_map)
{
	pl_map_t map = { 0 };
	device_t device;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64 " %x:%x %lu %n", &map.start,
		   &map.end, &map.offset, &device.major, &device.minor, &map.inode, &path) < 6 ||
	    !path || map.start >= map.end)
		return false;
	line[strcspn(line, "\n")] = '\0';
	map.path = pl_format("%s", line + path);
	map.kind = find_kind(&map, devices, device);
	*ret_map = map;
	return true;
}

static void take_field(pl_map_t *map, const char *name, uint64_t bytes)
{
	if (!strcmp(name, "KernelPageSize")) {
		map->page = bytes;
	} else if (!strcmp(name, "Rss")) {
		map->resident += bytes;
	} else if (!strcmp(name, "Anonymous")) {
		map->anonymous = bytes;
	} else if (!strcmp(name, "AnonHugePages")) {
		map->anonymous_large = bytes;
		map->large += bytes;
	} else if (!strcmp(name, "ShmemPmdMapped")) {
		map->shmem_large = bytes;
		map->large += bytes;
	} else if (!strcmp(name, "Shared_Hugetlb") || !strcmp(name, "Private_Hugetlb")) {
		/* Not in Rss (fs/proc/task_mmu.c, smaps_hugetlb_range). */
		map->hugetlb += bytes;
		map->resident += bytes;
		map->large += bytes;
	} else if (!strcmp(name, "Swap")) {
		map->swap = bytes;
	}
}

static void parse_field(const char *line, pl_map_t *map, uint64_t base_page)
{
	char name[32];
	uint64_t kib;

	if (sscanf(line, "%31[A-Za-z_]: %" SCNu64 " kB", name, &kib) == 2)
		take_field(map, name, kib << 10);
	/* The flag of VM_HUGETLB; KernelPageSize before it tells which pages. */
	else if (starts_with(line, "VmFlags:") && strstr(line, " ht") && map->page > base_page)
		map->kind = PL_MAP_HUGETLB;
}

int pl_maps_read(FILE *smaps, FILE *mountinfo, pl_maps_t *ret_maps)
{
	uint64_t base_page = (uint64_t)sysconf(_SC_PAGESIZE);
	devices_t devices = read_tmpfs(mountinfo);
	pl_maps_t maps = { 0 };
	char *line = NULL;
	size_t size = 0;
	pl_map_t map;
	int error;

	errno = 0;
	while (maps.count < MAPS_MAX && getline(&line, &size, smaps) > 0) {
		if (parse_map(line, &devices, &map)) {
			maps.list = grow(maps.list, maps.count, sizeof(map));
			maps.list[maps.count++] = map;
		} else if (maps.count) {
			parse_field(line, &maps.list[maps.count - 1], base_page);
		}
	}
	error = ferror(smaps) ? errno : maps.count ? 0 : ESRCH;
	free(line);
	free(devices.list);
	if (error)
		pl_maps_free(&maps);
	else
		*ret_maps = maps;
	return -error;
}

void pl_maps_free(pl_maps_t *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		free(maps->list[i].path);
	free(maps->list);
	*maps = (pl_maps_t){ 0 };
}

size_t pl_maps_behind(const pl_maps_t *maps, uint64_t address)
{
	size_t low = 0;
	size_t high = maps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->list[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *pl_map_kind_name(pl_map_kind_t kind)
{
	static const char *const names[PL_MAP_KINDS] = {
		[PL_MAP_FILE] = "file",       [PL_MAP_HEAP] = "heap",
		[PL_MAP_STACK] = "stack",     [PL_MAP_ANONYMOUS] = "anonymous",
		[PL_MAP_SHARED] = "shared",   [PL_MAP_SHM] = "shm",
		[PL_MAP_MEMFD] = "memfd",     [PL_MAP_TMPFS] = "tmpfs",
		[PL_MAP_HUGETLB] = "hugetlb",
	};

	return (unsigned int)kind < PL_MAP_KINDS ? names[kind] : "?";
}
