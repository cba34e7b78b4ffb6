/* SPDX-License-Identifier: MIT */
/* Zeroed data of the program and its libraries: advised where it lies, before anybody used it. */
#ifndef PL_PLACEMENT_BSS_H
#define PL_PLACEMENT_BSS_H

/* Called once by the constructor. */
void pl_bss_advise(void);

#endif
