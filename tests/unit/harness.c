/* SPDX-License-Identifier: MIT */
/*
 * main() of every unit test program: runs the room's suite and prints TAP on stdout, nothing else.
 */
#include "harness.h"

#include <stdlib.h>

/*
 * The status says whether TAP was printed, not whether the tests passed: automake's tap-driver
 * reads "not ok" itself and counts a failing status as one more error.
 */
int main(void)
{
	SRunner *runner = srunner_create(pl_suite());

	if (!runner)
		return EXIT_FAILURE;
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	srunner_free(runner);
	return EXIT_SUCCESS;
}
