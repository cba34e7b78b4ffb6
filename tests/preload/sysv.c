/* SPDX-License-Identifier: MIT */
/* SysV segments and memfd maps, and every error that a program may tell one situation from. */
#define _GNU_SOURCE
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t length = 9 * 1024 * 1024 + 56;

static void show_status(int id)
{
	struct shmid_ds status = { 0 };

	v_outcome("IPC_STAT", shmctl(id, IPC_STAT, &status) == 0);
	v_say("size %zu, attached %lu, mode %o", status.shm_segsz, (unsigned long)status.shm_nattch,
	      status.shm_perm.mode & 0777);
}

static void life(void)
{
	int id = shmget(IPC_PRIVATE, length, IPC_CREAT | 0600);
	char *p = shmat(id, NULL, 0);
	char *q = shmat(id, NULL, SHM_RDONLY);
	int status = -1;

	v_ok(v_holds(p, length, 0), "fresh memory is zero");
	show_status(id);
	v_stamp(p, length, 3);
	v_ok(v_stamped(q, length, 3), "both attachments show the same");
	v_ok(v_fault(q, true, NULL) != 0, "a read-only attachment faults");
	if (fork() == 0) {
		p[9] = 99;
		_exit(shmdt(q) || shmdt(p));
	}
	wait(&status);
	v_ok(status == 0 && p[9] == 99, "a child writes and detaches");
	v_outcome("shmdt", shmdt(q) == 0);
	show_status(id);
	v_outcome("IPC_RMID", shmctl(id, IPC_RMID, NULL) == 0);
	v_ok(p[9] == 99, "it lives on while attached");
	v_outcome("shmdt of the last", shmdt(p) == 0);
	v_outcome("shmat of what is gone", shmat(id, NULL, 0) != (void *)-1);
}

static void keys(void)
{
	key_t key = (key_t)(0x70670000 + getpid());
	int id = shmget(key, length, IPC_CREAT | IPC_EXCL | 0600);
	char *p;

	v_outcome("create", id >= 0);
	v_ok(shmget(key, length, IPC_CREAT | 0600) == id, "the same again");
	v_ok(shmget(key, 0, 0) == id, "by key alone");
	v_outcome("exclusively", shmget(key, length, IPC_CREAT | IPC_EXCL | 0600) >= 0);
	v_outcome("larger", shmget(key, 2 * length, IPC_CREAT | 0600) >= 0);
	v_outcome("larger, exclusively", shmget(key, 2 * length, IPC_CREAT | IPC_EXCL) >= 0);
	v_outcome("another key", shmget(key + 4096, length, 0600) >= 0);
	v_outcome("size 0", shmget(IPC_PRIVATE, 0, IPC_CREAT) >= 0);
	p = shmat(id, NULL, 0);
	v_outcome("at a misaligned address", shmat(id, p + 1, 0) != (void *)-1);
	v_outcome("over another map", shmat(id, p, 0) != (void *)-1);
	v_outcome("SHM_REMAP of nothing", shmat(id, NULL, SHM_REMAP) != (void *)-1);
	v_outcome("detach", shmdt(p) == 0);
	v_outcome("detach again", shmdt(p) == 0);
	v_outcome("remove", shmctl(id, IPC_RMID, NULL) == 0);
	v_outcome("by key when gone", shmget(key, 0, 0) >= 0);
	id = shmget(key, 56, IPC_CREAT | IPC_EXCL | 0600);
	show_status(id);
	shmctl(id, IPC_RMID, NULL);
}

/* At an address of the program's choice, where large pages can be. */
static void chosen_address(void)
{
	size_t room = 64 * V_MIB;
	int id = shmget(IPC_PRIVATE, length, IPC_CREAT | 0600);
	char *p = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *wanted = (char *)(((uintptr_t)p + 8 * V_MIB) & ~(4 * V_MIB - 1));

	munmap(p, room);
	p = shmat(id, wanted, 0);
	v_outcome("at a chosen address", p == wanted);
	v_stamp(p, length, 31);
	v_outcome("the same again", shmat(id, wanted, 0) != (void *)-1);
	v_outcome("rounded down", shmat(id, wanted + 32 * V_MIB + 5, SHM_RND) != (void *)-1);
	v_ok(v_stamped(wanted + 32 * V_MIB, length, 31), "both show the same");
	v_outcome("detach", shmdt(wanted) == 0);
	v_outcome("munmap of a part", munmap(wanted + 34 * V_MIB, 2 * V_MIB) == 0);
	v_outcome("detach the second", shmdt(wanted + 32 * V_MIB) == 0);
	shmctl(id, IPC_RMID, NULL);
}

static void memfd(void)
{
	int fd = memfd_create("victim", MFD_CLOEXEC);
	char byte = 5;
	char *p;
	char *q;

	v_outcome("ftruncate to an odd size", ftruncate(fd, (off_t)length) == 0);
	v_outcome("posix_fallocate", (errno = posix_fallocate(fd, 0, (off_t)length)) == 0);
	p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	q = mmap(NULL, length - 4096, PROT_READ, MAP_SHARED, fd, 4096);
	v_ok(v_holds(p, length, 0), "fresh memory is zero");
	v_stamp(p, length, 21);
	v_ok(memcmp(p + 4096, q, length - 4096) == 0, "both maps show the same");
	v_ok(pwrite(fd, &byte, 1, 12345) == 1 && p[12345] == 5, "write is seen in the map");
	p[54321] = 6;
	v_ok(pread(fd, &byte, 1, 54321) == 1 && byte == 6, "the map is seen by read");
	v_outcome("punch a hole", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					    2 * 1024 * 1024, 4096) == 0);
	v_ok(v_holds(p + 2 * V_MIB, 4096, 0), "it is zero");
	v_outcome("mprotect of a page", mprotect(p + 3 * V_MIB + V_PAGE, V_PAGE, PROT_NONE) == 0);
	v_outcome("munmap of a page", munmap(p + 5 * V_MIB + V_PAGE, V_PAGE) == 0);
	v_outcome("ftruncate", ftruncate(fd, 4096) == 0);
	v_ok(v_fault(p + 2 * V_MIB, false, NULL) == 7, "SIGBUS behind the end");
	munmap(p, length);
	munmap(q, length - 4096);
	close(fd);
}

int main(void)
{
	v_watchdog(100);
	life();
	keys();
	chosen_address();
	memfd();
	return v_done();
}
