/* SPDX-License-Identifier: MIT */
/* recording: touches by directory and name, written to the journal as they are made. */

#include "changes/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "changes/compare.h"
#include "changes/dirs.h"
#include "changes/entry.h"
#include "changes/limits.h"
#include "changes/steps.h"
#include "workspace/workspace.h"

struct recorded {
	struct steps steps;
	struct touches touches;
	struct arena memory;	 /* of everything in it */
	bool lost;		 /* it has become too large: nothing is kept any more */
	bool movable;		 /* an object's content is not kept, or not apart from it, and the
				  * object may be elsewhere */
	struct open_change open; /* of a command */
};

static bool is_atomic(const struct recording *r)
{
	return r->about.flags & CHANGE_ATOMIC;
}

static struct recorded *recorded_new(struct recording *r)
{
	struct recorded *k = mem_new(1, sizeof *k);
	struct timespec now;

	if (!k)
		return NULL;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	k->memory.max = LIMIT_CHANGE_MEMORY;
	k->touches.rules = r->journal ? ws_rules(journal_workspace(r->journal)) : NULL;
	k->touches.has_outside = is_atomic(r);
	k->steps = (struct steps){
		.journal = r->journal,
		.memory = is_atomic(r) ? &k->memory : NULL,
		.back = UINT64_MAX,
		.about = { .time_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000,
			   .flags = r->about.flags,
			   .tool = r->about.tool,
			   .subject = r->about.subject,
			   .session = r->about.session,
			   .undoes = r->about.undoes,
			   .undo_count = r->about.undo_count },
	};
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
	if (r->journal)
		store_end(journal_store(r->journal), &k->steps.part);
	arena_done(&k->memory);
	mem_free(k);
	r->kept = NULL;
}

uint64_t recording_id(const struct recording *r)
{
	return r->kept ? r->kept->steps.about.id : 0;
}

static struct change change_of(const struct recording *r)
{
	struct change c = r->kept->steps.about;

	c.flags |= r->missed ? CHANGE_INCOMPLETE : 0;
	return c;
}

/* The directory as this change knows it; NULL with errno if there is no memory, or it is outside and
 * the change need not be taken back. */
static struct touched_dir *dir_of(struct recording *r, int dir)
{
	struct touched_dir *d = touches_dir(&r->kept->touches, &r->kept->memory, dir);

	r->missed |= !d && errno != EXDEV;
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
		.part = &r->kept->steps.part,
		.texts = has_room_for_text(r) ? &r->kept->memory : NULL,
	};
}

/* Where a step is taken. The path is in `room`. 0, or -1 with errno. */
static int place_of(struct recording *r, struct touched_dir *d, const char *name,
		    char room[PATH_MAX + NAME_MAX + 2], struct step_place *ret)
{
	struct recorded *k = r->kept;
	/* An atomic change moves directories itself, and asks each time. */
	const bool ask = k->steps.written && is_atomic(r);

	*ret = (struct step_place){ str_of(name), d->fd };
	if (!touches_find_text(&k->touches, &k->memory, d, ask))
		return 0;
	if (d->text.n + ret->path.n + 2 > PATH_MAX + NAME_MAX + 2) {
		errno = ENAMETOOLONG;
		return -1;
	}
	*ret = (struct step_place){ dirs_join_to(room, d->text, ret->path), -1 };
	return 0;
}

static int write_touch(struct recording *r, struct touched_dir *d, const char *name,
		       const struct path_state *before, int64_t dir_mtime_ns)
{
	char room[PATH_MAX + NAME_MAX + 2] UNINITIALISED;
	struct step_place at;

	return place_of(r, d, name, room, &at) < 0
		       ? -1
		       : steps_touch(&r->kept->steps, &at, before, dir_mtime_ns);
}

/* A link counts as a name: if the server dies before a file tool has replaced the file, a write before
 * that is settled is one in place. So files are copied, but by commands, which write so anyway, and
 * if they are removed, or too large, or have several names, unless undo knows one that stays. */
static enum entry_keep way_of(const struct recording *r, enum touch_care care,
			      const struct path_state *st, int64_t max_file)
{
	const bool link = r->about.flags & CHANGE_COMMAND || (st->nlink > 1 && !st->link.n) ||
			  care == TOUCH_GONE || st->size > max_file;

	return care >= TOUCH_LAST && link ? ENTRY_LINK : ENTRY_COPY;
}

