/* SPDX-License-Identifier: MIT */
/*
 * call: everything one execution of a tool may use, and what it may do.
 */
#ifndef TOOLS_CALL_H
#define TOOLS_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/jw.h"
#include "base/str.h"
#include "workspace/path.h"

struct jobs;
struct policy;
struct proc_limits;
struct proc_request;
struct scrub;
struct runner;
struct tracker;
struct workspace;

/* Where the output of a command goes while it runs, if the front end wants it then. */
struct call_stream {
	/* The answer begins: from here on failures are reported within the stream. */
	int (*begin)(void *arg);
	/* A piece of output, whole characters; waits for a slow client. -1: it is not wanted. */
	int (*emit)(void *arg, bool is_stderr, struct str text);
	void *arg;
};

/* What a front end is told before there is a result: a command's output, though all of it is part
 * of the result, and how many files a search has looked at. Either may be NULL. */
struct call_progress {
	/* So many bytes have come; `piece` is what can be shown of them and of earlier ones. */
	void (*output)(void *arg, bool is_stderr, struct str piece, size_t bytes);
	void (*seen)(void *arg, int64_t files);
	void *arg;
};

/* A file that is the result of a call itself, instead of members. */
struct call_file {
	int fd; /* -1: the result is not a file; else the front end closes it */
	int64_t size;
};

/* Everything one execution may use. dispatch makes one for each call (service/dispatch.h). */
struct call {
	struct workspace *ws;
	struct tracker *tracker;    /* what sessions have read; NULL: files may be changed unread */
	enum path_policy policy;    /* what an absolute path means */
	bool read_only;		    /* nothing may be changed */
	const struct scrub *scrub;  /* secrets are taken out of what is seen; NULL: they are not */
	struct runner *runner;	    /* starts commands; NULL: none are run … */
	struct str no_commands;	    /* … because of this */
	struct jobs *jobs;	    /* commands in the background; NULL as the runner is */
	const struct policy *rules; /* which commands are refused; NULL: none */
	const struct proc_limits *limits; /* of every command; NULL: none */
	bool keep_survivors;		  /* what commands leave running goes on */
	struct str excludes;		  /* the user's own ignore rules for searches */
	unsigned threads;		  /* that a search may use */
	int64_t search_ms;		  /* how long it, or reading a file, may take */
	bool sync;			  /* changes are on disk before they are answered */

	struct arena *arena;		      /* memory of this call */
	struct jw *out;			      /* the result: its object is open */
	struct str session;		      /* as the client calls it; or empty */
	const struct call_stream *stream;     /* NULL: output is part of the result */
	const struct call_progress *progress; /* or NULL */
	enum err_code outcome;	/* the tool's: TIMED_OUT or CANCELLED if its command was ended; for
				 * the log, though there is a result */
	struct call_file *file; /* where a tool may leave a file; or NULL */
	struct cancel *cancel;	/* asked when the answer is no longer wanted; or NULL */
	/* Asked before work that takes long; false: no thread would be left for other calls. NULL:
	 * every call has a thread of its own. */
	bool (*linger)(void *arg);
	void *linger_arg;
};

/* To be called before work that takes long: other requests are served meanwhile, and the call
 * learns when its client leaves. TOO_BUSY when that cannot be had. Costs little the second time. */
int call_linger(const struct call *c, struct err *e);

/* The same during a long scan, which also ends when the call is cancelled. */
int call_may_go_on(void *call, struct err *e);

/* When work that takes as long as there is data has to be over; 0: never. */
int64_t call_deadline(const struct call *c);

/* The path of an argument, resolved under the call's policy. */
int call_path(const struct call *c, struct str requested, struct path *ret, struct err *e);

/* 0 when commands are run; else READ_ONLY or SPAWN_FAILED, and why they are not. */
int call_may_run(const struct call *c, struct err *e);

/* What holds for every command of the call (exec/proc.h). */
struct proc_request call_command(const struct call *c);

/* How the text of an argument stands for bytes. */
enum call_encoding { CALL_UTF8, CALL_BASE64 };
extern const char *const call_encodings[];

/* The bytes that the argument of that name stands for: the text itself, or decoded in the arena.
 * "Missing or invalid <name>" if it is not base64. */
int call_decode(const struct call *c, const char *name, struct str text, int64_t encoding,
		struct str *ret, struct err *e);

/* READ_ONLY if nothing may be changed. */
int call_may_change(const struct call *c, struct err *e);

/* REDACTED_CONTENT if the new content has a redaction mark that the old one does not have. */
int call_may_write(const struct call *c, struct str content, struct str old, struct err *e);

/* A command line as it may be shown. One that fills its place of `size` bytes was cut, and may end
 * in half a secret: that is left out. */
struct str call_shown_command(const struct call *c, const char *command, size_t size);

#endif
