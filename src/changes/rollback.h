/* SPDX-License-Identifier: MIT */
/*
 * rollback: put back what an atomic change has done so far, from its steps.
 *
 * The steps are those that were written to the journal before each action. They are gone through in
 * reverse order, so that every path means what it meant then. A step that was not carried out, or
 * was put back already, does no harm.
 */
#ifndef CHANGES_ROLLBACK_H
#define CHANGES_ROLLBACK_H

#include "base/err.h"
#include "changes/journal.h"

/* Put back the steps of a change. 0 if all of them were; -1 with the first reason. In both cases
 * everything that could be put back was. */
int rollback_steps(struct journal *j, const struct unfinished *u, struct err *e);

#endif