/* The change is too large to be kept as a whole: give back what was kept of it. */
static void lose(const struct recording *r)
{
	struct recorded *k = r->kept;
	const struct entry_store s = store_of(r);
	char room[RECORD_HEAD];
	struct buf out = buf_over(room, sizeof room);
	uint64_t at;

	record_put(&out, store_seed(journal_store(r->journal)), RECORD_LOSE, k->steps.about.id,
		   STR(""));
	if (k->steps.written)
		(void)store_append(journal_store(r->journal), &k->steps.part, buf_str(&out), false,
				   &at);
	for (struct touched *t = k->touches.first; t; t = t->next)
		entry_drop(&s, &t->before);
	k->lost = true;
}

/* Keep the content of what is there. 0, or -1 with errno: an atomic change must not overwrite what
 * it could not put back. */
static int keep(const struct recording *r, int dir, const char *name, enum touch_care care,
		struct path_state *st)
{
	const struct entry_store s = store_of(r);
	struct recorded *k = r->kept;

	if (k->lost)
		return 0;
	/* Where another name of the file stays, the file can be found again by that. */
	if (r->about.flags & CHANGE_UNDO && care >= TOUCH_LAST && st->type == STATE_FILE)
		st->link = touches_find_other(&k->touches, &k->memory, dir, name, st);
	const int rc = entry_keep(&s, dir, name, way_of(r, care, st, s.max_file), st);
	if (is_atomic(r))
		return st->type == STATE_FILE ? rc : 0;
	if (rc < 0 && errno == ENOSPC)
		lose(r);
	return 0;
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
	t->gone |= care >= TOUCH_LAST;
}

/* An atomic change has to put back what was there a moment ago, and that may be something that it
 * has made itself. */
static int touch_again(struct recording *r, struct touched_dir *d, const char *name,
		       enum touch_care care)
{
	const int dir = d->fd;
	struct path_state now;

	if (entry_look(dir, name, &r->kept->memory, &now) < 0)
		return -1;
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

	if (!t) {
		errno = ENOMEM;
		return NULL;
	}
	if (entry_look(dir, name, &k->memory, &t->before) < 0 && is_atomic(r))
		return NULL;
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

/* An atomic change must be able to put back what the journal cannot have, too. */
static int touch_outside(struct recording *r, struct touched_dir *d, const char *name,
			 enum touch_care care)
{
	const struct entry_store memory = { .texts = &r->kept->memory };
	struct path_state now;

