/* SPDX-License-Identifier: MIT */
/* swap: nameless file, exchange of two names, and the way back. */

#include "changes/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "changes/limits.h"
#include "workspace/beneath.h"
#include "workspace/workspace.h"

struct swap swap_of(const struct swap_file *f)
{
	return (struct swap){ .f = f, .at = { .dir = -1 }, .beside = -1, .temp = TEMP_NONE };
}

static int fail_changed(const struct swap *s, struct err *e)
{
	(void)err_set(e, ERR_FILE_CHANGED,
		      "Another process has changed %.*s while this call was at work.",
		      STR_FMT(s->f->shown));
	return err_advise(e, "Read it again.");
}

/* The file was there when the change was planned: if nothing, a link, a directory or a socket is
 * there now, another process has put it there. */
static int fail(const struct swap *s, const char *what, struct err *e)
{
	if (s->f->was && (errno == ENOENT || errno == ELOOP || errno == EISDIR || errno == ENXIO))
		return fail_changed(s, e);
	return err_errno(e, "Cannot %s %.*s", what, STR_FMT(s->f->shown));
}

/* Whether it is the file that was read, and has not been written to. */
static bool is_the_one(const struct swap_file *f, const struct stat *now)
{
	return S_ISREG(now->st_mode) && now->st_ino == f->st.st_ino &&
	       now->st_dev == f->st.st_dev && now->st_size == f->st.st_size &&
	       now->st_mtim.tv_sec == f->st.st_mtim.tv_sec &&
	       now->st_mtim.tv_nsec == f->st.st_mtim.tv_nsec;
}

