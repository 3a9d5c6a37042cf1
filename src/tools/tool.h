/* SPDX-License-Identifier: MIT */
/*
 * tool: one operation that an agent can ask for, declared once; and the call that carries it out.
 *
 * A tool is one file: a table of its arguments (tools/args.h), a table of the fields of its result,
 * a function, and a struct tool that names them; and one line in the registry (tool.c). The tables
 * give validation, defaults, binding to the function's argument struct, what models and people are
 * shown of them (schema.h), and the description of the HTTP API (api/openapi.c). A tool does not
 * know how it was called: it gets a struct call, leaves its result as a value (tools/result.h), and
 * returns 0, or -1 with the reason.
 *
 * An operation may have two names with different arguments and results: one for the HTTP endpoints
 * of the existing wire contract (TOOL_WIRE: "read") and one for models (TOOL_MODEL: "read_file").
 * Both descriptors are in the same file, above the same work.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/json.h"
#include "base/jw.h"
#include "base/str.h"
#include "base/turns.h"
#include "exec/launch.h"
#include "tools/args.h"
#include "workspace/path.h"

struct change;
struct denied;
struct edits;
struct guard;
struct hidden;
struct jobs;
struct journal;
struct kept_store;
struct policy;
struct proc_request;
struct scrub;
struct scrub_counts;
struct result;
struct runner;
struct shells;
struct sink_taker;
struct tracker;
struct witness;
struct workspace;

/* Told how many files a search has looked at, before there is a result. */
struct call_progress {
	void (*seen)(void *arg, int64_t files);
	void *arg;
};

/* What a session must have read before it changes it (tools/seen.h). */
enum call_reads {
	CALL_READS_NONE,
	CALL_READS_OVERWRITTEN, /* files that it replaces, all of them */
	CALL_READS_CHANGED,	/* files that it changes in any way, at least a part of them */
};

/* How long a model's command may run: if the call does not say, and at most. */
struct run_times {
	int64_t usual_ms, most_ms;
};

/* As it is by /tools and by MCP, unless the operator sets other times. */
extern const struct run_times run_times_model, run_times_mcp;

/* How the command of a call ended. One that was ended has a result, but is not a success. */
struct call_end {
	bool ran; /* there was one, and it was waited for */
	bool timed_out, cancelled;
	int exit_code, signal; /* as in struct proc_result; so are the next ones */
	int64_t cpu_ms, peak_memory_bytes;
	int64_t survivors; /* processes that it left */
};

/* What all calls of a running sidecar share; it outlives them. */
struct call_shared {
	struct workspace *ws;
	bool read_only;			  /* nothing may be changed */
	bool sync;			  /* changes are on disk before they are answered */
	struct runner *runner;		  /* starts commands; NULL: commands are not run … */
	struct str no_commands;		  /* … for this reason */
	struct jobs *jobs;		  /* commands in the background; NULL if runner is */
	struct shells *shells;		  /* of sessions (shells.h); NULL if runner is */
	const struct proc_limits *limits; /* of every command; NULL: none */
	enum proc_survivors survivors;	  /* what becomes of processes that a command leaves */
	const struct str *variables;	  /* of models' commands, each NAME=value */
	size_t variable_count;
	struct str excludes;	     /* the user's own ignore rules for searches */
	unsigned threads;	     /* how many a search may use: see call_threads */
	int64_t search_ms;	     /* how long a search, or reading a file, may take */
	const struct scrub *secrets; /* what those who watch are not shown */
	struct scrub_counts *scrubbed;
	struct journal *journal;      /* the changes that were made; NULL: they are not kept … */
	struct str no_journal;	      /* … for this reason */
	const struct call_news *news; /* who is told what happens after a call; or NULL */
	struct hidden *hidden; /* what agents do not see (guard/hidden.h); NULL: nothing here */
	struct guard *guard;   /* what a person's programs run (guard/guard.h); NULL: it is free */
};

/* Told of a change that ended after its call; of what the sandbox has refused, when it happens; and of
 * a guarded name that is not as it was before a command, and no allowed call made so. */
struct call_news {
	void (*changed)(void *arg, uint64_t call, const struct change *change);
	void (*refused)(void *arg, uint64_t call, const char *what, const char *path,
			const char *why);
	void (*unguarded)(void *arg, uint64_t call, const char *path);
	void *arg;
};

/* What a call is, for its change: its number, and texts without secrets. */
struct call_about {
	uint64_t number;
	struct str tool, subject;
};

/* How many bytes and lines the result may have as it is sent; 0: any number. The model may ask for
 * others, `most` at most. */
struct call_size {
	int64_t bytes, lines, most;
};

/* The thread that makes the call. */
struct call_thread {
	/* Asked before work that takes long; false: no thread would be left for other calls. NULL:
	 * every call has a thread of its own. */
	bool (*before_slow)(void *arg);
	void *arg;
	struct turn *turn; /* taken before it computes for long; NULL: it need not take one */
};