	if (entry_look(d->fd, name, memory.texts, &now) < 0 ||
	    (care != TOUCH_META && entry_keep(&memory, d->fd, name, ENTRY_COPY, &now) < 0))
		return -1;
	return write_touch(r, d, name, &now, dirs_mtime(d->fd));
}

/* Keep what has to be kept, and write it down. 0, or -1 with errno. */
static int touch(struct recording *r, struct touched_dir *d, const char *name, enum touch_care care,
		 bool *may_be_link)
{
	struct recorded *k = r->kept;
	const int dir = d->fd;

	if (d->is_outside)
		return touch_outside(r, d, name, care);
	/* Only an atomic change is taken back step by step. */
	const int64_t dir_mtime_ns = r->about.flags & CHANGE_ATOMIC ? dirs_mtime(dir) : d->mtime_ns;
	struct touched *t = touches_find(&k->touches, d, str_of(name));
	const bool is_new = !t;
	if (is_new && !(t = new_touch(r, dir, d, name)))
		return -1;
	*may_be_link = !is_new || t->before.type == STATE_LINK;
	k->touches.moves += care >= TOUCH_LAST && t->before.type == STATE_DIR;
	const bool there = is_new || (care != TOUCH_META && is_still_there(dir, t));
	const bool at_risk = there && is_at_risk(t, care);
	if (at_risk && keep(r, dir, name, care, &t->before) < 0 && is_new)
		return -1;
	k->movable |= t->before.kept == KEPT_NOT || t->before.kept == KEPT_LINK;
	t->gone |= care >= TOUCH_LAST && there;
	if (!is_new)
		keep_moved(r, dir, name, care);
	if (!is_new && is_atomic(r))
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
	if (!r->journal)
		return true;
	struct store *s = journal_store(r->journal);
	struct steps *steps = &r->kept->steps;
	steps->about.id = store_number(s);
	if (!steps->about.id || store_begin(s, steps->about.id, &steps->part) < 0) {
		arena_done(&r->kept->memory);
		mem_free(TAKE(r->kept, NULL));
		return false;
	}
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
	if (!is_atomic(r))
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
	bool ignored;

	if (!r->journal && !is_atomic(r))
		return 0;
	struct touched_dir *d = begin(r) ? dir_of(r, dir) : NULL;
	if (!d && errno == EXDEV)
		return 0;
	return d && touch(r, d, name, care, &ignored) == 0 ? 0 : fail(r, name, e);
}

/* The state of a name is kept for undo, and what is about to happen to it is written down. */
static int put(struct recording *r, struct touched_dir *d, const char *name, const char *aside,
	       const struct stat *new)
{
	char room[PATH_MAX + NAME_MAX + 2] UNINITIALISED;
	struct step_place at;

	if (!d->is_outside) {
		struct touched *t = touches_find(&r->kept->touches, d, str_of(name));
		if (!t && !(t = new_touch(r, d->fd, d, name)))
			return -1;
		if (aside && keep(r, d->fd, name, TOUCH_LAST, &t->before) < 0)
			return -1;
		t->gone |= aside != NULL;
	}
	return place_of(r, d, name, room, &at) < 0
		       ? -1
		       : steps_put(&r->kept->steps, &at, str_of(aside ? aside : ""), new,
				   dirs_mtime(d->fd));
}

int recording_put(struct recording *r, int dir, const char *name, const char *aside,
		  const struct stat *new, struct err *e)
{
	struct touched_dir *d = begin(r) ? dir_of(r, dir) : NULL;
	return d && put(r, d, name, aside, new) == 0 ? 0 : fail(r, name, e);
}

int recording_discard(struct recording *r, int dir, const char *aside, const char *name,
		      struct err *e)
{
	struct touched_dir *d = r->kept ? touches_find_dir(&r->kept->touches, dir) : NULL;
	const struct touched *t =
		!d || d->is_outside ? NULL : touches_find(&r->kept->touches, d, str_of(name));

	return t && write_touch(r, d, aside, &t->before, dirs_mtime(dir)) < 0 ? fail(r, name, e)
									      : 0;
}

void recording_note_content(struct recording *r, int dir, const char *name, struct str content)
{
	struct recorded *k = r->kept;

	if (k && (int64_t)content.n <= journal_max_file(r->journal))
		touches_note_left(&k->touches, &k->memory, dir, name, content,
				  store_seed(journal_store(r->journal)),
				  content.n <= LIMIT_JOURNAL_SMALL && has_room_for_text(r));
}

/* One end of a move: the path of the name, empty in the stage. */
static struct str end_of_move(struct recording *r, int dir, const char *name)
{
	char text[PATH_MAX] UNINITIALISED;
	struct str now;

