/* SPDX-License-Identifier: MIT */
/*
 * denied: how clients and models are told what the sandbox has refused to a command.
 */
#ifndef TOOLS_DENIED_H
#define TOOLS_DENIED_H

#include "base/arena.h"
#include "base/jw.h"
#include "sandbox/denials.h"
#include "tools/tool.h"

/* The denials of a command that has ended, or was left running. */
struct denied {
	size_t count;  /* how many there were */
	size_t listed; /* how many of these are in the list */
	struct denied_item {
		const char *operation, *by;
		struct str path, rule, sentence;
	} * items;
};

/* Copy them to the arena. NULL if there are none, or no memory. */
const struct denied *denied_of(struct denials *d, struct arena *a);

/* The array "denied" of an observation; and the fields of its members. */
void denied_write(struct jw *w, const struct denied *d);
extern const struct field denied_fields[];

/* As lines of text: "[sandbox: writing /etc/hosts is not allowed; writable: the workspace, /tmp]",
 * as many as fit. `out` may not have more than max_bytes (0: any). */
void denied_show(struct buf *out, int64_t max_bytes, const struct denied *d);

#endif
