/* SPDX-License-Identifier: MIT */
/* recording: touches by directory and name, written to the journal as they are made. */

#include "changes/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "changes/compare.h"
#include "changes/dirs.h"
#include "changes/entry.h"
#include "changes/limits.h"
#include "changes/rollback.h"
#include "workspace/workspace.h"

struct recorded {
	struct touches touches;
	struct arena memory; /* of everything in it */
	struct str root;     /* the workspace's path */
	uint64_t id;
	int64_t time_ms;
	uint64_t steps;
	uint32_t pin;
	bool movable;		 /* an object's content is not kept, or not apart from it, and the
				  * object may be elsewhere */
	struct unfinished done;	 /* the steps of an atomic change */
	struct open_change open; /* of a command */
};

static struct recorded *recorded_new(struct recording *r)
{
	struct recorded *k = mem_new(1, sizeof *k);
	struct timespec now;

	if (!k)
		return NULL;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	k->memory.max = LIMIT_CHANGE_MEMORY;
	k->root = ws_rules(journal_workspace(r->journal))->root;
	k->time_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	return k;
}

void recording_done(struct recording *r)
{
	struct recorded *k = r->kept;

	if (!k)
		return;
	if (r->about.flags & CHANGE_COMMAND)
		journal_remove_open(r->journal, &k->open);
	touches_done(&k->touches);
	if (k->pin)
		store_unpin(journal_store(r->journal), k->pin);
	arena_done(&k->memory);
	mem_free(k);
	r->kept = NULL;
}

uint64_t recording_id(const struct recording *r)
{
	return r->kept ? r->kept->id : 0;
}

static struct change change_of(const struct recording *r)
{
	return (struct change){
		.id = r->kept->id,
		.time_ms = r->kept->time_ms,
		.flags = r->about.flags | (r->missed ? CHANGE_INCOMPLETE : 0),
		.tool = r->about.tool,
		.subject = r->about.subject,
		.session = r->about.session,
		.undoes = r->about.undoes,
		.undo_count = r->about.undo_count,
	};
}

/* Give it a number and write that it has begun, before its first step. */
static void add_begin(struct recording *r, struct buf *out)
{
	struct store *s = journal_store(r->journal);
	const struct change c = change_of(r);
	AUTO_BUF content = { .max = LIMIT_CHANGE_MEMORY };

	record_put_change(&content, &c);
	record_put(out, store_seed(s), RECORD_BEGIN, c.id, buf_str(&content));
	out->failed |= content.failed;
	r->kept->pin = store_pin(s);
}

/* Write a step to the journal; an atomic change also remembers it. 0, or -1 with errno. */
static int write_step(struct recording *r, enum record_type type, struct str content)
{
	struct recorded *k = r->kept;
	AUTO_BUF out = { .max = LIMIT_CHANGE_MEMORY };
	uint64_t at;

	if (r->about.flags & CHANGE_ATOMIC) {
		struct unfinished *u = &k->done;
		const bool fits = u->count < u->room ||
				  arena_grow(&k->memory, &u->steps, &u->room, sizeof *u->steps);
		const struct str kept = arena_dup(&k->memory, content);
		if (!fits || !kept.p) {
			errno = ENOMEM;
			return -1;
		}
		u->steps[u->count++] = (struct unfinished_step){ type, kept };
	}
	if (k->steps++ == 0)
		add_begin(r, &out);
	record_put(&out, store_seed(journal_store(r->journal)), type, k->id, content);
	if (out.failed) {
		errno = ENOMEM;
		return -1;
	}
	return store_append(journal_store(r->journal), buf_str(&out), false, &at);
}

/* Where the directory is now; -1 if that is outside the workspace. */
static int present_path(const struct recorded *k, int dir, char out[PATH_MAX], struct str *ret)
{
	return dirs_text(dir, k->root, out, ret) ? 0 : -1;
}

