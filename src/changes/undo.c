/* SPDX-License-Identifier: MIT */
/* undo: read the changes, check, apply, commit; or take back. A change is applied in these steps:
 * objects to the stage, new things away, directories and objects back, contents, times. */

#include "changes/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "changes/dirs.h"
#include "changes/recording.h"
#include "workspace/pending.h"
#include "workspace/workspace.h"

/* The changes of a request, newest first. */
struct selection {
	uint64_t *ids;
	struct change *changes;
	size_t count;
};

static int newest_first(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

static bool has(const struct selection *s, uint64_t id)
{
	return bsearch(&id, s->ids, s->count, sizeof *s->ids, newest_first) != NULL;
}

static bool is_below(struct str path, struct str dir)
{
	return str_starts(path, dir) && path.n > dir.n && path.p[dir.n] == '/';
}

static bool is_asked_for(const struct undo_request *q, struct str path)
{
	for (size_t i = 0; i < q->path_count; i++) {
		const struct str p = q->paths[i];
		if (p.n == 0 || str_eq(path, p) || is_below(path, p))
			return true;
	}
	return q->path_count == 0;
}

static bool is_item_asked_for(const struct undo_request *q, const struct change_item *item)
{
	return is_asked_for(q, item->path) || (item->from.n && is_asked_for(q, item->from));
}

/* Whether it is a directory without which something that is asked for has no place to return to. */
static bool is_needed(const struct undo_request *q, int root, const struct change *c,
		      const struct change_item *dir)
{
	bool is_above = false, returns = false;

	for (size_t i = 0; i < q->path_count && !is_above; i++)
		is_above = is_below(q->paths[i], dir->path);
	if (!is_above || dir->kind != ITEM_DELETED || dir->before.type != STATE_DIR)
		return false;
	AUTO_FD now = dirs_open(root, dir->path); /* it may have been made again */
	for (size_t i = 0; i < c->item_count && now < 0 && !returns; i++)
		returns = is_below(item_was(&c->items[i]), dir->path) &&
			  is_item_asked_for(q, &c->items[i]);
	return returns;
}

/* Leave out what is not asked for. */
static void narrow(const struct undo_request *q, int root, struct change *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->item_count; i++)
		if (is_item_asked_for(q, &c->items[i]) || is_needed(q, root, c, &c->items[i]))
			c->items[kept++] = c->items[i];
	c->item_count = kept;
}

static int read_changes(struct journal *j, const struct undo_request *q, int root, struct arena *a,
			struct selection *s, struct err *e)
{
	struct change_entry entry;

	for (size_t i = 0; i < s->count; i++) {
		if (journal_find(j, s->ids[i], &entry, e) < 0)
			return -1;
		if (entry.flags & CHANGE_OPEN)
			return err_set(e, ERR_CONFLICT,
				       "Change %llu goes on: something of its command still "
				       "runs. Stop it, or wait until it has ended.",
				       (unsigned long long)entry.id);
		if (entry.undone_by && !has(s, entry.undone_by))
			return err_set(e, ERR_CONFLICT,
				       "Change %llu is undone already, by change %llu. To do it "
				       "again, undo that one.",
				       (unsigned long long)entry.id,
				       (unsigned long long)entry.undone_by);
		if (journal_read(j, &entry, true, a, &s->changes[i], e) < 0)
			return -1;
		narrow(q, root, &s->changes[i]);
	}
	return 0;
}

static int select_changes(struct journal *j, const struct undo_request *q, int root,
			  struct arena *a, struct selection *s, struct err *e)
{
	s->ids = arena_array(a, q->id_count + 1, sizeof *s->ids);
	s->changes = arena_array(a, q->id_count + 1, sizeof *s->changes);
	if (!s->ids || !s->changes)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to undo so much at once");
	for (size_t i = 0; i < q->id_count; i++) {
		struct change_entry entry;
		s->ids[i] = q->ids[i];
		/* What was done again is undone as that: it has what was there last. */
		while (journal_find(j, s->ids[i], &entry, e) == 0 && entry.redone_by)
			s->ids[i] = entry.redone_by;
	}
	qsort(s->ids, q->id_count, sizeof *s->ids, newest_first);
	for (size_t i = 0; i < q->id_count; i++)
		if (s->count == 0 || s->ids[s->count - 1] != s->ids[i])
			s->ids[s->count++] = s->ids[i];
	return read_changes(j, q, root, a, s, e);
}

