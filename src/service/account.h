/* SPDX-License-Identifier: MIT */
/*
 * account: what is said of a call: what it was about, how it ended, and its line in the log.
 */
#ifndef SERVICE_ACCOUNT_H
#define SERVICE_ACCOUNT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "changes/record.h"
#include "scrub/scrub.h"
#include "tools/tool.h"

/* What a call is about, by the argument that says it: a path, a command, a pattern, an id. It is
 * the client's text, all of it; words of a command without a shell are joined in the arena. */
struct str account_subject(const struct json *arguments, struct arena *a);

/* As much of it as is shown, without secrets: at most LIMIT_SUBJECT characters. The result is part
 * of the text, or in `aside`, which needs nothing but a maximum. Empty if there is no memory, or
 * nothing says what a secret is. */
struct str account_clean(const struct scrub *secrets, struct str text, struct buf *aside);

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
};

/* "path", "command", "sandbox": what kind of request a guard has refused; NULL if none has. */
const char *account_refusal(enum err_code code);

/* Log a change that has ended after its call. */
void account_log_change(uint64_t call, const struct change *c);

/* Log it: as JSON or, for people, as one short line. */
void account_log(const struct account *a);

#endif
