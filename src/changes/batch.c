/* SPDX-License-Identifier: MIT */
/* batch: prepare every file, put them in place one after the other, or go back. */

#include "changes/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "changes/limits.h"
#include "workspace/beneath.h"
#include "workspace/replace.h"
#include "workspace/workspace.h"

enum batch_way { BATCH_MAKE, BATCH_REPLACE, BATCH_REMOVE, BATCH_IN_PLACE };

/* One of the files on its way. */
struct batch_step {
	const struct batch_file *f;
	enum batch_way way;
	struct file_place at; /* its dir is -1 while the directory is still to be made */
	bool borrowed;	      /* the dir is another step's */
	int beside;	      /* the nearest directory that exists, if that is another; else -1 */
	struct temp temp;     /* the new file */
	struct stat made;     /* of it */
	char aside[64];	      /* the name of the old file when it is out of its place */
};

struct batch_work {
	const struct batch *b;
	struct recording r;
	struct batch_step *steps;
	int held; /* nameless files that are open */
};

static int fail_changed(const struct batch_step *s, struct err *e)
{
	(void)err_set(e, ERR_FILE_CHANGED,
		      "Another process has changed %.*s while this call was at work.",
		      STR_FMT(s->f->shown));
	return err_advise(e, "Read it again.");
}

/* The file was there when the change was planned: if nothing, a link, a directory or a socket is
 * there now, another process has put it there. */
static int fail(const struct batch_step *s, const char *what, struct err *e)
{
	if (s->f->was && (errno == ENOENT || errno == ELOOP || errno == EISDIR || errno == ENXIO))
		return fail_changed(s, e);
	return err_errno(e, "Cannot %s %.*s", what, STR_FMT(s->f->shown));
}

/* Whether it is the file that was read, and has not been written to. */
static bool is_the_one(const struct batch_file *f, const struct stat *now)
{
	return S_ISREG(now->st_mode) && now->st_ino == f->st.st_ino &&
	       now->st_dev == f->st.st_dev && now->st_size == f->st.st_size &&
	       now->st_mtim.tv_sec == f->st.st_mtim.tv_sec &&
	       now->st_mtim.tv_nsec == f->st.st_mtim.tv_nsec;
}

