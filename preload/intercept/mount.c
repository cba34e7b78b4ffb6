/* SPDX-License-Identifier: MIT */
/*
 * libhugetlbfs is loaded only when asked for: its constructor costs 64 system calls, and it stays
 * out of the program's symbols (RTLD_LOCAL). dlopen and dlsym are looked up by hand: they are in
 * libc from glibc 2.34 on, and a reference to that version would tie the shim to it.
 */
#include "intercept/mount.h"

#include <dlfcn.h>
#include <string.h>

#include "backend/hugetlbfs.h"
#include "base/log.h"
#include "base/types.h"
#include "intercept/elf_symbols.h"

typedef void *(*open_library_t)(const char *file, int mode);
typedef void *(*find_symbol_t)(void *library, const char *name);

/* libhugetlbfs 2.x, hugetlbfs_find_path_for_size(3). */
typedef const char *(*find_path_t)(long page);

static uintptr_t find_in_libc(const char *name)
{
	pl_elf_object_t libc;
	uintptr_t addr;
	size_t size;

	if (!pl_elf_find_libc(&libc) ||
	    !pl_elf_find_symbol(&libc, name, STT_FUNC, &addr, &size))
		return 0;
	return addr;
}

static find_path_t load_libhugetlbfs(void)
{
	open_library_t open_library = (open_library_t)find_in_libc("dlopen");
	find_symbol_t find_symbol = (find_symbol_t)find_in_libc("dlsym");
	void *library;

	if (!open_library || !find_symbol)
		return NULL;
	library = open_library("libhugetlbfs.so.0", RTLD_NOW | RTLD_LOCAL);
	return library ? (find_path_t)find_symbol(library, "hugetlbfs_find_path_for_size") : NULL;
}

static void find_mounts(void)
{
	static const long sizes[] = { 2 * PL_MIB, PL_GIB };
	find_path_t find_path = load_libhugetlbfs();
	bool found = false;

	if (!find_path) {
		pl_log(PL_LOG_WARN, "PAGELIFT_HUGETLBFS=mount: libhugetlbfs.so.0 cannot be loaded; "
				    "using no hugetlb pages");
		return;
	}
	for (size_t i = 0; i < PL_ARRAY_LEN(sizes); i++) {
		const char *path = find_path(sizes[i]);

		found |= path && pl_hugetlbfs_use(path) == 0;
	}
	if (!found)
		pl_log(PL_LOG_WARN, "PAGELIFT_HUGETLBFS=mount: no hugetlbfs is mounted; using no "
				    "hugetlb pages");
}

void pl_mount_choose(const char *wanted)
{
	int result;

	if (strcmp(wanted, "mount") == 0) {
		find_mounts();
		return;
	}
	result = pl_hugetlbfs_use(wanted);
	if (result)
		pl_log(PL_LOG_WARN,
		       "PAGELIFT_HUGETLBFS=%s: no hugetlbfs mount (error %d); using no hugetlb "
		       "pages",
		       wanted, -result);
}