static int judge(const struct undo_check *said, bool force, struct err *e)
{
	if (force)
		return 0;
	if (said->conflict_count)
		return err_set(e, ERR_CONFLICT,
			       "%.*s %s%s. Nothing was changed. With force it is overwritten; its "
			       "present state is kept and can be restored.",
			       STR_FMT(said->conflicts[0].path), said->conflicts[0].why,
			       said->conflict_count > 1 ? ", and there are more conflicts" : "");
	if (said->unsaved_count)
		return err_set(e, ERR_NOT_SAVED,
			       "The old content of %.*s%s was not saved, or is not kept any more. "
			       "Nothing was changed. With force the rest is restored.",
			       STR_FMT(said->unsaved[0]),
			       said->unsaved_count > 1 ? " and of others" : "");
	return 0;
}

/* An item on its way back. */
struct returning {
	const struct change_item *item;
	struct str was;	 /* its path before the change */
	bool staged;	 /* its object is in the stage … */
	uint64_t ino;	 /* … by this number */
	bool same_times; /* the directory has the time that the change left */
};

struct applying {
	struct recording *r;
	const struct entry_store *store;
	int root;
	bool force;
	int stage;	     /* where objects are put that go elsewhere */
	char stage_name[64]; /* of a stage in the workspace; or "" */
	struct returning *items;
	size_t count;
};

static int fail(struct str path, const char *what, struct err *e)
{
	return err_errno(e, "Cannot %s %.*s", what, STR_FMT(path));
}

static int by_path_after(const void *a, const void *b)
{
	const struct returning *x = a, *y = b;

	return str_cmp(x->item->path, y->item->path);
}

static int by_path_before(const void *a, const void *b)
{
	const struct returning *x = a, *y = b;

	return str_cmp(x->was, y->was);
}

static void sort(struct applying *p, int (*order)(const void *, const void *))
{
	if (p->count)
		qsort(p->items, p->count, sizeof *p->items, order);
}