/* Everything that one execution may use. dispatch makes it for each call (service/dispatch.h). */
struct call {
	const struct call_shared *shared;
	struct str session; /* the client's name for it; or empty */
	struct call_about about;
	struct arena *arena;   /* memory of this call */
	struct cancel *cancel; /* asked when the answer is no longer wanted; or NULL */
	struct call_thread thread;
	int64_t began_ms;

	/* What it may do. */
	enum path_policy policy;    /* what an absolute path means */
	struct tracker *tracker;    /* what sessions have read; NULL: sessions need not read */
	enum call_reads reads;	    /* what must be read before it is changed */
	const struct policy *rules; /* which commands are refused; NULL: none */
	struct run_times times;
	bool observe;		   /* its commands are watched (watched.h) */
	bool guarded;		   /* it does not change what shared->guard guards */
	const struct scrub *scrub; /* takes secrets out of what is shown; NULL: they stay */

	/* For whom its result is. */
	bool for_model;
	bool for_reader; /* the model itself reads the answer, and can be shown pictures */
	struct call_size size;
	struct kept_store *kept;   /* output that was too long (kept.h); or NULL */
	struct sink_taker *takers; /* of the output of commands while it comes (sink.h); or NULL */
	const struct call_progress *progress; /* or NULL */
	/* Asked before files are changed: whether the answer can hold what is to be said of it. */
	int (*reserve)(const void *arg, const struct edits *change, struct err *e);
	const void *reserve_arg;

	/* What becomes of it besides its result. */
	const struct witness *witness; /* is told what the tool is about to change; or NULL */
	struct change *made;	       /* where a tool leaves a change that it has made itself */
	struct call_end end;	       /* how its command ended */
	struct str unguarded;	     /* guarded names that a command may have changed, one a line */
	const struct denied *denied; /* what the sandbox refused to it (denied.h); or NULL */
};

/* The model wants at most this many bytes (0: it did not say). */
void call_limit(struct call *c, int64_t bytes);

/* How many bytes of what it returns can be shown at most; INT64_MAX if there is no limit. Room for
 * LIMIT_RESULT_NOTES is left out. */
int64_t call_room(const struct call *c);

/* To be called before work that takes long: then other requests are served meanwhile, and the call
 * learns when its client leaves. TOO_BUSY if no thread is left. Cheap from the second time on. */
int call_before_slow(const struct call *c, struct err *e);

/* The same before work that keeps a processor busy, which also waits for its turn (turns.h), until
 * the end of the call's time. The caller holds no lock. Cheap from the second time on. */
int call_before_work(const struct call *c, struct err *e);

/* The same before looking at this many bytes; a few are looked at at once. */
int call_before_bytes(const struct call *c, int64_t bytes, struct err *e);

/* The same for work that is left undone if it would have to wait: then false. */
bool call_may_work(const struct call *c);

/* How many threads a search may use, that of the call included: those whose turns are free. */
unsigned call_threads(const struct call *c);

/* The same as call_before_work during a long scan, which also ends when the call is cancelled. */
int call_may_go_on(void *call, struct err *e);

/* When a scan, which takes as long as there is data, must be over; 0: never. The time for it began
 * with the call. */
int64_t call_deadline(const struct call *c);

/* The path of an argument, resolved under the call's policy. */
int call_path(const struct call *c, struct str requested, struct path *ret, struct err *e);

/* READ_ONLY or SPAWN_FAILED, with the reason, if commands are not run. */
int call_may_run(const struct call *c, struct err *e);

/* What applies to every command of the call (exec/proc.h). */
struct proc_request call_command(const struct call *c);

/* A command line as it may be shown. One that fills its room of `size` bytes was cut, and may end
 * in half a secret, which is left out. */
struct str call_shown_command(const struct call *c, const char *command, size_t size);

/* How the text of an argument stands for bytes. */
enum call_encoding { CALL_UTF8, CALL_BASE64 };
extern const char *const call_encodings[];

/* The bytes that the argument of that name stands for: the text itself, or decoded in the arena.
 * "Missing or invalid <name>" if it is not base64. */
int call_decode(const struct call *c, const char *name, struct str text, int64_t encoding,
		struct str *ret, struct err *e);

/* CHANGE_NOT_FOUND, with the reason, if changes are not kept. */
int call_has_journal(const struct call *c, struct err *e);

/* PROTECTED_PATH if the call must not change a path, which has no links in it. */
int call_permits(const struct call *c, const struct path *p, struct err *e);

/* READ_ONLY if nothing may be changed. */
int call_may_change(const struct call *c, struct err *e);

/* REDACTED_CONTENT if the new content has a redaction mark that the old one does not have. */
int call_may_write(const struct call *c, struct str content, struct str old, struct err *e);

/* Make sure that the answer has room for what is to be said of a change. To be called before it is
 * made: if the answer failed after it, the client would not learn of the change. FILE_TOO_LARGE if
 * it could never be shown, TOO_BUSY if there is no memory. */
int call_reserve(const struct call *c, const struct edits *change, struct err *e);