/* The directory as this change knows it; NULL if it is outside, or there is no memory. */
static struct touched_dir *dir_of(struct recording *r, int dir)
{
	struct recorded *k = r->kept;
	struct touched_dir *d = touches_find_dir(&k->touches, dir);
	char text[PATH_MAX] UNINITIALISED;
	struct str now;

	if (d)
		return d;
	if (present_path(k, dir, text, &now) < 0)
		return NULL;
	d = touches_add_dir(&k->touches, &k->memory, dir);
	if (!d) {
		r->missed = true;
		return NULL;
	}
	d->path = d->text = arena_dup(&k->memory, now);
	d->moves = k->touches.moves;
	if (k->touches.first)
		touches_find_origin(&k->touches, &k->memory, dir, now, d);
	return d;
}

/* Those who watch a file tool want to know how many lines it has changed; but it may also remove a
 * directory with everything in it. */
static bool has_room_for_text(const struct recording *r)
{
	return !(r->about.flags & (CHANGE_ATOMIC | CHANGE_COMMAND)) &&
	       r->kept->memory.total < LIMIT_CHANGE_TEXTS;
}

static struct entry_store store_of(const struct recording *r)
{
	return (struct entry_store){
		.blobs = journal_blobs(r->journal),
		.pending = ws_pending(journal_workspace(r->journal)),
		/* What an undo removes has to be kept, however large it is. */
		.max_file =
			r->about.flags & CHANGE_ATOMIC ? INT64_MAX : journal_max_file(r->journal),
		.change = r->kept->id,
		.texts = has_room_for_text(r) ? &r->kept->memory : NULL,
	};
}

/* Where the directory is now. An atomic change moves directories itself, and asks each time. */
static bool dir_text(struct recording *r, struct touched_dir *d)
{
	struct recorded *k = r->kept;
	char text[PATH_MAX] UNINITIALISED;
	struct str now;

	if (d->moves == k->touches.moves && (k->steps == 0 || !(r->about.flags & CHANGE_ATOMIC)))
		return true;
	if (present_path(k, d->fd, text, &now) < 0)
		return false;
	if (!str_eq(d->text, now))
		d->text = arena_dup(&k->memory, now);
	d->moves = k->touches.moves;
	return d->text.p;
}