static bool is_there(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A directory in which something is done. Its time is set back at once: if the change had left
 * another time, that is restored at the end. */
struct workplace {
	int dir;
	int64_t mtime_ns;
	char name[NAME_MAX + 1];
};

static void workplace_done(struct workplace *w)
{
	const int error = errno;

	if (w->dir >= 0 && w->mtime_ns != dirs_mtime(w->dir))
		(void)entry_set_mtime(w->dir, ".", w->mtime_ns);
	fd_closep(&w->dir);
	errno = error;
}

#define AUTO_WORKPLACE CLEANUP(workplace_done) struct workplace

/* Its `dir` is -1, with errno, if the path has no directory. */
static struct workplace workplace_of(const struct applying *p, struct str path)
{
	struct workplace w;

	w.dir = dirs_open_parent(p->root, path, w.name);
	w.mtime_ns = w.dir < 0 ? 0 : dirs_mtime(w.dir);
	return w;
}

/* A stage in the workspace, for a store on another file system. */
static int make_stage(struct applying *p, struct err *e)
{
	uint64_t random;

	io_random(&random, sizeof random);
	(void)snprintf(p->stage_name, sizeof p->stage_name, ".sidecar-undo-%016llx",
		       (unsigned long long)random);
	if (recording_touch(p->r, p->root, p->stage_name, TOUCH_LAST, e) < 0)
		return -1;
	if (mkdirat(p->root, p->stage_name, 0700) < 0)
		return fail(str_of(p->stage_name), "make", e);
	p->stage = openat(p->root, p->stage_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return p->stage < 0 ? fail(str_of(p->stage_name), "open", e) : 0;
}

static void stage_name(uint64_t ino, char out[32])
{
	(void)snprintf(out, 32, "%llx", (unsigned long long)ino);
}

static int to_stage(struct applying *p, struct returning *t, struct err *e)
{
	char staged[32];
	struct stat st;
	AUTO_WORKPLACE w = workplace_of(p, t->item->path);

	if (w.dir < 0 || fstatat(w.dir, w.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return p->force && errno == ENOENT ? 0 : fail(t->item->path, "move", e);
	/* With force, something else may have its name by now. */
	if (p->force && entry_type(st.st_mode) != t->item->after.type)
		return 0;
	stage_name(st.st_ino, staged);
	if (recording_move(p->r, w.dir, w.name, p->stage, staged, e) < 0)
		return -1;
	int rc = renameat2(w.dir, w.name, p->stage, staged, RENAME_NOREPLACE);
	if (rc < 0 && errno == EXDEV && !*p->stage_name) {
		if (make_stage(p, e) < 0 ||
		    recording_move(p->r, w.dir, w.name, p->stage, staged, e) < 0)
			return -1;
		rc = renameat2(w.dir, w.name, p->stage, staged, RENAME_NOREPLACE);
	}
	if (rc < 0)
		return fail(t->item->path, "move", e);
	t->staged = true;
	t->ino = st.st_ino;
	return 0;
}

static int from_stage(struct applying *p, struct returning *t, struct err *e)
{
	char staged[32];
	AUTO_WORKPLACE w = workplace_of(p, t->was);

	stage_name(t->ino, staged);
	if (w.dir < 0)
		return fail(t->was, "move something to", e);
	/* With force, something else may be in its place. */
	if (is_there(w.dir, w.name) &&
	    (recording_touch(p->r, w.dir, w.name, TOUCH_LAST, e) < 0 ||
	     entry_restore(p->store, w.dir, w.name, &(struct path_state){ .type = STATE_NONE }) <
		     0))
		return fail(t->was, "replace", e);
	if (recording_move(p->r, p->stage, staged, w.dir, w.name, e) < 0)
		return -1;
	if (renameat2(p->stage, staged, w.dir, w.name, RENAME_NOREPLACE) < 0)
		return fail(t->was, "move something to", e);
	return 0;
}

/* A file gets or loses a name: have another one that it has known, too. */
static int touch_other(struct applying *p, const struct path_state *st, struct err *e)
{
	char name[NAME_MAX + 1];
	AUTO_FD dir = st->type == STATE_FILE && st->link.n
			      ? dirs_open_parent(p->root, st->link, name)
			      : -1;

	return dir < 0 ? 0 : recording_touch(p->r, dir, name, TOUCH_META, e);
}

/* Remove what the change made, the deepest first. */
static int remove_created(struct applying *p, const struct returning *t, struct err *e)
{
	static const struct path_state nothing = { .type = STATE_NONE };
	AUTO_WORKPLACE w = workplace_of(p, t->item->path);

	if (w.dir < 0 || !is_there(w.dir, w.name))
		return p->force || errno == ENOENT ? 0 : fail(t->item->path, "remove", e);
	if (touch_other(p, &t->item->after, e) < 0 ||
	    recording_touch(p->r, w.dir, w.name, TOUCH_LAST, e) < 0)
		return -1;
	if (entry_restore(p->store, w.dir, w.name, &nothing) == 0)
		return 0;
	/* A directory into which others have put something stays. */
	return p->force && (errno == ENOTEMPTY || errno == EEXIST)
		       ? 0
		       : fail(t->item->path, "remove", e);
}

/* Make a directory again, open for us until everything is in it. */
static int make_dir(struct applying *p, const struct returning *t, struct err *e)
{
	AUTO_WORKPLACE w = workplace_of(p, t->was);
	struct path_state open = t->item->before;

	if (w.dir < 0)
		return fail(t->was, "make", e);
	open.mode |= 0700;
	if (recording_touch(p->r, w.dir, w.name, TOUCH_LAST, e) < 0)
		return -1;
	return entry_restore(p->store, w.dir, w.name, &open) < 0 ? fail(t->was, "make", e) : 0;
}

/* Whether the file is there that gets its content back by all of its names. */
static bool is_in_place(const struct workplace *w, const struct path_state *before)
{
	struct stat now;

	return before->type == STATE_FILE && before->kept == KEPT_BLOB && before->nlink > 1 &&
	       fstatat(w->dir, w->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       now.st_ino == before->ino && now.st_dev == before->dev;
}

static int restore_content(struct applying *p, const struct returning *t, struct err *e)
{
	const struct path_state *before = &t->item->before;
	const bool same = t->item->kind != ITEM_DELETED &&
			  entry_same_content(before, &t->item->after) &&
			  !entry_is_another(before, &t->item->after);
	AUTO_WORKPLACE w = workplace_of(p, t->was);

	if (check_is_lost(p->store, t->item) || (t->item->kind == ITEM_RENAMED && !t->staged)) {
		errno = ENODATA;
		return p->force ? 0 : fail(t->was, "restore", e); /* the rest is restored */
	}
	if (w.dir < 0)
		return fail(t->was, "restore", e);
	if (same && !p->force) {
		if (recording_touch(p->r, w.dir, w.name, TOUCH_META, e) < 0)
			return -1;
		return entry_set_meta(w.dir, w.name, before) < 0 ? fail(t->was, "restore", e) : 0;
	}
	const enum touch_care care = is_in_place(&w, before) ? TOUCH_CONTENT : TOUCH_LAST;
	if (touch_other(p, before, e) < 0 || touch_other(p, &t->item->after, e) < 0 ||
	    recording_touch(p->r, w.dir, w.name, care, e) < 0)
		return -1;
	return entry_restore(p->store, w.dir, w.name, before) < 0 ? fail(t->was, "restore", e) : 0;
}

/* Permissions and owner of directories, when nothing in them is changed any more. */
static int finish_dir(struct applying *p, const struct returning *t, struct err *e)
{
	AUTO_WORKPLACE w = workplace_of(p, t->was);

	if (w.dir < 0)
		return fail(t->was, "restore", e);
	if (t->item->kind != ITEM_DELETED &&
	    recording_touch(p->r, w.dir, w.name, TOUCH_META, e) < 0)
		return -1;
	return entry_set_meta(w.dir, w.name, &t->item->before) < 0 ? fail(t->was, "restore", e) : 0;
}

static void finish_time(struct applying *p, const struct returning *t)
{
	AUTO_FD dir = t->same_times ? dirs_open(p->root, t->was) : -1;

	if (dir >= 0)
		(void)entry_set_mtime(dir, ".", t->item->before.mtime_ns);
}

/* Whether the directory has the time that the change left: then no other process has changed it. */
static bool has_time(const struct applying *p, const struct change_item *item)
{
	if (item->after.type != STATE_DIR)
		return true; /* it is made again */
	AUTO_FD dir = dirs_open(p->root, item->path);
	return dir >= 0 && dirs_mtime(dir) == item->after.mtime_ns;
}

/* The time of a directory is to be set, and nothing else of it: have it known before that. */
static int touch_dir(struct applying *p, const struct change_item *item, struct err *e)
{
	char name[NAME_MAX + 1];
	AUTO_FD dir = item->path.n ? dirs_open_parent(p->root, item->path, name) : -1;

	return dir < 0 ? 0 : recording_touch(p->r, dir, name, TOUCH_META, e);
}

static bool is_dir(const struct returning *t)
{
	return t->item->before.type == STATE_DIR && t->item->kind != ITEM_CREATED;
}

/* Away with what is there, the deepest first: moved objects into the stage, new ones gone. */
static int clear(struct applying *p, struct err *e)
{
	sort(p, by_path_after);
	for (size_t i = p->count; i-- > 0;) {
		struct returning *t = &p->items[i];
		if ((t->item->kind == ITEM_RENAMED && to_stage(p, t, e) < 0) ||
		    (t->item->kind == ITEM_CREATED && remove_created(p, t, e) < 0))
			return -1;
	}
	return 0;
}

static int put_back(struct applying *p, struct err *e)
{
	sort(p, by_path_before);
	for (size_t i = 0; i < p->count; i++) {
		struct returning *t = &p->items[i];
		const bool make = is_dir(t) && t->item->after.type != STATE_DIR;
		if ((make && make_dir(p, t, e) < 0) || (t->staged && from_stage(p, t, e) < 0))
			return -1;
	}
	for (size_t i = 0; i < p->count; i++) {
		const struct returning *t = &p->items[i];
		if (t->item->kind != ITEM_CREATED && t->item->kind != ITEM_TIMES &&
		    t->item->before.type != STATE_DIR && restore_content(p, t, e) < 0)
			return -1;
	}
	return 0;
}

static int finish(struct applying *p, struct err *e)
{
	if (*p->stage_name && unlinkat(p->root, p->stage_name, AT_REMOVEDIR) < 0)
		return fail(str_of(p->stage_name), "remove", e);
	for (size_t i = p->count; i-- > 0;)
		if (is_dir(&p->items[i]) && p->items[i].item->kind != ITEM_TIMES &&
		    finish_dir(p, &p->items[i], e) < 0)
			return -1;
	for (size_t i = p->count; i-- > 0;)
		if (is_dir(&p->items[i]))
			finish_time(p, &p->items[i]);
	return 0;
}

/* Undo the change below `root`, in an atomic recording. What is overwritten is touched first. With
 * `force`, what is not as expected is passed over if it cannot be changed. -1 with the reason; the
 * caller takes the recording back. */
static int apply_backwards(struct recording *r, const struct entry_store *s, int root,
			   const struct change *c, bool force, struct err *e)
{
	struct applying p = { .r = r, .store = s, .root = root, .force = force };

	p.stage = store_stage(s->blobs->store);
	p.items = mem_new(c->item_count + 1, sizeof *p.items);
	if (!p.items)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to undo so much at once");
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < c->item_count; i++) {
		struct returning *t = &p.items[p.count++];
		t->item = &c->items[i];
		t->was = item_was(t->item);
		t->same_times = is_dir(t) && has_time(&p, t->item);
		if (t->item->kind == ITEM_TIMES && t->same_times)
			rc = touch_dir(&p, t->item, e);
	}
	if (rc == 0)
		rc = clear(&p, e) < 0 || put_back(&p, e) < 0 || finish(&p, e) < 0 ? -1 : 0;
	if (*p.stage_name)
		fd_closep(&p.stage);
	mem_free(p.items);
	return rc;
}

static void release(const struct entry_store *store, int root, const struct change *c)
{
	for (size_t i = 0; i < c->item_count; i++) {
		char name[NAME_MAX + 1];
		const struct change_item *item = &c->items[i];
		AUTO_FD dir = item->before.kept == KEPT_LINK
				      ? dirs_open_parent(root, item_was(item), name)
				      : -1;
		if (dir >= 0)
			entry_release(store, dir, name, &item->before);
	}
}

/* Apply all of it in one recording; if a step fails, take it back. */
static int carry_out(struct journal *j, const struct undo_request *q, const struct selection *s,
		     const struct entry_store *store, int root, struct arena *a,
		     struct undo_result *ret, struct err *e)
{
	const struct recording_about about = {
		.tool = q->tool,
		.subject = q->subject,
		.session = q->session,
		.flags = CHANGE_ATOMIC | (q->path_count ? 0 : CHANGE_UNDO),
		.undoes = s->ids,
		.undo_count = q->path_count ? 0 : s->count,
	};
	AUTO_RECORDING r = recording_of(j, &about);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->count; i++)
		rc = apply_backwards(&r, store, root, &s->changes[i], q->force, e);
	if (rc < 0 || recording_commit(&r, a, &ret->made, e) < 0)
		return recording_take_back(&r, e);
	ret->change = ret->made.id;
	for (size_t i = 0; i < s->count; i++)
		release(store, root, &s->changes[i]);
	return 0;
}

/* What lies in a git directory outside is taken back only while commands may change it. */
static int check_git(const struct path_rules *rules, const struct selection *s, struct err *e)
{
	struct str below;

	for (size_t i = 0; i < s->count; i++) {
		const struct change *c = &s->changes[i];
		for (size_t k = 0; k < c->item_count; k++) {
			const struct str path = c->items[k].path;
			bool known = !str_starts(path, STR("/"));
			for (size_t g = 0; g < PATH_GITS && !known; g++)
				known = rules->git[g].n && path_within(rules->git[g], path, &below);
			if (!known)
				return err_set(e, ERR_PATH_OUTSIDE_WORKSPACE,
					       "%.*s is in a git directory that this workspace "
					       "does not use now: start with --git auto where "
					       ".git leads to it",
					       STR_FMT(path));
		}
	}
	return 0;
}

static int undo(struct journal *j, const struct undo_request *q, struct arena *a,
		struct undo_result *ret, struct err *e)
{
	const struct workspace *ws = journal_workspace(j);
	const struct path top = { .base = PATH_WORKSPACE };
	AUTO_FD root = ws_open(ws, &top, O_PATH | O_DIRECTORY, e);
	const struct entry_store store = {
		.blobs = journal_blobs(j),
		.root = &root,
		.pending = ws_pending(ws),
		.max_file = journal_max_file(j),
	};
	struct selection s = { .count = 0 };

	if (root < 0 || select_changes(j, q, root, a, &s, e) < 0 ||
	    check_git(ws_rules(ws), &s, e) < 0 ||
	    check_changes(&store, root, s.changes, s.count, a, &ret->said, e) < 0 ||
	    judge(&ret->said, q->force, e) < 0)
		return -1;
	for (size_t i = 0; i < s.count; i++)
		ret->incomplete |= (s.changes[i].flags & CHANGE_INCOMPLETE) != 0;
	return q->dry_run ? 0 : carry_out(j, q, &s, &store, root, a, ret, e);
}

int undo_changes(struct journal *j, const struct undo_request *q, struct arena *a,
		 struct undo_result *ret, struct err *e)
{
	*ret = (struct undo_result){ .change = 0 };
	journal_lock_undo(j);
	const int rc = undo(j, q, a, ret, e);
	journal_unlock_undo(j);
	return rc;
}
