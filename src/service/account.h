/* SPDX-License-Identifier: MIT */
/*
 * account: what is said of a call: what it was about, with which arguments, how it ended, and its
 * line in the log. Texts of clients lose their secrets.
 */
#ifndef SERVICE_ACCOUNT_H
#define SERVICE_ACCOUNT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/str.h"
#include "changes/record.h"
#include "scrub/scrub.h"
#include "tools/tool.h"
#include "workspace/workspace.h"

/* What paths of a call mean. */
struct account_paths {
	const struct workspace *ws;
	enum path_policy policy;
};

/* What a call is about, by the argument that says it: a path, a command, a pattern, an id. A path is
 * that in the workspace, unless it is refused or `paths` is NULL; all else is the client's text, all
 * of it. What had to be put together is in the arena. */
struct str account_subject(const struct account_paths *paths, const struct json *arguments,
			   struct arena *a);

/* As much of it as is shown, without secrets: at most LIMIT_SUBJECT characters. The result is part
 * of the text, or in `aside`, which needs nothing but a maximum. Empty if there is no memory, or
 * nothing says what a secret is. */
struct str account_clean(const struct scrub *secrets, struct str text, struct buf *aside);

/* For a writer of JSON: its texts lose their secrets. The owner ends `aside` with buf_done. */
struct value_cleaner {
	const struct scrub *secrets;
	struct str clean; /* a text, by its address, that is known to have no secret; or empty */
	struct buf aside;
	size_t longest;	  /* a longer text is cut; 0: none is */
	struct buf *both; /* it keeps both ends, which are put together here; NULL: the beginning */
	bool failed;	  /* there was no memory: what was written must not be used */
};

/* The apply function of a jw_filter, whose arg is a value_cleaner. */
struct str account_clean_value(void *cleaner, struct str value);

/* The value as JSON: whole, or with long texts cut, or "null" if nothing else fits. Most values are
 * short, and need only `small`; the others are in `large`, which has the limit. `clean` is as in
 * the cleaner. */
struct str account_arguments(const struct scrub *secrets, const struct json *value,
			     struct str clean, struct buf *small, struct buf *large);

/* What is kept of a long result of a command, as members or as a text: of its texts both ends, so
 * that all of it fits into `out`. Empty if it cannot. */
struct str account_ends(const struct scrub *secrets, struct str result, bool members,
			struct buf *out);

/* One call that has ended. */
struct account {
	int64_t id;
	struct str tool, subject, session; /* without secrets, cut */
	int64_t uid, pid;		   /* of the caller; -1: not known */
	int64_t began_us, ended_us;	   /* by io_now_us */
	int64_t ms;
	enum err_code code;  /* ERR_NONE: the tool succeeded */
	struct call_end end; /* of its command */
	int64_t bytes;	     /* of the result, with the output that was streamed */
	uint64_t change;     /* the change it made; 0: none */
	bool deletes;	     /* it has only deleted */
	bool denied;	     /* the sandbox has refused something to its command */
};

/* "path", "command", "sandbox": what kind of request a guard has refused; NULL if none has. */
const char *account_refusal(enum err_code code);

/* Log a change that has ended after its call. */
void account_log_change(uint64_t call, const struct change *c);

/* Log it: as JSON or, for people, as one short line. */
void account_log(const struct account *a);

#endif
