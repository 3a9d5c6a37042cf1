/* SPDX-License-Identifier: MIT */
/*
 * sink: where the output of a command goes while it comes.
 *
 * A piece is made fit to be shown once: as a terminal shows it (screen.h), or only cut at whole
 * characters; and without secrets, if anyone wants it so. Then all who take it get it: the client
 * whose answer it is part of, who tells of progress, those who watch, and the tool itself, which
 * remembers what its result shows (receipt.h).
 *
 *	struct sink s;
 *	sink_init(&s, c, SINK_SCREEN, &own);
 *	… run the command with { sink_write, &s } …
 *	sink_end(&s, e);
 *	sink_done(&s);
 */
#ifndef TOOLS_SINK_H
#define TOOLS_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/proc.h"
#include "scrub/scrub.h"
#include "tools/screen.h"
#include "tools/tool.h"

/* Who takes the output of a call's commands while it comes. */
struct sink_taker {
	/* A command of that call is about to run: from here on failures are told where its output
	 * goes. -1: it is not wanted. NULL: nothing is to be done. */
	int (*begin)(void *arg, uint64_t call);
	/* A piece, in whole characters; the command has written `bytes` bytes for it. It may wait
	 * for a slow client. -1: no more is wanted, and the command ends. */
	int (*take)(void *arg, bool is_stderr, struct str piece, size_t bytes);
	void *arg;
	bool clean; /* it must not see secrets */
	struct sink_taker *next;
};

enum sink_form { SINK_SCREEN, SINK_CHARACTERS };

struct sink {
	const struct call *call;
	enum sink_form form;
	struct sink_taker *own; /* the tool's */
	struct sink_stream {
		struct screen screen;
		struct utf8_stream cut; /* SINK_CHARACTERS: a character that is not complete */
		struct scrubber scrubber;
		struct buf plain, clean; /* a piece that is fit to be shown, and without secrets */
		int64_t bytes;		 /* that the command has written */
	} streams[2];			 /* by enum proc_stream */
	bool failed;			 /* there was no memory for some of it */
};

/* `own` gets the output after the takers of the call; or NULL. */
void sink_init(struct sink *s, const struct call *c, enum sink_form form, struct sink_taker *own);

/* Tell those who take it that a command is about to run. -1: it is not wanted. */
int sink_begin(const struct sink *s);

/* The write function of a proc_sink (exec/proc.h). */
int sink_write(void *sink, enum proc_stream which, struct str piece);

/* The command has ended: pass on what was held back. TOO_BUSY if there was no memory. */
int sink_end(struct sink *s, struct err *e);

void sink_done(struct sink *s);

#endif