static int write_touch(struct recording *r, struct touched_dir *d, const char *name,
		       const struct path_state *before, int64_t dir_mtime_ns)
{
	char path[PATH_MAX + NAME_MAX + 2] UNINITIALISED;
	AUTO_BUF content = { .max = LIMIT_CHANGE_MEMORY };

	if (!dir_text(r, d))
		return 0;
	if (d->text.n + strlen(name) + 2 > sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	const struct touch_record record = {
		.number = r->kept->steps,
		.dir_mtime_ns = dir_mtime_ns,
		.path = dirs_join_to(path, d->text, str_of(name)),
		.before = *before,
	};
	record_put_touch(&content, &record);
	if (content.failed) {
		errno = ENOMEM;
		return -1;
	}
	return write_step(r, RECORD_TOUCH, buf_str(&content));
}

/* A link in the store counts as a name of the file. If the server dies before a file tool has
 * replaced the file, the next write finds two names, and would write in place: a reader could see
 * half of it. Only commands, which do that anyway, are spared the copy. */
static enum entry_keep way_of(const struct recording *r, enum touch_care care)
{
	return care == TOUCH_LAST && r->about.flags & CHANGE_COMMAND ? ENTRY_LINK : ENTRY_COPY;
}

/* Keep the content of what is there. 0, or -1 with errno: an atomic change must not overwrite what
 * it could not put back. */
static int keep(const struct recording *r, int dir, const char *name, enum touch_care care,
		struct path_state *st)
{
	const struct entry_store s = store_of(r);
	const int rc = entry_keep(&s, dir, name, way_of(r, care), st);

	return r->about.flags & CHANGE_ATOMIC && st->type == STATE_FILE ? rc : 0;
}

/* Whether the content that was there first would be lost. A link in the store is the same object:
 * what is written to the one is written to the other. */
static bool is_at_risk(const struct touched *t, enum touch_care care)
{
	if (t->before.type != STATE_FILE && t->before.type != STATE_SOCKET)
		return false;
	return (care != TOUCH_META && t->before.kept == KEPT_NOT) ||
	       (care == TOUCH_CONTENT && t->before.kept == KEPT_LINK);
}

/* Keep the content of an object that this change has touched under another name: it is there now,
 * and is about to be lost. */
static void keep_moved(struct recording *r, int dir, const char *name, enum touch_care care)
{
	struct recorded *k = r->kept;
	struct stat st;

	if (!k->movable || care == TOUCH_META || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	struct touched *t = touches_find_object(&k->touches, st.st_dev, st.st_ino);
	if (!t)
		return;
	if (is_at_risk(t, care))
		(void)keep(r, dir, name, care, &t->before);
	t->gone |= care == TOUCH_LAST;
}

/* An atomic change has to put back what was there a moment ago, and that may be something that it
 * has made itself. */
static int touch_again(struct recording *r, struct touched_dir *d, const char *name,
		       enum touch_care care)
{
	const int dir = d->fd;
	struct path_state now;

	entry_look(dir, name, &r->kept->memory, &now);
	if (care != TOUCH_META && keep(r, dir, name, care, &now) < 0)
		return -1;
	return write_touch(r, d, name, &now, dirs_mtime(dir));
}

/* A directory that is touched itself is known from now on, with the time that it had first. */
static void know_dir(struct recording *r, int dir, struct touched *t)
{
	AUTO_FD fd = openat(dir, t->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct touched_dir *known = fd < 0 ? NULL : dir_of(r, fd);

	if (known)
		t->before.mtime_ns = known->mtime_ns;
}

static struct touched *new_touch(struct recording *r, int dir, struct touched_dir *d,
				 const char *name)
{
	struct recorded *k = r->kept;
	struct touched *t = touches_add(&k->touches, &k->memory, d, name);

	if (!t)
		return NULL;
	entry_look(dir, name, &k->memory, &t->before);
	touches_note_object(&k->touches, t);
	if (t->before.type == STATE_DIR)
		know_dir(r, dir, t);
	return t;
}

/* Whether the object that was there first is still there. */
static bool is_still_there(int dir, const struct touched *t)
{
	struct stat st;

	return fstatat(dir, t->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == t->before.ino &&
	       st.st_dev == t->before.dev;
}

/* Keep what has to be kept, and write it down. 0, or -1 with errno. */
static int touch(struct recording *r, struct touched_dir *d, const char *name, enum touch_care care,
		 bool *may_be_link)
{
	struct recorded *k = r->kept;
	const int dir = d->fd;
	/* Only an atomic change is taken back step by step. */
	const int64_t dir_mtime_ns = r->about.flags & CHANGE_ATOMIC ? dirs_mtime(dir) : d->mtime_ns;
	struct touched *t = touches_find(&k->touches, d, str_of(name));
	const bool is_new = !t;
	if (is_new && !(t = new_touch(r, dir, d, name))) {
		errno = ENOMEM;
		return -1;
	}
	*may_be_link = !is_new || t->before.type == STATE_LINK;
	k->touches.moves += care == TOUCH_LAST && t->before.type == STATE_DIR;
	const bool there = is_new || (care != TOUCH_META && is_still_there(dir, t));
	const bool at_risk = there && is_at_risk(t, care);
	if (at_risk && keep(r, dir, name, care, &t->before) < 0 && is_new)
		return -1;
	k->movable |= t->before.kept == KEPT_NOT || t->before.kept == KEPT_LINK;
	t->gone |= care == TOUCH_LAST && there;
	if (!is_new)
		keep_moved(r, dir, name, care);
	if (!is_new && r->about.flags & CHANGE_ATOMIC)
		return touch_again(r, d, name, care);
	return is_new || at_risk ? write_touch(r, d, name, &t->before, dir_mtime_ns) : 0;
}

static bool begin(struct recording *r)
{
	if (r->kept)
		return true;
	r->kept = recorded_new(r);
	if (!r->kept)
		return false;
	r->kept->id = journal_number(r->journal);
	if (r->about.flags & CHANGE_COMMAND) {
		r->kept->open.about = change_of(r);
		journal_add_open(r->journal, &r->kept->open);
	}
	return true;
}

/* Something could not be kept. That matters only to an atomic change. */
static int fail(struct recording *r, const char *name, struct err *e)
{
	r->missed = true;
	if (!(r->about.flags & CHANGE_ATOMIC))
		return 0;
	return err_errno(e, "The present state of %s cannot be kept", name);
}

struct touched_dir *recording_dir(struct recording *r, int dir)
{
	if (begin(r))
		return dir_of(r, dir);
	r->missed = true;
	return NULL;
}

bool recording_touch_in(struct recording *r, struct touched_dir *d, const char *name,
			enum touch_care care)
{
	bool may_be_link = true;

	if (touch(r, d, name, care, &may_be_link) < 0)
		r->missed = true;
	return may_be_link;
}

void recording_note_move(struct recording *r)
{
	if (r->kept)
		r->kept->touches.moves++;
}

int recording_touch(struct recording *r, int dir, const char *name, enum touch_care care,
		    struct err *e)
{
	if (!r->journal)
		return 0;
	if (!begin(r)) {
		errno = ENOMEM;
		return fail(r, name, e);
	}
	struct touched_dir *d = dir_of(r, dir);
	bool ignored;
	return d && touch(r, d, name, care, &ignored) < 0 ? fail(r, name, e) : 0;
}

void recording_note_content(struct recording *r, int dir, const char *name, struct str content)
{
	struct recorded *k = r->kept;
	const bool small = k && (int64_t)content.n <= journal_max_file(r->journal);
	const struct touched_dir *d = small ? touches_find_dir(&k->touches, dir) : NULL;
	struct touched *t = d ? touches_find(&k->touches, d, str_of(name)) : NULL;
	struct left_content *left = t ? arena_alloc(&k->memory, sizeof *left) : NULL;

	if (!left)
		return;
	*left = (struct left_content){ .size = (int64_t)content.n };
	sha256_of(content, left->hash);
	if (content.n <= LIMIT_JOURNAL_SMALL && has_room_for_text(r))
		left->text = arena_dup(&k->memory, content);
	t->left = left;
}

/* One end of a move: the path of the name, empty in the stage. */
static struct str end_of_move(struct recording *r, int dir, const char *name)
{
	char text[PATH_MAX] UNINITIALISED;
	struct str now;

	if (dir == store_stage(journal_store(r->journal)) ||
	    present_path(r->kept, dir, text, &now) < 0)
		return STR("");
	return dirs_join(&r->kept->memory, now, str_of(name));
}

static int move(struct recording *r, int from_dir, const char *from, int to_dir, const char *to)
{
	const int dirs[] = { from_dir, to_dir };
	const char *const names[] = { from, to };
	AUTO_BUF content = { .max = LIMIT_CHANGE_MEMORY };
	struct stat st;

	if (fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	for (size_t i = 0; i < 2; i++) {
		struct touched_dir *d = dir_of(r, dirs[i]);
		if (!d || touches_find(&r->kept->touches, d, str_of(names[i])))
			continue;
		const struct touched *t = new_touch(r, dirs[i], d, names[i]);
		if (!t) {
			errno = ENOMEM;
			return -1;
		}
		r->kept->movable |= t->before.type == STATE_FILE;
	}
	const struct move_record m = {
		.number = r->kept->steps,
		.from = end_of_move(r, from_dir, from),
		.to = end_of_move(r, to_dir, to),
		.dev = st.st_dev,
		.ino = st.st_ino,
		.from_mtime_ns = dirs_mtime(from_dir),
		.to_mtime_ns = dirs_mtime(to_dir),
	};
	record_put_move(&content, &m);
	if (content.failed || r->kept->memory.failed) {
		errno = ENOMEM;
		return -1;
	}
	return write_step(r, RECORD_MOVE, buf_str(&content));
}

int recording_move(struct recording *r, int from_dir, const char *from, int to_dir, const char *to,
		   struct err *e)
{
	if (!begin(r)) {
		errno = ENOMEM;
		return fail(r, from, e);
	}
	return move(r, from_dir, from, to_dir, to) < 0 ? fail(r, from, e) : 0;
}

bool recording_finish(struct recording *r, struct arena *a, struct change *ret)
{
	struct recorded *k = r->kept;

	if (!k)
		return false;
	const struct entry_store s = store_of(r);
	struct change c = change_of(r);
	if (!compare_touches(&k->touches, &s, k->root, a, &c)) {
		if (k->steps)
			journal_drop(r->journal, k->id);
		recording_done(r);
		return false;
	}
	/* It has happened, whether it can be written down or not. */
	if (journal_commit(r->journal, &c) < 0)
		c.flags |= CHANGE_UNSAVED;
	store_trim(journal_store(r->journal));
	recording_done(r);
	*ret = c;
	return true;
}

int recording_take_back(struct recording *r, struct err *e)
{
	struct recorded *k = r->kept;

	if (!k)
		return 0;
	k->done.about = change_of(r);
	k->done.back = UINT64_MAX;
	const int rc = rollback_steps(r->journal, &k->done, e);
	if (rc == 0 && k->steps)
		journal_drop(r->journal, k->id);
	recording_done(r);
	return rc;
}

/* Continue a change of an earlier server with what it had touched, and finish it. */
static void finish_for(struct journal *j, const struct unfinished *u, int root)
{
	const struct recording_about about = {
		.tool = u->about.tool,
		.subject = u->about.subject,
		.session = u->about.session,
		.flags = u->about.flags | (u->about.flags & CHANGE_COMMAND ? CHANGE_INCOMPLETE : 0),
	};
	AUTO_RECORDING r = recording_of(j, &about);
	AUTO_ARENA a = { .max = LIMIT_CHANGE_MEMORY };
	struct change c;

	if (!(r.kept = recorded_new(&r)))
		return;
	struct recorded *k = r.kept;
	k->id = u->about.id;
	k->time_ms = u->about.time_ms;
	for (size_t i = 0; i < u->count; i++) {
		char name[NAME_MAX + 1];
		struct touch_record t;
		if (u->steps[i].type != RECORD_TOUCH || !record_get_touch(u->steps[i].content, &t))
			continue;
		AUTO_FD dir = dirs_open_parent(root, t.path, name);
		struct touched_dir *d = dir < 0 ? NULL : dir_of(&r, dir);
		struct touched *kept = d ? touches_find(&k->touches, d, str_of(name)) : NULL;
		if (d && !kept)
			kept = touches_add(&k->touches, &k->memory, d, name);
		if (kept) {
			kept->before = t.before;
			/* Its content was in danger: the object may be gone, and its number
			 * another one's. */
			kept->gone = t.before.kept != KEPT_NOT;
		}
		if (d && t.dir_mtime_ns && t.dir_mtime_ns < d->mtime_ns)
			d->mtime_ns = t.dir_mtime_ns;
		k->steps++;
	}
	(void)recording_finish(&r, &a, &c);
}

size_t recording_recover(struct journal *j)
{
	const struct path top = { .base = PATH_WORKSPACE };
	AUTO_ARENA a = { .max = LIMIT_CHANGE_MEMORY };
	struct unfinished *list;
	struct err e;
	AUTO_FD root = ws_open(journal_workspace(j), &top, O_PATH | O_DIRECTORY, &e);
	const size_t n = root < 0 ? 0 : journal_unfinished(j, &a, &list);

	/* The newest first: it may have touched what an older one had left. */
	for (size_t i = n; i-- > 0;) {
		if (!(list[i].about.flags & CHANGE_ATOMIC))
			finish_for(j, &list[i], root);
		else if (rollback_steps(j, &list[i], &e) == 0)
			journal_drop(j, list[i].about.id);
	}
	return n;
}
