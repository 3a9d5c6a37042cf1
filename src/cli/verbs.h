/* SPDX-License-Identifier: MIT */
/* verbs: those that need nothing but a connection, or nothing at all; main.c lists them. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/verb.h"

extern const struct verb verb_call, verb_completion, verb_config, verb_edit, verb_find, verb_grep,
	verb_health, verb_help, verb_jobs, verb_ls, verb_read, verb_run, verb_tools, verb_version,
	verb_write;

#endif
