/* SPDX-License-Identifier: MIT */
/* Gets shared memory (--mib, default 30, and an odd page; anonymous, or with --shm a SysV segment),
 * uses all of it from two processes, and prints as a figure how much of it is on hugetlb pages. */
#define _GNU_SOURCE
#include "victim.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

static char *get(size_t length, bool shm)
{
	char *p;
	int id;

	if (!shm)
		return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			    0);
	id = shmget(IPC_PRIVATE, length, IPC_CREAT | 0600);
	p = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	return p;
}

int main(int argc, char **argv)
{
	size_t length = (size_t)v_arg(argc, argv, "mib", 30) * V_MIB + V_PAGE;
	bool shm = v_arg(argc, argv, "shm", 0);
	char *p = get(length, shm);
	int status = -1;

	v_watchdog(100);
	v_outcome("get", p != MAP_FAILED);
	v_ok(v_holds(p, length, 0), "fresh memory is zero");
	v_stamp(p, length, 5);
	if (fork() == 0) {
		bool good = v_stamped(p, length, 5);

		v_stamp(p, length, 6);
		_exit(!good);
	}
	wait(&status);
	v_ok(status == 0 && v_stamped(p, length, 6), "a child reads and writes all of it");
	v_figure("hugetlb KiB", v_range_kb(p, length, "Shared_Hugetlb") +
					v_range_kb(p, length, "Private_Hugetlb"));
	v_outcome("give back", (shm ? shmdt(p) : munmap(p, length)) == 0);
	return v_done();
}
