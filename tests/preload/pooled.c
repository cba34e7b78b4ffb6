/* SPDX-License-Identifier: MIT */
/* Maps shared anonymous memory (--mib, default 30, and an odd page), uses all of it from two
 * processes, and prints as figures how much of it is on hugetlb pages. */
#define _GNU_SOURCE
#include "victim.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t length = (size_t)v_arg(argc, argv, "mib", 30) * V_MIB + V_PAGE;
	char *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;

	v_watchdog(100);
	v_outcome("mmap", p != MAP_FAILED);
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
	v_outcome("munmap", munmap(p, length) == 0);
	return v_done();
}