static int check(const struct batch_step *s, const char *name, struct err *e)
{
	struct stat now;

	if (fstatat(s->at.dir, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(s, "look at", e);
	return is_the_one(s->f, &now) ? 0 : fail_changed(s, e);
}

static int open_old(const struct batch_step *s)
{
	return openat(s->at.dir, s->at.name,
		      O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Why the recording could not write down what is about to happen. */
static int explain(const struct batch_step *s, struct err *e)
{
	if (e->code == ERR_FILE_CHANGED)
		return fail_changed(s, e);
	const bool full = e->code == ERR_DISK_FULL;
	(void)err_set(e, e->code, "The journal cannot keep what %.*s is now%s.",
		      STR_FMT(s->f->shown), full ? ": it has no space" : "");
	return full ? err_advise(e, "It needs more room: --undo-bytes, or on its disk.") : -1;
}

/* The witness of directories that are made on the way to a new file; it refuses one that
 * cannot be written down. */
struct dir_witness {
	const struct batch_step *s;
	struct batch_work *w;
	bool failed;
	struct err e;
};

static void before_dir(void *arg, int dir, const char *name, enum witness_act act)
{
	struct dir_witness *d = arg;

	(void)act;
	d->failed = recording_put(&d->w->r, dir, name, NULL, NULL, &d->e) < 0 &&
		    explain(d->s, &d->e) < 0;
}

/* The nearest directory above the path that is there. */
static int open_nearest(const struct batch_work *w, const struct path *path, struct err *e)
{
	struct path up = *path;

	do {
		char *slash = strrchr(up.name, '/');
		*(slash ? slash : up.name) = '\0';
		const int fd = ws_open(w->b->ws, &up, O_PATH | O_DIRECTORY, e);
		if (fd >= 0 || (e->code != ERR_FILE_NOT_FOUND && e->code != ERR_NOT_A_DIRECTORY))
			return fd;
	} while (*up.name);
	return -1;
}

static struct str parent_of(const struct path *p)
{
	const char *slash = strrchr(p->name, '/');

	return (struct str){ p->name, slash ? (size_t)(slash - p->name) : 0 };
}

static bool borrow(struct batch_step *s, const struct batch_step *last)
{
	const struct path *p = s->f->path, *q = last ? last->f->path : NULL;
	const struct str parent = parent_of(p);
	const char *name = p->name + parent.n + (parent.n ? 1 : 0);

	if (!q || last->at.dir < 0 || p->base != q->base || !str_eq(parent, parent_of(q)) ||
	    strlen(name) > NAME_MAX)
		return false;
	s->at.dir = last->at.dir;
	(void)snprintf(s->at.name, sizeof s->at.name, "%s", name);
	s->borrowed = true;
	return true;
}

static enum batch_way way_of(const struct batch_file *f)
{
	return !f->stays	    ? BATCH_REMOVE
	       : !f->was	    ? BATCH_MAKE
	       : f->st.st_nlink > 1 ? BATCH_IN_PLACE
				    : BATCH_REPLACE;
}

static int find(struct batch_step *s, struct batch_work *w, const struct batch_step *last,
		struct err *e)
{
	struct stat now;

	s->way = way_of(s->f);
	if (!borrow(s, last) && ws_place(w->b->ws, s->f->path, false, NULL, &s->at, e) < 0) {
		const bool missing =
			e->code == ERR_FILE_NOT_FOUND || e->code == ERR_NOT_A_DIRECTORY;
		if (s->f->was)
			return missing ? fail_changed(s, e) : -1;
		if (!missing)
			return -1;
		s->beside = open_nearest(w, s->f->path, e);
		return s->beside < 0 ? -1 : 0;
	}
	if (s->f->was)
		return check(s, s->at.name, e);
	if (fstatat(s->at.dir, s->at.name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail(s, "look at", e);
	return S_ISDIR(now.st_mode) ? err_set(e, ERR_NOT_A_FILE, "There is a directory: %.*s",
					      STR_FMT(s->f->shown))
				    : fail_changed(s, e);
}

/* A nameless file; or one with a temporary name, if there are no nameless ones, or so many are open
 * that other calls might get no descriptor. */
static int open_temp(struct batch_step *s, struct batch_work *w, struct err *e)
{
	const int dir = s->beside >= 0 ? s->beside : s->at.dir;

	if (w->held < LIMIT_BATCH_HELD) {
		if (temp_open(&s->temp, dir) == 0) {
			w->held++;
			return 0;
		}
		if (!temp_needs_name() && errno != EMFILE)
			return fail(s, "write", e);
	}
	if (temp_stays(dir)) {
		errno = EPERM;
		return fail(s, "write", e);
	}
	temp_choose_name(&s->temp, NULL, dir);
	if (recording_touch(&w->r, dir, s->temp.name, TOUCH_META, e) < 0)
		return explain(s, e);
	/* If it replaces a file, only we may open it until it has its mode. */
	if (temp_make(&s->temp, s->f->was || s->f->like ? 0600 : 0666) < 0)
		return fail(s, "write", e);
	return 0;
}

/* A new file looks like the one that it comes from, as far as that is allowed. */
static int resemble_source(const struct batch_step *s, const struct batch_work *w)
{
	struct stat st;
	struct err ignored;
	AUTO_FD from = ws_open_file(w->b->ws, s->f->like, &st, &ignored);

	if (from < 0 || temp_resemble(&s->temp, from, &st) == 0)
		return 0;
	return fchmod(s->temp.fd, st.st_mode & 0777);
}

/* All who may read the file may execute it; or none may. */
static mode_t executable(mode_t mode, unsigned like)
{
	return (like & 0100 ? mode | (mode & 0444) >> 2 : mode & ~(mode_t)0111) & 07777;
}

static int finish_temp(struct batch_step *s, const struct batch_work *w)
{
	if ((s->f->like && resemble_source(s, w) < 0) || fstat(s->temp.fd, &s->made) < 0 ||
	    (s->f->mode && fchmod(s->temp.fd, executable(s->made.st_mode, s->f->mode)) < 0))
		return -1;
	return w->b->sync ? fsync(s->temp.fd) : 0;
}

static int write_new(struct batch_step *s, struct batch_work *w, struct err *e)
{
	struct stat now;
	AUTO_FD old = -1;

	if (s->way == BATCH_REMOVE)
		return 0;
	if (s->f->was) {
		old = open_old(s);
		if (old < 0 || fstat(old, &now) < 0)
			return fail(s, "write", e);
		if (!is_the_one(s->f, &now))
			return fail_changed(s, e);
	}
	if (s->way == BATCH_IN_PLACE)
		return 0;
	if (open_temp(s, w, e) < 0)
		return -1;
	if (io_write_all(s->temp.fd, s->f->new, IO_FOREVER) < 0)
		return fail(s, "write", e);
	if (old >= 0 && temp_resemble(&s->temp, old, &now) < 0) {
		if (errno != EACCES && errno != EPERM)
			return fail(s, "write", e);
		temp_discard(&s->temp);
		s->way = BATCH_IN_PLACE;
		return 0;
	}
	if (finish_temp(s, w) < 0)
		return fail(s, "write", e);
	if (*s->temp.name)
		fd_closep(&s->temp.fd);
	return 0;
}

static int make(struct batch_step *s, struct batch_work *w, struct err *e)
{
	struct dir_witness dirs = { .s = s, .w = w };
	const struct witness witness = { .before = before_dir,
					 .arg = &dirs,
					 .refuses = &dirs.failed };

	if (s->at.dir < 0 && ws_place(w->b->ws, s->f->path, true, &witness, &s->at, e) < 0) {
		if (dirs.failed)
			*e = dirs.e;
		return -1;
	}
	if (recording_put(&w->r, s->at.dir, s->at.name, NULL, &s->made, e) < 0)
		return explain(s, e);
	if (temp_put(&s->temp, s->at.dir, s->at.name, TEMP_NEW) < 0)
		return errno == EEXIST ? fail_changed(s, e) : fail(s, "write", e);
	return 0;
}

/* The file is about to get another name, which is chosen, and the new one, if there is one, its own.
 * Write that down. */
static int before_aside(struct batch_step *s, struct batch_work *w, struct err *e)
{
	struct temp name = TEMP_NONE;

	if (temp_stays(s->at.dir)) {
		errno = EPERM;
		return fail(s, "replace", e);
	}
	temp_choose_name(&name, NULL, s->at.dir);
	if (recording_put(&w->r, s->at.dir, s->at.name, name.name,
			  s->way == BATCH_REMOVE ? NULL : &s->made, e) < 0)
		return explain(s, e);
	memcpy(s->aside, name.name, sizeof s->aside);
	return check(s, s->at.name, e);
}

/* For file systems that cannot exchange two names: the old file gets another name first. */
static int replace_by_link(struct batch_step *s, struct batch_work *w, struct err *e)
{
	const int dir = s->at.dir;

	if (before_aside(s, w, e) < 0)
		return -1;
	if (linkat(dir, s->at.name, dir, s->aside, 0) < 0 &&
	    renameat(dir, s->at.name, dir, s->aside) < 0)
		return fail(s, "replace", e);
	return temp_put(&s->temp, dir, s->at.name, TEMP_OVER) < 0 ? fail(s, "replace", e) : 0;
}

/* The new file gets the name that the old one will have. 0, or -1 with errno. */
static int name_aside(struct batch_step *s)
{
	char named[sizeof s->temp.name];

	memcpy(named, s->temp.name, sizeof named);
	memcpy(s->temp.name, s->aside, sizeof named);
	s->temp.dir = s->at.dir;
	if (!*named)
		return temp_link(&s->temp);
	if (renameat(s->at.dir, named, s->at.dir, s->aside) == 0)
		return 0;
	memcpy(s->temp.name, named, sizeof named);
	return -1;
}

/* Exchange the old file with the new one. */
static int replace(struct batch_step *s, struct batch_work *w, struct err *e)
{
	if (before_aside(s, w, e) < 0)
		return -1;
	if (name_aside(s) < 0)
		return err_errno(e, "Cannot write %.*s", STR_FMT(s->f->shown));
	if (temp_put(&s->temp, s->at.dir, s->at.name, TEMP_EXCHANGE) < 0) {
		if (errno != EINVAL)
			return fail(s, "replace", e);
		if (replace_by_link(s, w, e) < 0)
			return -1;
	}
	/* Only now it is certain which file was replaced. */
	return check(s, s->aside, e);
}

static int set_aside(struct batch_step *s, struct batch_work *w, struct err *e)
{
	if (before_aside(s, w, e) < 0)
		return -1;
	if (renameat(s->at.dir, s->at.name, s->at.dir, s->aside) < 0)
		return fail(s, "remove", e);
	return check(s, s->aside, e);
}

static int write_in_place(struct batch_step *s, struct batch_work *w, struct err *e)
{
	struct stat now;
	AUTO_FD fd = open_old(s);

	if (fd < 0 || fstat(fd, &now) < 0)
		return fail(s, "write", e);
	if (!is_the_one(s->f, &now))
		return fail_changed(s, e);
	if (recording_touch(&w->r, s->at.dir, s->at.name, TOUCH_CONTENT, e) < 0)
		return explain(s, e);
	if (temp_overwrite(fd, now.st_size, (int64_t)s->f->new.n, temp_fill_text, &s->f->new) < 0)
		return fail(s, "write", e);
	if (s->f->mode && fchmod(fd, executable(now.st_mode, s->f->mode)) < 0)
		return fail(s, "set the mode of", e);
	return w->b->sync && fsync(fd) < 0 ? fail(s, "write", e) : 0;
}

static int carry_out_step(struct batch_step *s, struct batch_work *w, struct err *e)
{
	switch (s->way) {
	case BATCH_MAKE:
		return make(s, w, e);
	case BATCH_REPLACE:
		return replace(s, w, e);
	case BATCH_REMOVE:
		return set_aside(s, w, e);
	case BATCH_IN_PLACE:
		return write_in_place(s, w, e);
	}
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct batch_file *x = a, *y = b;

	if (x->path->base != y->path->base)
		return x->path->base < y->path->base ? -1 : 1;
	return strcmp(x->path->name, y->path->name);
}

static int prepare(struct batch_work *w, struct err *e)
{
	for (size_t i = 0; i < w->b->count; i++)
		if (find(&w->steps[i], w, i ? &w->steps[i - 1] : NULL, e) < 0 ||
		    write_new(&w->steps[i], w, e) < 0)
			return -1;
	return 0;
}

static int carry_out(struct batch_work *w, struct err *e)
{
	const size_t n = w->b->count;

	/* What goes away goes first, the deepest first: it may be in the way of what comes. */
	for (size_t i = n; i-- > 0;)
		if (w->steps[i].way == BATCH_REMOVE && carry_out_step(&w->steps[i], w, e) < 0)
			return -1;
	for (size_t i = 0; i < n; i++)
		if (w->steps[i].way != BATCH_REMOVE && carry_out_step(&w->steps[i], w, e) < 0)
			return -1;
	/* From here on what was set aside can be had from the journal. */
	for (size_t i = 0; i < n; i++) {
		const struct batch_step *s = &w->steps[i];
		if (*s->aside && recording_discard(&w->r, s->at.dir, s->aside, s->at.name, e) < 0)
			return explain(s, e);
	}
	return 0;
}

static int stop_at_first(void *arg, struct str name, unsigned char type, struct err *e)
{
	(void)arg;
	(void)name;
	(void)type;
	return err_set(e, ERR_NO_CHANGE, "It is not empty");
}

/* Remove the directories above a removed file that are empty now. */
static void prune(struct batch_work *w, const struct path *removed)
{
	struct path up = *removed;
	struct err ignored;
	char *slash;

	while ((slash = strrchr(up.name, '/'))) {
		struct file_place at;
		*slash = '\0';
		if (ws_place(w->b->ws, &up, false, NULL, &at, &ignored) < 0)
			return;
		AUTO_FD dir = at.dir;
		const int fd =
			openat(dir, at.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || ws_list(fd, stop_at_first, NULL, &ignored) < 0 ||
		    recording_touch(&w->r, dir, at.name, TOUCH_LAST, &ignored) < 0 ||
		    unlinkat(dir, at.name, AT_REMOVEDIR) < 0)
			return;
	}
}

/* Remove what was set aside. Nothing of this fails; without a journal there is no way back now. */
static void finish(struct batch_work *w)
{
	for (size_t i = 0; i < w->b->count; i++) {
		const struct batch_step *s = &w->steps[i];
		if (*s->aside)
			(void)unlinkat(s->at.dir, s->aside, 0);
		AUTO_FD dir = w->b->sync && !s->borrowed
				      ? openat(s->at.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				      : -1;
		if (dir >= 0)
			(void)fsync(dir);
	}
	for (size_t i = w->b->count; w->b->prune && i-- > 0;)
		if (w->steps[i].way == BATCH_REMOVE)
			prune(w, w->steps[i].f->path);
}

static void release(struct batch_work *w)
{
	for (size_t i = w->b->count; i-- > 0;) {
		struct batch_step *s = &w->steps[i];
		temp_discard(&s->temp);
		fd_closep(&s->beside);
		if (!s->borrowed)
			file_place_done(&s->at);
	}
}

static int apply(struct batch *b, struct arena *a, struct change *made, struct err *e)
{
	struct recording_about about = b->about;

	about.flags |= CHANGE_ATOMIC;
	struct batch_work w = { .b = b, .r = recording_of(b->journal, &about) };
	w.steps = arena_array(a, b->count + 1, sizeof *w.steps);
	if (!w.steps)
		return err_set(e, ERR_TOO_BUSY,
			       "Not enough memory for so many files. Nothing was changed.");
	qsort(b->files, b->count, sizeof *b->files, by_path);
	for (size_t i = 0; i < b->count; i++)
		w.steps[i] = (struct batch_step){
			.f = &b->files[i], .at = { .dir = -1 }, .beside = -1, .temp = TEMP_NONE
		};
	int rc = prepare(&w, e) < 0 || carry_out(&w, e) < 0 ? -1 : 0;
	if (rc == 0) {
		finish(&w);
		rc = recording_commit(&w.r, a, made, e);
	}
	if (rc < 0)
		(void)recording_take_back(&w.r, e);
	release(&w);
	return rc;
}

int batch_apply(struct batch *b, struct arena *a, struct change *made, struct err *e)
{
	if (b->journal)
		journal_lock_undo(b->journal);
	const int rc = apply(b, a, made, e);
	if (b->journal)
		journal_unlock_undo(b->journal);
	return rc;
}
