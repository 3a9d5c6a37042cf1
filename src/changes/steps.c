/* SPDX-License-Identifier: MIT */
/* steps: written one by one, and put back in reverse, each noted when it is done. */

#include "changes/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "changes/dirs.h"
#include "changes/entry.h"
#include "changes/limits.h"
#include "workspace/workspace.h"

bool steps_add(struct steps *s, const struct change_step *step)
{
	const bool fits =
		s->count < s->room || arena_grow(s->memory, &s->list, &s->room, sizeof *s->list);
	const struct str kept = arena_dup(s->memory, step->content);

	if (!fits || !kept.p) {
		errno = ENOMEM;
		return false;
	}
	s->list[s->count] = *step;
	s->list[s->count++].content = kept;
	return true;
}

static void put_begin(const struct steps *s, struct buf *out)
{
	AUTO_BUF content = { .max = LIMIT_CHANGE_MEMORY };

	record_put_change(&content, &s->about);
	record_put(out, store_seed(journal_store(s->journal)), RECORD_BEGIN, s->about.id,
		   buf_str(&content));
	out->failed |= content.failed;
}

/* Remember a step, if it may have to be taken back, and write it down, the first one with the
 * begin of the change. 0, or -1 with errno. */
static int add(struct steps *s, enum record_type type, int dir, const struct buf *content,
	       struct str text)
{
	const struct change_step step = { type, dir, buf_str(content), text };
	AUTO_BUF out = { .max = LIMIT_CHANGE_MEMORY };
	uint64_t at;

	if (content->failed)
		errno = ENOMEM;
	if (content->failed || (s->memory && !steps_add(s, &step)))
		return -1;
	if (dir >= 0)
		return 0;
	if (s->written++ == 0)
		put_begin(s, &out);
	record_put(&out, store_seed(journal_store(s->journal)), type, s->about.id, step.content);
	if (out.failed) {
		errno = ENOMEM;
		return -1;
	}
	/* The end of the change names it once more. */
	s->part.written += 2 * (int64_t)out.n;
	return store_append(journal_store(s->journal), &s->part, buf_str(&out), false, &at);
}

int steps_touch(struct steps *s, const struct step_place *at, const struct path_state *before,
		int64_t dir_mtime_ns)
{
	const struct touch_record t = { s->written, dir_mtime_ns, at->path, *before };
	AUTO_BUF content = { .max = LIMIT_CHANGE_MEMORY };

	record_put_touch(&content, &t);
	return add(s, RECORD_TOUCH, at->dir, &content, before->text);
}

int steps_put(struct steps *s, const struct step_place *at, struct str aside,
	      const struct stat *new, int64_t dir_mtime_ns)
{
	const struct put_record p = { .number = s->written,
				      .dir_mtime_ns = dir_mtime_ns,
				      .path = at->path,
				      .aside = aside,
				      .dev = new ? new->st_dev : 0,
				      .ino = new ? new->st_ino : 0 };
	AUTO_BUF content = { .max = LIMIT_CHANGE_MEMORY };

	record_put_put(&content, &p);
	return add(s, RECORD_PUT, at->dir, &content, STR(""));
}

int steps_move(struct steps *s, struct move_record *m)
{
	AUTO_BUF content = { .max = LIMIT_CHANGE_MEMORY };

	m->number = s->written;
	record_put_move(&content, m);
	return add(s, RECORD_MOVE, -1, &content, STR(""));
}

/* On the way back. */
struct rollback {
	struct journal *journal;
	int root;
	struct entry_store store;
};

/* Open the directory of a step; `name` is the name in it. -1 with errno. */
static int open_dir(const struct rollback *r, const struct change_step *step, struct str path,
		    char name[NAME_MAX + 1])
{
	if (step->dir < 0)
		return dirs_open_parent(r->root, path, name);
	(void)snprintf(name, NAME_MAX + 1, "%.*s", STR_FMT(path));
	return fcntl(step->dir, F_DUPFD_CLOEXEC, 3);
}

static int back_touch(const struct rollback *r, const struct change_step *step,
		      struct touch_record *t)
{
	char name[NAME_MAX + 1];
	AUTO_FD dir = open_dir(r, step, t->path, name);

	t->before.text = step->text;
	/* A directory that is not there any more has been put back, with what was in it. */
	if (dir < 0)
		return t->before.type == STATE_NONE && errno == ENOENT ? 0 : -1;
	if (entry_restore(&r->store, dir, name, &t->before) < 0)
		return -1;
	if (t->before.type == STATE_DIR)
		(void)entry_set_mtime(dir, name, t->before.mtime_ns);
	if (t->dir_mtime_ns)
		(void)entry_set_mtime(dir, ".", t->dir_mtime_ns);
	return 0;
}

static bool is_there(int dir, const char *name, uint64_t dev, uint64_t ino)
{
	struct stat st;

	return dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == ino &&
	       st.st_dev == dev;
}

/* What was set aside gets its name back, whatever it is, and what has that goes. */
static int return_aside(int dir, const char *aside, const char *name)
{
	if (renameat2(dir, aside, dir, name, RENAME_EXCHANGE) == 0)
		return unlinkat(dir, aside, 0);
	if (renameat(dir, aside, dir, name) < 0)
		return -1;
	/* If both are names of one inode, a rename does nothing. */
	(void)unlinkat(dir, aside, 0);
	return 0;
}

/* Remove a directory that was made; it stays if others have put something in it. */
static int remove_made(int dir, const char *name)
{
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return 0;
	return errno == ENOENT || errno == ENOTDIR || errno == ENOTEMPTY || errno == EEXIST ? 1
											    : -1;
}

