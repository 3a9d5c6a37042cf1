/* SPDX-License-Identifier: MIT */
/* seen: names and contents of files for the tracker. */

#include "tools/seen.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/limits.h"
#include "workspace/diff.h"
#include "workspace/workspace.h"

enum { KEY_SIZE = PATH_MAX + 4 };

/* The tracker's name for a file: its base and its path without links. */
static bool key_of(const struct call *c, const struct path *p, char key[KEY_SIZE])
{
	struct path canonical;
	struct err ignored;

	if (!c->tracker || ws_canonical(c->ws, p, &canonical, &ignored) < 0)
		return false;
	(void)snprintf(key, KEY_SIZE, "%d:%s", (int)canonical.base, canonical.name);
	return true;
}

/* The whole content of a small file; false if it cannot be read or has changed its size. */
static bool read_small(const struct call *c, int fd, const struct stat *st, struct str *ret)
{
	if (st->st_size > LIMIT_TRACKED_CONTENT)
		return false;
	char *bytes = arena_alloc(c->arena, (size_t)st->st_size + 1);
	if (!bytes || io_pread_full(fd, bytes, (size_t)st->st_size + 1, 0) != st->st_size)
		return false;
	*ret = (struct str){ bytes, (size_t)st->st_size };
	return true;
}

/* The hash of the whole file; false if it cannot be read, has changed its size, or is too large to
 * be edited, so that its hash is not needed. */
static bool hash_file(int fd, const struct stat *st, uint64_t *ret)
{
	char piece[32 << 10];
	off_t at = 0;
	ssize_t n = 0;

	if (st->st_size > LIMIT_EDIT_BYTES)
		return false;
	struct tracker_hash *h = tracker_hash_new();
	if (!h)
		return false;
	while (at <= st->st_size && (n = io_pread_full(fd, piece, sizeof piece, at)) > 0) {
		tracker_hash_add(h, (struct str){ piece, (size_t)n });
		at += n;
	}
	const uint64_t hash = tracker_hash_end(h);
	if (n < 0 || at != st->st_size)
		return false;
	*ret = hash;
	return true;
}

void seen_read(const struct call *c, const struct path *p, int fd, const struct stat *st,
	       struct str whole)
{
	char key[KEY_SIZE];
	uint64_t hash;

	if (!key_of(c, p, key))
		return;
	if (whole.p || read_small(c, fd, st, &whole))
		tracker_saw(c->tracker, c->session, str_of(key), whole);
	else if (hash_file(fd, st, &hash))
		tracker_saw_hash(c->tracker, c->session, str_of(key), st->st_size, hash);
}

void seen_wrote(const struct call *c, const struct path *p, struct str content)
{
	char key[KEY_SIZE];

	if (key_of(c, p, key))
		tracker_saw(c->tracker, c->session, str_of(key), content);
}

enum tracker_verdict seen_check(const struct call *c, const struct path *p, struct str content)
{
	char key[KEY_SIZE];

	if (!c->tracker)
		return TRACKER_SAME;
	if (!key_of(c, p, key))
		return TRACKER_UNSEEN;
	return tracker_check(c->tracker, c->session, str_of(key), content);
}

bool seen_recall(const struct call *c, const struct path *p, struct buf *out)
{
	char key[KEY_SIZE];

	return key_of(c, p, key) && tracker_recall(c->tracker, c->session, str_of(key), out);
}

int seen_fail_unread(const struct call *c, const struct path *p, struct err *e)
{
	char shown[2 * PATH_MAX];

	return err_set(e, ERR_FILE_NOT_READ,
		       "%.*s has not been read in this session. Read it first, then change it.",
		       STR_FMT(ws_display(c->ws, p, shown)));
}

int seen_fail_changed(const struct call *c, const struct path *p, struct str now, struct err *e)
{
	char shown[2 * PATH_MAX];
	AUTO_BUF then = { .max = LIMIT_TRACKED_CONTENT };
	AUTO_BUF diff = { .max = LIMIT_ANSWER };

	if (now.n > LIMIT_EDIT_HINT_BYTES || !seen_recall(c, p, &then) ||
	    diff_lines(buf_str(&then), now, c->arena, &diff, e) < 0)
		buf_reset(&diff, 0);
	return err_set(e, ERR_FILE_CHANGED,
		       "%.*s has changed since this session last read it. Read it again, then "
		       "change it.%s%.*s",
		       STR_FMT(ws_display(c->ws, p, shown)),
		       diff.n ? " What changed since then:\n" : "", STR_FMT(buf_str(&diff)));
}

int seen_may_overwrite(const struct call *c, const struct path *p, const struct replace *r,
		       struct err *e)
{
	AUTO_BUF old = { .max = LIMIT_EDIT_BYTES };

	if (!c->tracker || r->old < 0)
		return 0;
	if (replace_read(r, &old, e) < 0)
		return -1;
	switch (seen_check(c, p, buf_str(&old))) {
	case TRACKER_UNSEEN:
		return seen_fail_unread(c, p, e);
	case TRACKER_CHANGED:
		return seen_fail_changed(c, p, buf_str(&old), e);
	case TRACKER_SAME:
		break;
	}
	return 0;
}
