/* SPDX-License-Identifier: MIT */
/*
 * calls: what every front end does around a tool: fill in the call from the exchange before, and
 * count it and write a line to the log after.
 */
#ifndef API_CALLS_H
#define API_CALLS_H

#include "api/routes.h"
#include "base/json.h"
#include "tools/tool.h"

/* A call of the tool with the members of `object`, from the call that all of its kind are copied
 * from. The caller adds `out`. Another worker is made ready when the tool may take long; when there
 * is none, running it is TOO_BUSY. */
struct call calls_begin(struct exchange *x, const struct call *kind, const struct tool *t,
			const struct json *object);

/* Count it and log how it went; `name` is the tool's, or what was asked for when there is no such
 * tool. Every front end ends every call here, once. */
void calls_log(struct exchange *x, struct str name, struct str session, enum err_code code);

/* The same for a call that no exchange brought and that took that long; uid and pid are those of
 * whoever called, or -1. */
void calls_note(struct service *s, int64_t uid, int64_t pid, struct str name, struct str session,
		int64_t us, enum err_code code);

#endif
