/* SPDX-License-Identifier: MIT */
/*
 * output: what a command has written, for a model.
 *
 * A receipt keeps both ends of each stream until the command has ended; it then also says how the
 * command ended, what it cost, and what it left running. Its write function is that of a proc_sink
 * (exec/proc.h).
 */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "exec/proc.h"
#include "scrub/scrub.h"
#include "tools/tool.h"

enum {
	ENDS_HEAD = LIMIT_COMMAND_OUTPUT / 4,
	ENDS_TAIL = LIMIT_COMMAND_OUTPUT - ENDS_HEAD,
};

/*
 * Both ends of a text of any length, in bounded memory.
 *
 * A command says what it is about to do at the start of its output and what went wrong at the end:
 * the first ENDS_HEAD bytes and the last ENDS_TAIL bytes are kept. A line between them says exactly
 * how many bytes were left out. No character is cut in two, and no part is kept of a secret that
 * lies across a cut: a little more is remembered than is shown, so that the secret is recognised.
 */
struct ends {
	char *bytes;   /* the head and more; after it the tail and more, which is a ring */
	int64_t total; /* bytes added */
};

/* The memory is the arena's. */
int ends_init(struct ends *o, struct arena *a, struct err *e);

void ends_add(struct ends *o, struct str piece);

/* Whether something had to be left out. */
bool ends_cut(const struct ends *o);

/* The text, in the arena; { NULL, 0 } if there is no memory. It is cut without showing half a
 * secret (rules NULL: it has no secrets), but it is not scrubbed. */
struct str ends_text(const struct ends *o, const struct scrub *rules, struct arena *a);

struct receipt {
	const struct call_progress *progress; /* is told of all output; or NULL */
	struct ends ends[2];		      /* by enum proc_stream */
};

/* What receipt_show writes. */
extern const struct field receipt_fields[];

int receipt_init(struct receipt *r, const struct call *c, struct err *e);

int receipt_write(void *receipt, enum proc_stream which, struct str piece);

/* Write the command's end into the result of the call. */
int receipt_show(const struct receipt *r, struct call *c, const struct proc_result *end,
		 struct err *e);

#endif
