/* SPDX-License-Identifier: MIT */
/*
 * watch: the commands that show what sidecars do: `ps`, `watch` and `ui`.
 */
#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include "cli/verb.h"

extern const struct verb verb_ps, verb_watch, verb_ui;

#endif
