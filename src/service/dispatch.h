/* SPDX-License-Identifier: MIT */
/*
 * dispatch: one call of a tool from its beginning to its end, for every front end.
 *
 * The front end says which tool, with which arguments, for what kind of caller, and opens an object
 * in its answer. dispatch makes the struct call, sees to it that a long call leaves a thread for
 * others, runs the tool, takes secrets out of what it writes, counts the call and logs it. Then the
 * front end closes its envelope, or writes the error instead.
 *
 *	struct jw w = jw_to(out);
 *	wire_begin(&w);
 *	if (dispatch(service, &d, &w, &e) < 0)
 *		wire_error(out, &e);
 *	else
 *		wire_end(&w);
 *
 * With `text` the result is text instead, and the object stays empty.
 *
 * What differs between kinds of callers is one table in dispatch.c.
 */
#ifndef SERVICE_DISPATCH_H
#define SERVICE_DISPATCH_H

#include "base/arena.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/json.h"
#include "base/jw.h"
#include "base/str.h"
#include "results/way.h"
#include "service/service.h"
#include "tools/tool.h"

enum call_kind {
	CALL_WIRE,    /* a program, by the HTTP endpoints of the existing contract */
	CALL_MODEL,   /* a model, by /tools */
	CALL_MCP,     /* a model, by the Model Context Protocol */
	CALL_NATIVE,  /* a model, by its provider's own tools on /tools */
	CALL_SURFACE, /* an agent's runtime, by the routes of agent-sandbox */
	CALL_KINDS,
};

/* A file that is itself the result of a call, instead of members. */
struct call_file {
	int fd; /* -1: the result is not a file; else the front end closes it */
	int64_t size;
};

struct dispatch {
	enum call_kind kind;
	const struct tool *tool;
	const struct json *arguments;
	struct str raw;	    /* their text, if they came as one; or empty */
	struct str session; /* empty: the member sessionId of the arguments, if there is one */
	int64_t uid, pid;   /* of the caller, for the log; -1: not known */
	struct arena *arena;
	bool sized; /* results are not longer than the server allows (service.mcp) … */
	struct call_size passed_on; /* … and their client passes on, unless the operator decides */

	/* The rest may be absent: see struct call. */
	struct way_text *text;
	struct cancel *cancel;
	struct roster_entry *entry; /* which the front end has entered (roster.h); or NULL */
	bool at_once; /* its thread has other work to do: it does not wait for its turn */
	bool (*before_slow)(void *arg);
	void *before_slow_arg;
	struct sink_taker *taker; /* of the output of commands; `clean` is set for it */
	const struct call_progress *progress;
	struct call_file *file; /* gets a file that is the result */
	bool hints; /* errors may suggest what was probably meant; for models they always do */
	struct buf *details;	    /* gets members that an error has besides its sentence */
	struct str client;	    /* what the caller calls itself; or empty */
	bool unseen;		    /* neither counted, nor logged, nor told to those who watch */
	struct call_change *change; /* gets the change that was made; left alone if none was */
	struct call_end *end;	    /* gets how its command ended */
};

/* Make the call: its members are in `out`, an open object; or -1 and *e, and what was written into
 * `out` is to be dropped. */
int dispatch(struct service *s, const struct dispatch *d, struct jw *out, struct err *e);

/* Count and log a call that cannot be made because of *e. `name` is what the client called the
 * tool, which need not exist. */
void dispatch_refused(struct service *s, const struct dispatch *d, struct str name,
		      const struct err *e);

#endif
