/* SPDX-License-Identifier: MIT */
/*
 * help: what the tables say, for people: on a terminal, in the manual, in a shell's completion.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/buf.h"
#include "cli/verb.h"

/* Examples first, then the list of verbs; to stdout or stderr. */
void help_all(const struct verb *const *verbs, int fd);

/* Examples, usage and options of one verb, to stdout. */
void help_verb(const struct verb *v);

/* Verbs and settings as lists for the manuals sidecar(1) and sidecar.conf(5), in mdoc. */
void help_mdoc_verbs(const struct verb *const *verbs, struct buf *out);
void help_mdoc_settings(struct buf *out);

/* The next table of options that a verb has: start with i = 0; NULL behind the last. */
const struct option *help_options(const struct verb *v, size_t i);

#endif
