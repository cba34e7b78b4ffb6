/* SPDX-License-Identifier: MIT */
/*
 * What a unit test program defines. harness.c owns main().
 */
#ifndef PL_TESTS_UNIT_HARNESS_H
#define PL_TESTS_UNIT_HARNESS_H

#include <check.h>

/* The suite of one room. Called once; the harness frees what it returns. */
Suite *pl_suite(void);

#endif
