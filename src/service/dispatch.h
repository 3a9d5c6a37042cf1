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

/* What a call has changed, and what its sandbox refused. The texts are for models, in the arena. */
struct call_change {
	uint64_t id;
	struct str json;   /* the object "changes" of an observation */
	struct str denied; /* the array "denied" */
	int64_t denied_count;
};

struct dispatch {
	enum call_kind kind;
	const struct tool *tool;
	const struct json *arguments;
	struct str session; /* empty: the member sessionId of the arguments, if there is one */
	int64_t uid, pid;   /* of the caller, for the log; -1: not known */
	struct arena *arena;
	bool sized; /* the client passes on only so much of a result (service.mcp) */

	/* The rest may be absent: see struct call. */
	struct call_text *text;
	struct cancel *cancel;
	bool at_once; /* its thread has other work to do: it does not wait for its turn */
	bool (*before_slow)(void *arg);
	void *before_slow_arg;
	const struct call_stream *stream;
	const struct call_progress *progress;
	struct call_file *file;
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
