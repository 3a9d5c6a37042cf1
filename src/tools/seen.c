/* SPDX-License-Identifier: MIT */
/* seen: names and contents of files for the tracker. */

#include "tools/seen.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/io.h"
#include "search/hits.h"
#include "tools/limits.h"
#include "workspace/diff.h"
#include "workspace/workspace.h"

enum { KEY_SIZE = PATH_MAX + 4 };

/* The tracker's name for a file: its base and its path without links. */
static bool key_of(const struct call *c, const struct path *p, char key[KEY_SIZE])
{
	struct path canonical;
	struct err ignored;

	if (!c->tracker || ws_canonical(c->shared->ws, p, &canonical, &ignored) < 0)
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

/* The session has been given the file: `whole` is its content; or (`whole` is { NULL, 0 }) these
 * lines of it: then the file is read again from its descriptor. */
static void note_read(const struct call *c, const struct path *p, int fd, const struct stat *st,
		      struct str whole, const struct tracker_lines *lines)
{
	char key[KEY_SIZE];
	uint64_t hash;

	if (!key_of(c, p, key))
		return;
	if (whole.p)
		tracker_saw(c->tracker, c->session, str_of(key), whole, NULL);
	else if (read_small(c, fd, st, &whole))
		tracker_saw(c->tracker, c->session, str_of(key), whole, lines);
	else if (c->reads != CALL_READS_NONE && hash_file(fd, st, &hash))
		tracker_saw_hash(c->tracker, c->session, str_of(key), st->st_size, hash, lines);
}

void seen_wrote(const struct call *c, const struct path *p, struct str content, bool whole)
{
	static const struct tracker_lines none = { .first = 1, .last = 0, .total = INT64_MAX };
	char key[KEY_SIZE];

	if (key_of(c, p, key))
		tracker_saw(c->tracker, c->session, str_of(key), content, whole ? NULL : &none);
}

/* The lines of one file that a search has shown, as long as none is missing. */
struct shown {
	struct str path;
	struct buf text;
	int64_t next; /* the number of the line that is expected; 0: one is missing */
};

static void shown_done(struct shown *s)
{
	buf_done(&s->text);
}

static void show_hit(struct shown *s, struct hit hit)
{
	struct hit_line line;

	if (hit.line == 0)
		s->next = 0;
	while (s->next && hit_next_line(&hit, &line)) {
		if (line.number < s->next)
			continue;
		/* Of a long line only the beginning is shown. */
		const bool cut = line.cut || line.text.n > LIMIT_GREP_LINE;
		s->next = line.number > s->next || cut ? 0 : s->next + 1;
		buf_add(&s->text, line.text);
		buf_addc(&s->text, '\n');
	}
}

/* If the file has these lines and no others, it is seen. */
static void note_shown(const struct call *c, const struct shown *s)
{
	struct path path;
	struct stat st;
	struct str whole;
	struct err ignored;

	if (s->next < 2 || s->text.failed || call_path(c, s->path, &path, &ignored) < 0)
		return;
	AUTO_FD fd = ws_open_file(c->shared->ws, &path, &st, &ignored);
	if (fd < 0 || st.st_size > (off_t)s->text.n || !read_small(c, fd, &st, &whole))
		return;
	const struct str lines = buf_str(&s->text);
	if (str_eq(whole, lines) || str_eq(whole, str_upto(lines, lines.n - 1)))
		note_read(c, &path, fd, &st, whole, NULL);
}

/* The session has been shown the first `count` hits of a search. Files all of whose lines were
 * among them are seen. */
static void note_found(const struct call *c, const struct hits *hits, size_t count)
{
	struct hits_reader reader = { .hits = hits };
	CLEANUP(shown_done) struct shown s = { .text = { .max = LIMIT_TRACKED_CONTENT } };
	struct hit hit;

	while (count-- > 0 && hits_next(&reader, &hit)) {
		if (!str_eq(hit.path, s.path)) {
			note_shown(c, &s);
			buf_reset(&s.text, SIZE_MAX);
			s.path = hit.path;
			s.next = 1;
		}
		show_hit(&s, hit);
	}
	note_shown(c, &s);
}

void seen_result(const struct call *c, const struct result *r)
{
	const struct result_file *f = &r->file;
	const struct str nothing = { NULL, 0 };

	if (r->kind == RESULT_FOUND && r->found.show == FOUND_LINES)
		note_found(c, &r->found.found.hits, r->found.seen);
	if (f->fd < 0)
		return;
	if (r->kind == RESULT_IMAGE)
		note_read(c, &f->path, f->fd, &f->st, r->image.bytes, NULL);
	if (r->kind != RESULT_PAGE)
		return;
	const struct page *p = &r->page;
	const struct tracker_lines lines = {
		.first = p->first,
		.last = p->left_out ? 0 : p->first + p->text.out_lines - 1,
		.total = p->all_lines,
	};
	note_read(c, &f->path, f->fd, &f->st, p->whole ? p->text.content : nothing, &lines);
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

	(void)err_set(e, ERR_FILE_NOT_READ, "%.*s has not been read in this session.",
		      STR_FMT(ws_display(c->shared->ws, p, shown)));
	return err_advise(e, "Read it first, then change it.");
}

int seen_fail_changed(const struct call *c, const struct path *p, struct str now, struct err *e)
{
	char shown[2 * PATH_MAX];
	AUTO_BUF then = { .max = LIMIT_TRACKED_CONTENT };
	AUTO_BUF diff = { .max = LIMIT_ANSWER };

	if (now.n > LIMIT_EDIT_HINT_BYTES || !seen_recall(c, p, &then) ||
	    diff_lines(buf_str(&then), now, c->arena, &diff, e) < 0)
		buf_reset(&diff, 0);
	(void)err_set(e, ERR_FILE_CHANGED, "%.*s has changed since this session last read it.",
		      STR_FMT(ws_display(c->shared->ws, p, shown)));
	return err_advise(e, "Read it again, then change it.%s%.*s",
			  diff.n ? " What changed since then:\n" : "", STR_FMT(buf_str(&diff)));
}

static int fail_part(const struct call *c, const struct path *p, struct err *e)
{
	char shown[2 * PATH_MAX];

	(void)err_set(e, ERR_FILE_NOT_READ,
		      "Only a part of %.*s has been read in this session, and all of it would be "
		      "replaced.",
		      STR_FMT(ws_display(c->shared->ws, p, shown)));
	return err_advise(e, "Read the rest first, or change only a part of it.");
}

int seen_may_lose(const struct call *c, const struct path *p, enum tracker_verdict seen,
		  struct str old, struct err *e)
{
	switch (seen) {
	case TRACKER_UNSEEN:
		return seen_fail_unread(c, p, e);
	case TRACKER_PART:
		return c->reads == CALL_READS_OVERWRITTEN ? fail_part(c, p, e) : 0;
	case TRACKER_CHANGED:
		return seen_fail_changed(c, p, old, e);
	case TRACKER_SAME:
		break;
	}
	return 0;
}

int seen_may_overwrite(const struct call *c, const struct path *p, const struct replace *r,
		       struct err *e)
{
	AUTO_BUF old = { .max = LIMIT_EDIT_BYTES };

	if (c->reads == CALL_READS_NONE || !c->tracker || r->old < 0)
		return 0;
	if (replace_read(r, &old, e) < 0)
		return -1;
	return seen_may_lose(c, p, seen_check(c, p, buf_str(&old)), buf_str(&old), e);
}
