/* SPDX-License-Identifier: MIT */
/*
 * settle: catch up with the other programs that use the journal of a workspace, dead or alive.
 */
#ifndef CHANGES_SETTLE_H
#define CHANGES_SETTLE_H

#include "changes/journal.h"

/* Learn what other programs have done in the workspace, and finish or take back what dead ones left
 * unfinished. Returns how many changes those were. No lock of a file may be held. */
size_t settle_all(struct journal *j);

#endif
