/* SPDX-License-Identifier: MIT */
/*
 * seen: a session changes only what it knows.
 *
 * What it has read, written, or been shown whole by a search is remembered if the call has a
 * tracker (workspace/tracker.h). call->reads says what must be known before a change:
 *
 *	CALL_READS_OVERWRITTEN	the whole of a file that is replaced. An edit needs nothing: a text
 *				that occurs exactly once was known.
 *	CALL_READS_CHANGED	a part, at least, of every file that is changed
 *
 * What counts is the content: a file that was touched, or replaced by an equal one, has not
 * changed.
 */
#ifndef TOOLS_SEEN_H
#define TOOLS_SEEN_H

#include "tools/result.h"
#include "tools/tool.h"
#include "workspace/replace.h"
#include "workspace/tracker.h"

/* The session, whose call has a tracker, has been shown this result, or a part of it. */
void seen_result(const struct call *c, const struct result *r);

/* The session has written this content; `whole`: it knows all of it. */
void seen_wrote(const struct call *c, const struct path *p, struct str content, bool whole);

/* Whether the session knows this content, which the file has now. */
enum tracker_verdict seen_check(const struct call *c, const struct path *p, struct str content);

/* Append the content of the file as the session last saw it. False if that is not known. */
bool seen_recall(const struct call *c, const struct path *p, struct buf *out);

/* FILE_NOT_READ or FILE_CHANGED if the session may not replace the whole file. */
int seen_may_overwrite(const struct call *c, const struct path *p, const struct replace *r,
		       struct err *e);

/* The same for a file whose content, and what the session knows of it, are at hand. */
int seen_may_lose(const struct call *c, const struct path *p, enum tracker_verdict seen,
		  struct str old, struct err *e);

/* The two refusals; both return -1. The second shows what changed since the session read the file,
 * if that is known and fits; `now` is its content. */
int seen_fail_unread(const struct call *c, const struct path *p, struct err *e);
int seen_fail_changed(const struct call *c, const struct path *p, struct str now, struct err *e);

#endif