/* What a result has as it is shown; for schemas only. */
enum field_type { FIELD_STR, FIELD_INT, FIELD_BOOL, FIELD_OBJECT };

enum {
	FIELD_LIST = 1 << 0,	 /* an array of these */
	FIELD_NULLABLE = 1 << 1, /* or null */
	FIELD_OPTIONAL = 1 << 2, /* not always there */
};

struct field {
	const char *name, *about;
	enum field_type type;
	unsigned flags;
	const struct field *of;	    /* FIELD_OBJECT: its members */
	const char *const *choices; /* FIELD_STR: the only words it can be; or NULL */
};

#define F_END                                                                                      \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* Of the member "truncation", about a text that was cut. */
extern const struct field truncation_fields[];

/* Of the member "changes" of an observation: what the call has changed. */
extern const struct field changed_fields[];

enum {
	TOOL_WIRE = 1 << 0,   /* an endpoint of the existing HTTP contract */
	TOOL_MODEL = 1 << 1,  /* offered to models */
	TOOL_CORE = 1 << 2,   /* one of the five that small models can handle */
	TOOL_SLOW = 1 << 3,   /* may take long: its worker must not be the last one waiting */
	TOOL_STREAM = 1 << 4, /* its output goes out as it comes (sink.h) */

	/* What a client may want to know before it lets a model call the tool. */
	TOOL_READ_ONLY = 1 << 5,   /* changes nothing */
	TOOL_DESTRUCTIVE = 1 << 6, /* may undo what was there */
	TOOL_IDEMPOTENT = 1 << 7,  /* a second equal call changes nothing more */
	TOOL_OPEN_WORLD = 1 << 8,  /* may reach beyond the workspace */

	TOOL_ROUTE = 1 << 9,  /* has a route of its own; binds like TOOL_WIRE */
	TOOL_SCRUB = 1 << 10, /* secrets are taken out of its result when a model is shown it */

	TOOL_NATIVE = 1 << 11, /* a provider's own tool; called in its form only (api/models.c) */

	TOOL_WORKS = 1 << 12, /* what makes it slow is work, not waiting: it takes a turn */
};

struct tool {
	const char *name;
	const char *title;	  /* for people; TOOL_MODEL only */
	const char *about;	  /* what it does, for a model … */
	const char *about_reader; /* … that reads the answer itself, see for_reader; or NULL */
	const struct arg *args;
	size_t args_size;
	const struct field *fields;   /* of its result; TOOL_STREAM: of the line that ends it */
	const struct field *other[2]; /* of the results that it may have instead; or NULL */
	unsigned flags;
	const char *slow_with; /* TOOL_SLOW applies only with this argument; NULL: always */
	int (*run)(struct call *c, const void *args, struct result *ret, struct err *e);
};

/* Tools with routes of their own (TOOL_ROUTE), for the front end that serves these. */
extern const struct tool tool_changes, tool_change, tool_change_diff, tool_undo, tool_jobs,
	tool_job, tool_stop_job, tool_execute, tool_upload, tool_download, tool_list, tool_exists,
	tool_get_file, tool_put_file, tool_remove, tool_validate_path, tool_allowed_paths,
	tool_policy;

/* Providers' own tools (TOOL_NATIVE). */
extern const struct tool tool_text_editor, tool_shell_session, tool_memory, tool_shell,
	tool_local_shell, tool_patch_operation;

/* The registry, in a fixed order; NULL after the last. */
const struct tool *tool_at(size_t i);

/* The tool of that name with at least one of the flags, or NULL. */
const struct tool *tool_by_name(struct str name, unsigned flags);

/* The tool of that name in a set: TOOL_CORE or TOOL_MODEL; or NULL and UNKNOWN_TOOL, with the names
 * of all of them. */
const struct tool *tool_for_model(struct str name, unsigned set, struct err *e);

/* The names of all tools with at least one of the flags, separated by ", ". */
void tool_names(unsigned flags, struct buf *out);

/* Whether a call with these arguments may take long. */
bool tool_is_slow(const struct tool *t, const struct json *object);

/*
 * Bind the members of an object to the tool's argument struct, which is zeroed. If this fails, the
 * struct is of no use.
 *
 * The wire's rules: a required argument that is missing or wrong is "Missing or invalid <name>"; a
 * wrong optional one is ignored, and so are members that are not in the table.
 *
 * The model's rules: everything that is wrong or unknown is INVALID_ARGUMENTS, all of it named in
 * one message, so that one more try is enough. Numbers and booleans may be given as strings. Null
 * means absent; so does a blank string for an optional argument that is NONBLANK.
 */
int tool_bind(const struct tool *t, const struct json *object, void *args, struct err *e);

/* Bind an item of an ARG_OBJECTS argument, which tool_bind has checked. */
void tool_bind_item(const struct arg *table, const struct json *item, void *args);

/* Bind and run: the result (result_init) is in *ret, or -1 and *e. */
int tool_call(const struct tool *t, struct call *c, const struct json *object, struct result *ret,
	      struct err *e);

#endif
