/* SPDX-License-Identifier: MIT */
/*
 * changes: which changes are meant, for the verbs that list and take back.
 */
#ifndef CLI_CHANGES_H
#define CLI_CHANGES_H

#include "cli/cli.h"

/* The number of a change, or 0 if it is not one. */
int64_t changes_number(const char *text);

/* The number that --since means; 0 and *status: there is none, or it is not one. */
int64_t changes_since(struct cli *c, const char *since, int *status);

/* The newest change that is in force, and is an undo or is none; NULL and *status if there is none.
 */
const struct json *changes_last(struct cli *c, bool is_undo, int *status);

/* Say that the change has nothing to `undo` or `show` at that path, which may have been meant as a
 * number. Returns the exit status. */
int changes_fail_path(const struct cli *c, int64_t id, const char *verb, const char *path);

#endif
