/* SPDX-License-Identifier: MIT */
#include "backend/hugetlbfs.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/file.h"
#include "base/sys.h"
#include "base/text.h"
#include "base/types.h"

enum { MOUNTS_MAX = 2, TRIES = 16 };

static struct {
	uintptr_t page; /* 0 = free */
	char path[PL_PATH_MAX];
} mounts[MOUNTS_MAX];

static const char *find_mount(uintptr_t page)
{
	for (int i = 0; i < MOUNTS_MAX; i++)
		if (mounts[i].page == page)
			return mounts[i].path;
	return NULL;
}

int pl_hugetlbfs_use(const char *path)
{
	struct statfs status;
	long result = pl_sys_statfs(path, &status);

	if (result)
		return (int)result;
	if (status.f_type != HUGETLBFS_MAGIC)
		return -ENODEV;
	if (strlen(path) >= sizeof(mounts[0].path))
		return -ENAMETOOLONG;
	for (int i = 0; i < MOUNTS_MAX; i++) {
		if (mounts[i].page && mounts[i].page != (uintptr_t)status.f_bsize)
			continue;
		strcpy(mounts[i].path, path);
		mounts[i].page = (uintptr_t)status.f_bsize;
		return 0;
	}
	return -ENOSPC;
}

/* Without size= the kernel reports no blocks at all (fs/hugetlbfs/inode.c, hugetlbfs_statfs). */
uint64_t pl_hugetlbfs_room(uintptr_t page)
{
	const char *path = find_mount(page);
	struct statfs status;

	if (!path || pl_sys_statfs(path, &status) || status.f_type != HUGETLBFS_MAGIC)
		return 0;
	return (long)status.f_blocks > 0 ? (uint64_t)status.f_bavail : UINT64_MAX;
}

/* For kernels whose hugetlbfs has no O_TMPFILE (before 5.15). */
static int open_and_unlink(const char *folder)
{
	static unsigned int next;
	char path[PL_PATH_MAX + 64];
	long fd = -EEXIST;

	for (int i = 0; i < TRIES && fd == -EEXIST; i++) {
		pl_text_t text = PL_TEXT_INIT(path, -1);

		pl_text_format(&text, "%s/pagelift.%lu.%lu", folder, (unsigned long)pl_sys_getpid(),
			       (unsigned long)__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED));
		fd = pl_sys_openat(pl_text_end(&text),
				   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			pl_sys_unlink(path);
	}
	return (int)fd;
}

int pl_hugetlbfs_open(uintptr_t page)
{
	const char *path = find_mount(page);
	long fd;

	if (!path)
		return -ENOENT;
	fd = pl_sys_openat(path, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd == -EOPNOTSUPP || fd == -EISDIR)
		return open_and_unlink(path);
	return (int)fd;
}