/* What was set aside comes back as the object that it is. What others have put at the name since,
 * and what they did before it was to be changed, stays. Returns 1 if there was nothing to do. */
static int back_names(int dir, const char *name, const struct put_record *p)
{
	char aside[NAME_MAX + 1];
	struct stat st;

	(void)snprintf(aside, sizeof aside, "%.*s", STR_FMT(p->aside));
	if (!*aside && !p->ino)
		return remove_made(dir, name);
	const char *at = *aside ? aside : name;
	if (fstatat(dir, at, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 1 : -1;
	/* The new object, in its place or not there yet. */
	if (st.st_ino == p->ino && st.st_dev == p->dev)
		return unlinkat(dir, at, 0);
	return *aside ? return_aside(dir, aside, name) : 1;
}

static int back_put(const struct rollback *r, const struct change_step *step,
		    const struct put_record *p)
{
	char name[NAME_MAX + 1];
	AUTO_FD dir = open_dir(r, step, p->path, name);

	if (dir < 0)
		return !p->aside.n && errno == ENOENT ? 0 : -1;
	const int rc = back_names(dir, name, p);
	if (rc == 0)
		(void)entry_set_mtime(dir, ".", p->dir_mtime_ns);
	return rc < 0 ? -1 : 0;
}

/* Open the directory of one end of a move. */
static int open_end(const struct rollback *r, struct str path, uint64_t ino,
		    char name[NAME_MAX + 1])
{
	if (path.n)
		return dirs_open_parent(r->root, path, name);
	(void)snprintf(name, NAME_MAX + 1, "%llx", (unsigned long long)ino);
	return fcntl(store_stage(journal_store(r->journal)), F_DUPFD_CLOEXEC, 3);
}

static int back_move(const struct rollback *r, const struct move_record *m)
{
	char from[NAME_MAX + 1], to[NAME_MAX + 1];
	AUTO_FD from_dir = open_end(r, m->from, m->ino, from);
	AUTO_FD to_dir = open_end(r, m->to, m->ino, to);

	if (!is_there(to_dir, to, m->dev, m->ino)) {
		if (is_there(from_dir, from, m->dev, m->ino))
			return 0;
		errno = ENOENT;
		return -1;
	}
	if (from_dir < 0 || renameat2(to_dir, to, from_dir, from, RENAME_NOREPLACE) < 0)
		return -1;
	if (m->from.n)
		(void)entry_set_mtime(from_dir, ".", m->from_mtime_ns);
	if (m->to.n)
		(void)entry_set_mtime(to_dir, ".", m->to_mtime_ns);
	return 0;
}

/* Write down how far it is. */
static void note_back(const struct rollback *r, const struct store_part *p, uint64_t number)
{
	const struct touch_record t = { .number = number, .path = STR("-") };
	AUTO_BUF content = { .max = 256 };
	AUTO_BUF out = { .max = 512 };
	struct store *s = journal_store(r->journal);
	uint64_t at;

	record_put_touch(&content, &t);
	record_put(&out, store_seed(s), RECORD_BACK, p->change, buf_str(&content));
	if (!content.failed && !out.failed)
		(void)store_append(s, p, buf_str(&out), false, &at);
}

/* Put one step back; *number is which it is. 0, or -1 with errno, and its path. */
static int back_step(const struct rollback *r, const struct change_step *step, uint64_t back,
		     uint64_t *number, struct str *path)
{
	struct touch_record t;
	struct move_record m;
	struct put_record p;

	*number = UINT64_MAX;
	if (step->type == RECORD_TOUCH && record_get_touch(step->content, &t)) {
		*number = t.number;
		*path = t.path;
		return t.number >= back ? 0 : back_touch(r, step, &t);
	}
	if (step->type == RECORD_MOVE && record_get_move(step->content, &m)) {
		*number = m.number;
		*path = m.from.n ? m.from : m.to;
		return m.number >= back ? 0 : back_move(r, &m);
	}
	if (step->type == RECORD_PUT && record_get_put(step->content, &p)) {
		*number = p.number;
		*path = p.path;
		return p.number >= back ? 0 : back_put(r, step, &p);
	}
	return 0;
}

static int go_back(const struct rollback *r, const struct steps *u, struct err *e)
{
	int rc = 0;

	for (size_t i = u->count; i-- > 0;) {
		const struct change_step *step = &u->list[i];
		struct str path = STR("");
		uint64_t number;
		if (back_step(r, step, u->back, &number, &path) < 0 && rc == 0)
			rc = err_errno(e, "Cannot put %.*s back", STR_FMT(path));
		/* From the first failure on the next start has to try again. */
		if (rc == 0 && number < u->back && step->dir < 0)
			note_back(r, &u->part, number);
	}
	return rc;
}

int steps_take_back(const struct steps *s, struct err *e)
{
	const struct path top = { .base = PATH_WORKSPACE };
	struct journal *j = s->journal;
	struct rollback r = { .journal = j, .root = -1 };

	if (!j)
		return go_back(&r, s, e);
	const struct workspace *ws = journal_workspace(j);
	AUTO_FD root = ws_open(ws, &top, O_PATH | O_DIRECTORY, e);
	r.root = root;
	r.store = (struct entry_store){ .root = &r.root,
					.blobs = journal_blobs(j),
					.pending = ws_pending(ws),
					.max_file = journal_max_file(j) };
	struct err why;
	/* Without the root, what is remembered can still be put back. */
	const int rc = go_back(&r, s, root < 0 ? &why : e);
	return root < 0 ? -1 : rc;
}
