/* SPDX-License-Identifier: MIT */
/*
 * orphans: the duty of process 1.
 *
 * In a container the server may be process 1, to which every process falls whose parent has gone.
 * Whoever does not wait for them collects zombies until no process can be started any more.
 * Commands of our own never get there: their reapers see to them.
 */
#ifndef EXEC_ORPHANS_H
#define EXEC_ORPHANS_H

#include <stdbool.h>

/* Whether that duty is ours. */
bool orphans_are_ours(void);

/* Wait for every child that has ended; does not block. */
void orphans_reap(void);

#endif
