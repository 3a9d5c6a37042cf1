/* SPDX-License-Identifier: MIT */
/*
 * seen: a session changes only what it has read.
 *
 * The rule applies if the call has a tracker (workspace/tracker.h); without one these functions do
 * nothing and allow everything. What counts is the content: a file that was touched, or replaced by
 * an equal one, has not changed.
 */
#ifndef TOOLS_SEEN_H
#define TOOLS_SEEN_H

#include <sys/stat.h>

#include "tools/tool.h"
#include "workspace/replace.h"
#include "workspace/tracker.h"

/* The session has been given the file, or a part of it. `whole` is its content, or { NULL, 0 } if
 * only a part was read: then the file is read again from its descriptor. */
void seen_read(const struct call *c, const struct path *p, int fd, const struct stat *st,
	       struct str whole);

/* The session has written this content. */
void seen_wrote(const struct call *c, const struct path *p, struct str content);

/* Whether the session knows this content, which the file has now. */
enum tracker_verdict seen_check(const struct call *c, const struct path *p, struct str content);

/* Append the content of the file as the session last saw it. False if that is not known. */
bool seen_recall(const struct call *c, const struct path *p, struct buf *out);

/* FILE_NOT_READ or FILE_CHANGED if the session may not replace the whole file. */
int seen_may_overwrite(const struct call *c, const struct path *p, const struct replace *r,
		       struct err *e);

/* The two refusals; both return -1. The second shows what changed since the session read the file,
 * if that is known and fits; `now` is its content. */
int seen_fail_unread(const struct call *c, const struct path *p, struct err *e);
int seen_fail_changed(const struct call *c, const struct path *p, struct str now, struct err *e);

#endif