static int check(const struct swap *s, const char *name, struct err *e)
{
	struct stat now;

	if (fstatat(s->at.dir, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(s, "look at", e);
	return is_the_one(s->f, &now) ? 0 : fail_changed(s, e);
}

static int open_old(const struct swap *s)
{
	return openat(s->at.dir, s->at.name,
		      O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Write down what is at a name, before that changes for this file. */
static int touch(const struct swap *s, struct swap_room *room, int dir, const char *name,
		 enum touch_care care, struct err *e)
{
	if (recording_touch(room->r, dir, name, care, e) == 0)
		return 0;
	if (e->code == ERR_FILE_CHANGED)
		return fail_changed(s, e);
	const bool full = e->code == ERR_DISK_FULL;
	(void)err_set(e, e->code, "The journal cannot keep what %.*s is now%s.",
		      STR_FMT(s->f->shown), full ? ": it has no space" : "");
	return full ? err_advise(e, "It needs more room: --undo-bytes, or on its disk.") : -1;
}

/* The witness of directories that are made on the way to a new file; it cannot refuse at once. */
struct dir_witness {
	const struct swap *s;
	struct swap_room *room;
	bool failed;
	struct err e;
};

static void before_dir(void *arg, int dir, const char *name, enum witness_act act)
{
	struct dir_witness *w = arg;

	(void)act;
	if (!w->failed)
		w->failed = touch(w->s, w->room, dir, name, TOUCH_META, &w->e) < 0;
}

/* Cut the last name off a path; false if that is all of it. */
static bool cut_last(struct path *p)
{
	char *slash = strrchr(p->name, '/');

	*(slash ? slash : p->name) = '\0';
	return slash;
}

/* Remove the directories that were made on the way to a file, as far as they are empty. */
static void remove_dirs(const struct swap *s, const struct workspace *ws)
{
	struct path up = *s->f->path;
	struct err ignored;

	while (cut_last(&up) && strlen(up.name) > s->above) {
		struct file_place at;
		if (ws_place(ws, &up, false, NULL, &at, &ignored) < 0)
			continue;
		(void)unlinkat(at.dir, at.name, AT_REMOVEDIR);
		file_place_done(&at);
	}
}

/* The nearest directory above the path that is there, and the length of its name. */
static int open_nearest(const struct swap_room *room, const struct path *path, size_t *length,
			struct err *e)
{
	struct path up = *path;

	do {
		(void)cut_last(&up);
		const int fd = ws_open(room->ws, &up, O_PATH | O_DIRECTORY, e);
		*length = strlen(up.name);
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

static bool borrow(struct swap *s, const struct swap *last)
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

static enum swap_way way_of(const struct swap_file *f)
{
	return !f->stays	    ? SWAP_REMOVE
	       : !f->was	    ? SWAP_MAKE
	       : f->st.st_nlink > 1 ? SWAP_IN_PLACE
				    : SWAP_REPLACE;
}

int swap_find(struct swap *s, struct swap_room *room, const struct swap *last, struct err *e)
{
	struct stat now;

	s->way = way_of(s->f);
	if (!borrow(s, last) && ws_place(room->ws, s->f->path, false, NULL, &s->at, e) < 0) {
		const bool missing =
			e->code == ERR_FILE_NOT_FOUND || e->code == ERR_NOT_A_DIRECTORY;
		if (s->f->was)
			return missing ? fail_changed(s, e) : -1;
		if (!missing)
			return -1;
		s->beside = open_nearest(room, s->f->path, &s->above, e);
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

/* The directory in which the new file is. */
static int dir_of_temp(const struct swap *s)
{
	return s->beside >= 0 ? s->beside : s->at.dir;
}

/* A nameless file; or one with a temporary name, if there are no nameless ones, or so many are open
 * that other calls might get no descriptor. */
static int open_temp(struct swap *s, struct swap_room *room, struct err *e)
{
	const int dir = dir_of_temp(s);

	if (room->held < LIMIT_BATCH_HELD) {
		if (temp_open(&s->temp, dir) == 0) {
			room->held++;
			return 0;
		}
		if (!temp_needs_name() && errno != EMFILE)
			return fail(s, "write", e);
	}
	if (temp_stays(dir)) {
		errno = EPERM;
		return fail(s, "write", e);
	}
	temp_choose_name(&s->temp);
	if (touch(s, room, dir, s->temp.name, TOUCH_META, e) < 0) {
		s->temp.name[0] = '\0';
		return -1;
	}
	/* If it replaces a file, only we may open it until it has its mode. */
	if (temp_make(&s->temp, NULL, dir, s->f->was || s->f->like ? 0600 : 0666) < 0)
		return fail(s, "write", e);
	return 0;
}

/* A new file looks like the one that it comes from, as far as that is allowed. */
static int resemble_source(const struct swap *s, const struct swap_room *room)
{
	struct stat st;
	struct err ignored;
	AUTO_FD from = ws_open_file(room->ws, s->f->like, &st, &ignored);

	if (from < 0 || temp_resemble(&s->temp, from, &st) == 0)
		return 0;
	return fchmod(s->temp.fd, st.st_mode & 0777);
}

/* All who may read the file may execute it; or none may. */
static mode_t executable(mode_t mode, unsigned like)
{
	return (like & 0100 ? mode | (mode & 0444) >> 2 : mode & ~(mode_t)0111) & 07777;
}

static int finish_temp(const struct swap *s, const struct swap_room *room)
{
	struct stat mine;

	if (s->f->like && resemble_source(s, room) < 0)
		return -1;
	if (s->f->mode && (fstat(s->temp.fd, &mine) < 0 ||
			   fchmod(s->temp.fd, executable(mine.st_mode, s->f->mode)) < 0))
		return -1;
	return room->sync ? fsync(s->temp.fd) : 0;
}

int swap_prepare(struct swap *s, struct swap_room *room, struct err *e)
{
	struct stat now;
	AUTO_FD old = -1;

	if (s->way == SWAP_REMOVE)
		return 0;
	if (s->f->was) {
		old = open_old(s);
		if (old < 0 || fstat(old, &now) < 0)
			return fail(s, "write", e);
		if (!is_the_one(s->f, &now))
			return fail_changed(s, e);
	}
	if (s->way == SWAP_IN_PLACE)
		return 0;
	if (open_temp(s, room, e) < 0)
		return -1;
	if (io_write_all(s->temp.fd, s->f->new, IO_FOREVER) < 0)
		return fail(s, "write", e);
	if (old >= 0 && temp_resemble(&s->temp, old, &now) < 0) {
		if (errno != EACCES && errno != EPERM)
			return fail(s, "write", e);
		temp_discard(&s->temp, dir_of_temp(s));
		s->way = SWAP_IN_PLACE;
		return 0;
	}
	if (finish_temp(s, room) < 0)
		return fail(s, "write", e);
	if (*s->temp.name)
		fd_closep(&s->temp.fd);
	return 0;
}

/* Give the new file its final name, which no other file has. 0, or -1 with errno. */
static int put_new(struct swap *s)
{
	const int from = dir_of_temp(s);

	if (!*s->temp.name)
		return temp_link(&s->temp, s->at.dir, s->at.name);
	if (renameat2(from, s->temp.name, s->at.dir, s->at.name, RENAME_NOREPLACE) == 0) {
		s->temp.name[0] = '\0';
		return 0;
	}
	/* Not every file system can refuse to replace: a link does. */
	return errno == EINVAL ? linkat(from, s->temp.name, s->at.dir, s->at.name, 0) : -1;
}

static int make(struct swap *s, struct swap_room *room, struct err *e)
{
	struct dir_witness dirs = { .s = s, .room = room };
	const struct witness witness = { .before = before_dir, .arg = &dirs };

	if (s->at.dir < 0 && ws_place(room->ws, s->f->path, true, &witness, &s->at, e) < 0)
		return -1;
	if (dirs.failed) {
		*e = dirs.e;
		return -1;
	}
	if (touch(s, room, s->at.dir, s->at.name, TOUCH_META, e) < 0)
		return -1;
	if (put_new(s) < 0)
		return errno == EEXIST ? fail_changed(s, e) : fail(s, "write", e);
	s->done = true;
	return 0;
}

/* Before the file is exchanged with what `aside` names, or gets that name itself. */
static int before_aside(struct swap *s, struct swap_room *room, struct err *e)
{
	if (temp_stays(s->at.dir)) {
		errno = EPERM;
		return fail(s, "replace", e);
	}
	if (touch(s, room, s->at.dir, s->aside, TOUCH_META, e) < 0 ||
	    touch(s, room, s->at.dir, s->at.name, TOUCH_LAST, e) < 0)
		return -1;
	return check(s, s->at.name, e);
}

/* For file systems that cannot exchange two names: the old file gets another name first. */
static int exchange_by_link(const struct swap *s, struct swap_room *room, struct err *e)
{
	struct temp other = TEMP_NONE;
	const int dir = s->at.dir;

	temp_choose_name(&other);
	if (touch(s, room, dir, other.name, TOUCH_META, e) < 0)
		return -1;
	if (linkat(dir, s->at.name, dir, other.name, 0) < 0 &&
	    renameat(dir, s->at.name, dir, other.name) < 0)
		return fail(s, "replace", e);
	if (renameat(dir, s->aside, dir, s->at.name) == 0 &&
	    renameat(dir, other.name, dir, s->aside) == 0)
		return 0;
	(void)fail(s, "replace", e);
	/* If both are names of one file already, a rename does nothing. */
	(void)renameat(dir, other.name, dir, s->at.name);
	(void)unlinkat(dir, other.name, 0);
	return -1;
}

/* Exchange the old file with the new one. */
static int replace(struct swap *s, struct swap_room *room, struct err *e)
{
	const int dir = s->at.dir;
	const bool nameless = !*s->temp.name;

	if (nameless)
		temp_choose_name(&s->temp);
	memcpy(s->aside, s->temp.name, sizeof s->aside);
	if (nameless)
		s->temp.name[0] = '\0';
	if (before_aside(s, room, e) < 0)
		return -1;
	if (nameless && temp_link(&s->temp, dir, s->aside) < 0)
		return err_errno(e, "Cannot write %.*s", STR_FMT(s->f->shown));
	memcpy(s->temp.name, s->aside, sizeof s->aside);
	if (renameat2(dir, s->aside, dir, s->at.name, RENAME_EXCHANGE) < 0) {
		if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
			return fail(s, "replace", e);
		if (exchange_by_link(s, room, e) < 0)
			return -1;
	}
	s->temp.name[0] = '\0';
	s->done = true;
	/* Only now it is certain which file was replaced. */
	return check(s, s->aside, e);
}

static int set_aside(struct swap *s, struct swap_room *room, struct err *e)
{
	struct temp name = TEMP_NONE;

	temp_choose_name(&name);
	memcpy(s->aside, name.name, sizeof s->aside);
	if (before_aside(s, room, e) < 0)
		return -1;
	if (renameat(s->at.dir, s->at.name, s->at.dir, s->aside) < 0)
		return fail(s, "remove", e);
	s->done = true;
	return check(s, s->aside, e);
}

static int write_all(int fd, struct str content)
{
	if (lseek(fd, 0, SEEK_SET) < 0 || io_write_all(fd, content, IO_FOREVER) < 0)
		return -1;
	return ftruncate(fd, (off_t)content.n);
}

static int write_in_place(struct swap *s, struct swap_room *room, struct err *e)
{
	const off_t size = (off_t)s->f->new.n;
	struct stat now;
	AUTO_FD fd = open_old(s);

	if (fd < 0 || fstat(fd, &now) < 0)
		return fail(s, "write", e);
	if (!is_the_one(s->f, &now))
		return fail_changed(s, e);
	if (touch(s, room, s->at.dir, s->at.name, TOUCH_CONTENT, e) < 0)
		return -1;
	s->done = true;
	/* Reserve the room first: a disk that fills up half way would leave a torn file. */
	if (size > 0 && fallocate(fd, 0, 0, size) < 0 && errno != EOPNOTSUPP)
		return fail(s, "write", e);
	if (write_all(fd, s->f->new) < 0)
		return fail(s, "write", e);
	if (s->f->mode && fchmod(fd, executable(now.st_mode, s->f->mode)) < 0)
		return fail(s, "set the mode of", e);
	return room->sync && fsync(fd) < 0 ? fail(s, "write", e) : 0;
}

int swap_carry_out(struct swap *s, struct swap_room *room, struct err *e)
{
	switch (s->way) {
	case SWAP_MAKE:
		return make(s, room, e);
	case SWAP_REPLACE:
		return replace(s, room, e);
	case SWAP_REMOVE:
		return set_aside(s, room, e);
	case SWAP_IN_PLACE:
		return write_in_place(s, room, e);
	}
	return 0;
}

static int put_content_back(const struct swap *s)
{
	const struct stat *st = &s->f->st;
	const struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, st->st_mtim };
	AUTO_FD fd = open_old(s);

	if (fd < 0 || write_all(fd, s->f->old) < 0)
		return -1;
	return fchmod(fd, st->st_mode & 07777) < 0 || futimens(fd, times) < 0 ? -1 : 0;
}

/* 0, or -1 with errno. */
static int undo_file(const struct swap *s)
{
	const int dir = s->at.dir;

	switch (s->way) {
	case SWAP_MAKE:
		return unlinkat(dir, s->at.name, 0);
	case SWAP_REPLACE:
		/* What was set aside may be something else than a file. */
		if (renameat2(dir, s->aside, dir, s->at.name, RENAME_EXCHANGE) == 0)
			return unlinkat(dir, s->aside, 0);
		return renameat(dir, s->aside, dir, s->at.name);
	case SWAP_REMOVE:
		return renameat(dir, s->aside, dir, s->at.name);
	case SWAP_IN_PLACE:
		return put_content_back(s);
	}
	return 0;
}

int swap_undo(struct swap *s, const struct swap_room *room)
{
	const int rc = s->done ? undo_file(s) : 0;

	if (s->beside >= 0)
		remove_dirs(s, room->ws);
	s->done = false;
	return rc;
}

void swap_finish(struct swap *s, bool sync)
{
	if (s->done && *s->aside)
		(void)unlinkat(s->at.dir, s->aside, 0);
	AUTO_FD dir = sync ? openat(s->at.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (dir >= 0)
		(void)fsync(dir);
}

void swap_release(struct swap *s)
{
	temp_discard(&s->temp, dir_of_temp(s));
	fd_closep(&s->beside);
	if (!s->borrowed)
		file_place_done(&s->at);
}
