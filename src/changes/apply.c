/* SPDX-License-Identifier: MIT */
/* apply: objects to the stage, new things away, directories and objects back, contents, times. */

#include "changes/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "changes/check.h"
#include "changes/dirs.h"

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

/* Remove what the change made, the deepest first. */
static int remove_created(struct applying *p, const struct returning *t, struct err *e)
{
	static const struct path_state nothing = { .type = STATE_NONE };
	AUTO_WORKPLACE w = workplace_of(p, t->item->path);

	if (w.dir < 0 || !is_there(w.dir, w.name))
		return p->force || errno == ENOENT ? 0 : fail(t->item->path, "remove", e);
	if (recording_touch(p->r, w.dir, w.name, TOUCH_LAST, e) < 0)
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

static int restore_content(struct applying *p, const struct returning *t, struct err *e)
{
	const struct path_state *before = &t->item->before;
	const bool same =
		t->item->kind != ITEM_DELETED && entry_same_content(before, &t->item->after);
	const bool in_place =
		before->type == STATE_FILE && before->kept == KEPT_BLOB && before->nlink > 1;
	AUTO_WORKPLACE w = workplace_of(p, t->was);

	if (check_is_lost(p->store, t->item))
		return 0; /* forced: the rest is restored */
	if (w.dir < 0)
		return fail(t->was, "restore", e);
	if (same && !p->force) {
		if (recording_touch(p->r, w.dir, w.name, TOUCH_META, e) < 0)
			return -1;
		return entry_set_meta(w.dir, w.name, before) < 0 ? fail(t->was, "restore", e) : 0;
	}
	if (recording_touch(p->r, w.dir, w.name, in_place ? TOUCH_CONTENT : TOUCH_LAST, e) < 0)
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

int apply_backwards(struct recording *r, const struct entry_store *s, int root,
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
