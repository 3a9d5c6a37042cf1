/* SPDX-License-Identifier: MIT */
/* observer: which file a path means, and what is about to happen to it. */

#include "changes/observer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "changes/dirs.h"
#include "workspace/path.h"
#include "workspace/workspace.h"

/* What is about to happen to the first or the second path of the call. */
static enum touch_care care_of(const struct intent *in, size_t which)
{
	switch (in->verb) {
	case INTENT_WRITE:
		return in->exclusive ? TOUCH_META : TOUCH_CONTENT;
	case INTENT_TRUNCATE:
		return TOUCH_CONTENT;
	case INTENT_UNLINK:
	case INTENT_RMDIR:
		return TOUCH_LAST;
	case INTENT_RENAME:
		return which == 1 && !in->exchange ? TOUCH_LAST : TOUCH_META;
	default:
		return TOUCH_META;
	}
}

/* Whether the call may give the name of a directory to another one. */
static bool is_moving(const struct intent *in)
{
	return in->verb == INTENT_RENAME || in->verb == INTENT_RMDIR;
}

static bool is_dir(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Forget the directories by name: another one may have it now. */
static void forget_dirs(struct observer *o)
{
	for (size_t i = 0; i < OBSERVER_DIRS; i++) {
		mem_free(o->seen[i].text);
		fd_closep(&o->seen[i].outside);
		o->seen[i] = (struct seen_dir){ .outside = -1 };
	}
	recording_note_move(o->recording);
}

/* Open a directory of the workspace by the path that the caller sees, in which there may be links
 * and dots; from our own root, because the caller may see other mounts. If it lies outside,
 * *outside is the directory in the caller's root, or -1. */
static int open_dir(struct observer *o, struct str dir, int *outside)
{
	char text[PATH_MAX] UNINITIALISED;
	struct str below;

	*outside = -1;
	if (path_within(o->path, dir, &below)) {
		const int fd = dirs_open(o->root, below);
		if (fd >= 0 || errno == ENOENT)
			return fd;
	}
	if (dir.n >= sizeof text)
		return -1;
	(void)snprintf(text, sizeof text, "%.*s", STR_FMT(dir));
	AUTO_FD root = stopped_root(o->proc);
	/* The held directory may be that of a process which has ended. */
	if (root < 0) {
		o->recording->missed = true;
		o->proc_of = 0;
		return -1;
	}
	AUTO_FD found = stopped_open(root, *text ? text : "/", O_DIRECTORY);
	if (found < 0)
		return -1;
	if (dirs_text(found, o->path, text, &below))
		return dirs_open(o->root, below);
	*outside = TAKE(found, -1);
	return -1;
}

/* The directory of that path; NULL if there is none, or the recording cannot know it. */
static const struct seen_dir *see_dir(struct observer *o, struct str dir)
{
	for (size_t i = 0; i < OBSERVER_DIRS; i++)
		if (o->seen[i].text && str_eq((struct str){ o->seen[i].text, o->seen[i].n }, dir))
			return &o->seen[i];
	struct seen_dir new = { .n = dir.n };
	AUTO_FD fd = open_dir(o, dir, &new.outside);
	if (fd >= 0)
		new.dir = recording_dir(o->recording, fd);
	if ((new.dir || new.outside >= 0) && (new.text = mem_new(dir.n + 1, 1)) != NULL) {
		struct seen_dir *place = &o->seen[o->next++ % OBSERVER_DIRS];
		memcpy(new.text, dir.p, dir.n);
		mem_free(place->text);
		fd_closep(&place->outside);
		*place = new;
		return place;
	}
	fd_closep(&new.outside);
	return NULL;
}

/* A path that ends in dots names a directory: find out by which name. */
static bool name_dots(struct observer *o, struct stopped_path *w)
{
	char text[PATH_MAX] UNINITIALISED;
	struct str below;
	int outside;
	AUTO_FD fd = open_dir(o, (struct str){ w->text, w->n }, &outside);

	fd_closep(&outside);
	if (fd < 0 || !dirs_text(fd, o->path, text, &below))
		return false;
	return stopped_follow(o->proc, o->path, below.n ? below.p : "", w) == 0;
}

/* Cut off the last component; slashes after it mean nothing here. */
static struct str cut_last(struct stopped_path *w, struct str *last)
{
	while (w->n > 1 && w->text[w->n - 1] == '/')
		w->text[--w->n] = '\0';
	const char *slash = memrchr(w->text, '/', w->n);
	const size_t n = (size_t)(slash - w->text);

	*last = (struct str){ w->text + n + 1, w->n - n - 1 };
	return (struct str){ w->text, n };
}

static bool is_dots(struct str s)
{
	return str_eq(s, STR(".")) || str_eq(s, STR(".."));
}

/* Where the link at the end of a path leads: *w becomes that. False if it is not a link. */
static bool follow_link(struct observer *o, const struct seen_dir *in, struct str dir,
			const char *name, struct stopped_path *w)
{
	char target[PATH_MAX] UNINITIALISED;
	const ssize_t n =
		readlinkat(in->dir ? in->dir->fd : in->outside, name, target, sizeof target - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';
	return stopped_follow(o->proc, dir, target, w) == 0;
}

/* Find what the path means to the caller, without following a link at its end. *dir and *in are
 * where it lies; in->dir is NULL outside the workspace. False: it means nothing. */
static bool find(struct observer *o, struct stopped_path *w, struct str *dir,
		 const struct seen_dir **in, char name[NAME_MAX + 1])
{
	struct str last, below;

	*dir = cut_last(w, &last);
	if (is_dots(last)) {
		if (!name_dots(o, w))
			return false;
		*dir = cut_last(w, &last);
	}
	/* The root is "." in itself. */
	if (path_within(o->path, (struct str){ w->text, w->n }, &below) && below.n == 0) {
		*dir = o->path;
		last = STR(".");
	}
	if (last.n == 0 || last.n > NAME_MAX || !(*in = see_dir(o, *dir)))
		return false;
	memcpy(name, last.p, last.n);
	name[last.n] = '\0';
	return true;
}

/* Most of what is opened for writing by an absolute path is a device. */
static bool is_elsewhere(const struct observer *o, const char *path)
{
	return (strcmp(path, "/dev/null") == 0 || strcmp(path, "/dev/tty") == 0) &&
	       !str_starts(o->path, STR("/dev"));
}

/* The path as the caller sees it. Its directory in /proc is held, because most calls come from the
 * process that made the last one. */
static bool find_way(struct observer *o, const struct stopped_call *d, const struct intent_path *p,
		     struct stopped_path *ret)
{
	if (o->proc_of == d->pid && stopped_absolute(o->proc, p->dir, p->text, ret) == 0)
		return true;
	fd_closep(&o->proc);
	o->proc = stopped_proc(d);
	o->proc_of = o->proc < 0 ? 0 : d->pid;
	return o->proc >= 0 && stopped_absolute(o->proc, p->dir, p->text, ret) == 0;
}

/* Something is about to happen to a path of the caller. If a link is followed, it is touched as
 * well as what it leads to: that costs less than to ask first whether it is one. */
static void touch_path(struct observer *o, const struct stopped_call *d,
		       const struct intent *intent, size_t which)
{
	const struct intent_path *p = &intent->path[which];
	struct stopped_path w UNINITIALISED;
	char name[NAME_MAX + 1] UNINITIALISED;

	if (!*p->text || is_elsewhere(o, p->text) || !find_way(o, d, p, &w) ||
	    !supervisor_is_waiting(d))
		return;
	for (int hops = 0; hops < LIMIT_LINK_HOPS; hops++) {
		const struct seen_dir *in;
		struct str dir;
		if (!find(o, &w, &dir, &in, name)) {
			o->is_outside = true;
			return;
		}
		const bool may_be_link = !in->dir || recording_touch_in(o->recording, in->dir, name,
									care_of(intent, which));
		if (p->follow && may_be_link && follow_link(o, in, dir, name, &w))
			continue;
		o->is_outside |= !in->dir;
		if (in->dir && is_moving(intent) && is_dir(in->dir->fd, name))
			forget_dirs(o);
		return;
	}
}

/* Whatever happens here, the call goes on. */
static enum judgement look_at(void *arg, const struct stopped_call *d)
{
	struct observer *o = arg;
	struct intent intent UNINITIALISED;
	const int rc = intent_read(d, &intent);

	o->is_outside = false;
	/* A call whose arguments cannot be read changes something that is not known. */
	if (rc < 0)
		o->recording->missed = true;
	for (size_t i = 0; rc > 0 && i < intent.count; i++)
		touch_path(o, d, &intent, i);
	return o->is_outside && o->outside.look ? o->outside.look(o->outside.arg, d) : JUDGE_PASSES;
}

int observer_init(struct observer *o, struct recording *r, struct err *e)
{
	const struct workspace *ws = journal_workspace(r->journal);
	const struct path top = { .base = PATH_WORKSPACE };

	*o = (struct observer){ .recording = r, .proc = -1, .path = ws_rules(ws)->root };
	for (size_t i = 0; i < OBSERVER_DIRS; i++)
		o->seen[i].outside = -1;
	o->root = ws_open(ws, &top, O_PATH | O_DIRECTORY, e);
	return o->root < 0 ? -1 : 0;
}

void observer_done(struct observer *o)
{
	if (!o->recording)
		return;
	forget_dirs(o);
	fd_closep(&o->proc);
	fd_closep(&o->root);
}

void observer_pass_on(struct observer *o, struct judge outside)
{
	o->outside = outside;
}

struct judge observer_judge(struct observer *o)
{
	return (struct judge){ look_at, o };
}