	if (dir == store_stage(journal_store(r->journal)) ||
	    !dirs_text(dir, r->kept->touches.rules, text, &now))
		return STR("");
	return dirs_join(&r->kept->memory, now, str_of(name));
}

static int move(struct recording *r, int from_dir, const char *from, int to_dir, const char *to)
{
	const int dirs[] = { from_dir, to_dir };
	const char *const names[] = { from, to };
	struct stat st;

	if (fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	for (size_t i = 0; i < 2; i++) {
		struct touched_dir *d = dir_of(r, dirs[i]);
		if (!d || d->is_outside || touches_find(&r->kept->touches, d, str_of(names[i])))
			continue;
		const struct touched *t = new_touch(r, dirs[i], d, names[i]);
		if (!t)
			return -1;
		r->kept->movable |= t->before.type == STATE_FILE;
	}
	struct move_record m = {
		.from = end_of_move(r, from_dir, from),
		.to = end_of_move(r, to_dir, to),
		.dev = st.st_dev,
		.ino = st.st_ino,
		.from_mtime_ns = dirs_mtime(from_dir),
		.to_mtime_ns = dirs_mtime(to_dir),
	};
	errno = ENOMEM;
	return r->kept->memory.failed ? -1 : steps_move(&r->kept->steps, &m);
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

/* Compare, and write the end of the change. 1 if something has changed, 0 if not; -1 with errno if it
 * could not be written: *ret is what has changed all the same. What an undo has undone is undone, even
 * if that came to nothing; and what was missed is said, if there is nothing else. */
static int finish(struct recording *r, struct arena *a, struct change *ret)
{
	const bool counts = r->about.flags & CHANGE_UNDO || (r->missed && r->journal);

	if (counts && !begin(r))
		return -1;
	struct recorded *k = r->kept;

	if (!k || !r->journal)
		return 0;
	const struct entry_store s = store_of(r);
	struct change c = change_of(r);
	if (compare_touches(&k->touches, &s, a, &c) || counts) {
		*ret = c;
		return journal_commit(r->journal, &k->steps.part, &c) < 0 ? -1 : 1;
	}
	if (k->steps.written)
		journal_drop(r->journal, &k->steps.part);
	return 0;
}

bool recording_finish(struct recording *r, struct arena *a, struct change *ret)
{
	const int rc = finish(r, a, ret);

	/* It has happened, whether it can be written down or not. */
	if (rc < 0)
		ret->flags |= CHANGE_UNSAVED;
	recording_done(r);
	return rc != 0;
}

int recording_commit(struct recording *r, struct arena *a, struct change *ret, struct err *e)
{
	*ret = (struct change){ .id = 0 };
	if (finish(r, a, ret) < 0)
		return err_errno(e, "The journal cannot be written");
	recording_done(r);
	return 0;
}

int recording_take_back(struct recording *r, struct err *e)
{
	struct recorded *k = r->kept;
	char sentence[512];
	struct err why;

	if (!k || steps_take_back(&k->steps, &why) == 0) {
		if (k && k->steps.written)
			journal_drop(r->journal, &k->steps.part);
		recording_done(r);
		return err_say(e, "Nothing was changed.");
	}
	(void)snprintf(sentence, sizeof sentence,
		       "It could not be taken back completely (%.300s)%s.", why.msg,
		       k->steps.written ? ": that is tried again when the server starts" : "");
	recording_done(r);
	return err_say(e, sentence);
}

void recording_finish_for(const struct steps *u, int root)
{
	const struct recording_about about = {
		.tool = u->about.tool,
		.subject = u->about.subject,
		.session = u->about.session,
		.flags = u->about.flags | (u->about.flags & CHANGE_COMMAND ? CHANGE_INCOMPLETE : 0),
	};
	AUTO_RECORDING r = recording_of(u->journal, &about);
	AUTO_ARENA a = { .max = LIMIT_CHANGE_MEMORY };
	struct change c;

	if (!(r.kept = recorded_new(&r)))
		return;
	struct recorded *k = r.kept;
	k->steps.about.id = u->about.id;
	k->steps.about.time_ms = u->about.time_ms;
	k->steps.part = u->part;
	for (size_t i = 0; i < u->count; i++) {
		char name[NAME_MAX + 1];
		struct touch_record t;
		if (u->list[i].type != RECORD_TOUCH || !record_get_touch(u->list[i].content, &t))
			continue;
		AUTO_FD dir = dirs_open_parent(root, t.path, name);
		struct touched_dir *d = dir < 0 ? NULL : dir_of(&r, dir);
		struct touched *kept = d ? touches_find(&k->touches, d, str_of(name)) : NULL;
		if (d && !kept)
			kept = touches_add(&k->touches, &k->memory, d, name);
		if (kept) {
			kept->before = t.before;
			if (i < u->lost && t.before.type == STATE_FILE)
				kept->before.kept = KEPT_NOT;
			/* Its content was in danger: the object may be gone, and its number
			 * another one's. */
			kept->gone = t.before.kept != KEPT_NOT;
		}
		if (d && t.dir_mtime_ns && t.dir_mtime_ns < d->mtime_ns)
			d->mtime_ns = t.dir_mtime_ns;
		k->steps.written++;
	}
	(void)recording_finish(&r, &a, &c);
}
