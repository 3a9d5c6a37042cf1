/* SPDX-License-Identifier: MIT */
/*
 * seen: a session changes only what it has read.
 *
 * The rule holds when the call has a tracker (workspace/tracker.h); without one all of these do
 * nothing and allow everything. What counts is the content: a file that was touched, or replaced by
 * an equal one, has not changed.
 */
#ifndef TOOLS_SEEN_H
#define TOOLS_SEEN_H

#include <sys/stat.h>

#include "tools/tool.h"
#include "workspace/replace.h"
#include "workspace/tracker.h"

/* The session has been given the file, or a part of it. `whole` is its content, or { NULL, 0 } when
 * only a part was read: then the file is read once more from its descriptor. */
void seen_read(const struct call *c, const struct path *p, int fd, const struct stat *st,
	       struct str whole);

/* The session has written this content. */
void seen_wrote(const struct call *c, const struct path *p, struct str content);

/* What the session knows of a file that has this content now. */
enum tracker_verdict seen_check(const struct call *c, const struct path *p, struct str content);

/* Append the content of the file as the session last saw it. False when that is not known. */
bool seen_recall(const struct call *c, const struct path *p, struct buf *out);

/* May the file be replaced whole? FILE_NOT_READ or FILE_CHANGED when not. */
int seen_may_overwrite(const struct call *c, const struct path *p, const struct replace *r,
		       struct err *e);

/* The two refusals; both return -1. The second shows what changed since the session read the file,
 * as far as that is known and fits; `now` is its content. */
int seen_fail_unread(const struct call *c, const struct path *p, struct err *e);
int seen_fail_changed(const struct call *c, const struct path *p, struct str now, struct err *e);

#endif
