/* SPDX-License-Identifier: MIT */
/* rollback: the steps in reverse, each noted when it is done. */

#include "changes/rollback.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "changes/dirs.h"
#include "changes/entry.h"
#include "workspace/workspace.h"

struct rollback {
	struct journal *journal;
	int root;
	struct entry_store store;
};

static int back_touch(const struct rollback *r, const struct touch_record *t)
{
	char name[NAME_MAX + 1];
	AUTO_FD dir = dirs_open_parent(r->root, t->path, name);

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

/* Open the directory of one end of a move. */
static int open_end(const struct rollback *r, struct str path, uint64_t ino,
		    char name[NAME_MAX + 1])
{
	if (path.n)
		return dirs_open_parent(r->root, path, name);
	(void)snprintf(name, NAME_MAX + 1, "%llx", (unsigned long long)ino);
	return fcntl(store_stage(journal_store(r->journal)), F_DUPFD_CLOEXEC, 3);
}

static bool is_there(int dir, const char *name, const struct move_record *m)
{
	struct stat st;

	return dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_ino == m->ino && st.st_dev == m->dev;
}

static int back_move(const struct rollback *r, const struct move_record *m)
{
	char from[NAME_MAX + 1], to[NAME_MAX + 1];
	AUTO_FD from_dir = open_end(r, m->from, m->ino, from);
	AUTO_FD to_dir = open_end(r, m->to, m->ino, to);

	if (!is_there(to_dir, to, m)) {
		if (is_there(from_dir, from, m))
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
static void note_back(const struct rollback *r, uint64_t change, uint64_t number)
{
	const struct touch_record t = { .number = number, .path = STR("-") };
	AUTO_BUF content = { .max = 256 };
	AUTO_BUF out = { .max = 512 };
	struct store *s = journal_store(r->journal);
	uint64_t at;

	record_put_touch(&content, &t);
	record_put(&out, store_seed(s), RECORD_BACK, change, buf_str(&content));
	if (!content.failed && !out.failed)
		(void)store_append(s, buf_str(&out), false, &at);
}

/* Put one step back; *number is which it is. 0, or -1 with errno, and its path. */
static int back_step(const struct rollback *r, const struct unfinished_step *step, uint64_t back,
		     uint64_t *number, struct str *path)
{
	struct touch_record t;
	struct move_record m;

	*number = UINT64_MAX;
	if (step->type == RECORD_TOUCH && record_get_touch(step->content, &t)) {
		*number = t.number;
		*path = t.path;
		return t.number >= back ? 0 : back_touch(r, &t);
	}
	if (step->type == RECORD_MOVE && record_get_move(step->content, &m)) {
		*number = m.number;
		*path = m.from.n ? m.from : m.to;
		return m.number >= back ? 0 : back_move(r, &m);
	}
	return 0;
}

int rollback_steps(struct journal *j, const struct unfinished *u, struct err *e)
{
	const struct workspace *ws = journal_workspace(j);
	const struct path top = { .base = PATH_WORKSPACE };
	AUTO_FD root = ws_open(ws, &top, O_PATH | O_DIRECTORY, e);
	const struct rollback r = {
		.journal = j,
		.root = root,
		.store = { .blobs = journal_blobs(j),
			   .pending = ws_pending(ws),
			   .max_file = journal_max_file(j),
			   .change = u->about.id },
	};
	int rc = root < 0 ? -1 : 0;

	for (size_t i = u->count; root >= 0 && i-- > 0;) {
		struct str path = STR("");
		uint64_t number;
		if (back_step(&r, &u->steps[i], u->back, &number, &path) < 0 && rc == 0)
			rc = err_errno(e, "Cannot put %.*s back", STR_FMT(path));
		/* From the first failure on the next start has to try again. */
		if (rc == 0 && number < u->back)
			note_back(&r, u->about.id, number);
	}
	return rc;
}
