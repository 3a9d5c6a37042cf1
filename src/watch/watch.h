/* SPDX-License-Identifier: MIT */
/*
 * watch: the commands that show what sidecars do and did: `ps`, `watch`, `ui` and `audit`.
 */
#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include "cli/verb.h"

extern const struct verb verb_audit, verb_ps, verb_watch, verb_ui;

#endif
