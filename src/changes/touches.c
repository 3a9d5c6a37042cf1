/* SPDX-License-Identifier: MIT */
/* touches: two hash tables whose members are also lists, in the order in which they came. */

#include "changes/touches.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/own.h"
#include "changes/dirs.h"
#include "changes/limits.h"

void touches_done(struct touches *t)
{
	for (struct touched_dir *d = t->first_dir; d; d = d->next)
		fd_closep(&d->fd);
	mem_free(t->dirs);
	mem_free(t->names);
	mem_free(t->objects);
	*t = (struct touches){ 0 };
}

static size_t dir_bucket(dev_t dev, ino_t ino, size_t room)
{
	const uint64_t key[] = { dev, ino };

	return XXH3_64bits(key, sizeof key) & (room - 1);
}

static size_t name_bucket(const struct touched_dir *d, struct str name, size_t room)
{
	return XXH3_64bits_withSeed(name.p, name.n, d->ino) & (room - 1);
}

struct touched_dir *touches_find_inode(const struct touches *t, dev_t dev, ino_t ino)
{
	struct touched_dir *d = t->dir_room ? t->dirs[dir_bucket(dev, ino, t->dir_room)] : NULL;

	while (d && (d->dev != dev || d->ino != ino))
		d = d->chain;
	return d;
}

struct touched_dir *touches_find_dir(const struct touches *t, int dir)
{
	struct stat st;

	return fstat(dir, &st) < 0 ? NULL : touches_find_inode(t, st.st_dev, st.st_ino);
}

/* Double the number of buckets, when there are as many members. */
static bool grow_dirs(struct touches *t)
{
	const size_t room = t->dir_room ? t->dir_room * 2 : 16;

	if (t->dir_count < t->dir_room)
		return true;
	struct touched_dir **dirs = mem_new(room, sizeof *dirs);
	if (!dirs)
		return false;
	for (struct touched_dir *d = t->first_dir; d; d = d->next) {
		struct touched_dir **at = &dirs[dir_bucket(d->dev, d->ino, room)];
		d->chain = *at;
		*at = d;
	}
	mem_free(t->dirs);
	t->dirs = dirs;
	t->dir_room = room;
	return true;
}

/* A descriptor has the lowest number that is free: as long as it is below three quarters of the
 * limit, the server has some for everything else. */
static bool may_hold(int fd)
{
	struct rlimit files;

	return fd >= 0 && getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	       (rlim_t)fd < files.rlim_cur / 4 * 3;
}

static struct touched_dir *add_dir(struct touches *t, struct arena *a, int dir)
{
	struct touched_dir *d = arena_alloc(a, sizeof *d);
	struct stat st;

	if (!d || t->dir_count == LIMIT_CHANGE_DIRS || fstat(dir, &st) < 0 || !grow_dirs(t))
		return NULL;
	*d = (struct touched_dir){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.fd = fcntl(dir, F_DUPFD_CLOEXEC, 3),
		.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
	};
	if (!may_hold(d->fd)) {
		fd_closep(&d->fd);
		return NULL;
	}
	struct touched_dir **at = &t->dirs[dir_bucket(d->dev, d->ino, t->dir_room)];
	d->chain = *at;
	*at = d;
	*(t->last_dir ? &t->last_dir->next : &t->first_dir) = d;
	t->last_dir = d;
	t->dir_count++;
	return d;
}

struct touched *touches_find(const struct touches *t, const struct touched_dir *d, struct str name)
{
	struct touched *at = t->room ? t->names[name_bucket(d, name, t->room)] : NULL;

	while (at && (at->dir != d || !str_eq(str_of(at->name), name)))
		at = at->chain;
	return at;
}

void touches_note_object(struct touches *t, struct touched *n)
{
	if (n->before.type == STATE_NONE)
		return;
	struct touched **at = &t->objects[dir_bucket(n->before.dev, n->before.ino, t->room)];
	n->object_chain = *at;
	*at = n;
}

static bool grow_names(struct touches *t)
{
	const size_t room = t->room ? t->room * 2 : 16;

	if (t->count < t->room)
		return true;
	struct touched **names = mem_new(room, sizeof *names);
	struct touched **objects = mem_new(room, sizeof *objects);
	if (!names || !objects) {
		mem_free(names);
		mem_free(objects);
		return false;
	}
	mem_free(t->names);
	mem_free(t->objects);
	t->names = names;
	t->objects = objects;
	t->room = room;
	for (struct touched *n = t->first; n; n = n->next) {
		struct touched **at = &names[name_bucket(n->dir, str_of(n->name), room)];
		n->chain = *at;
		*at = n;
		touches_note_object(t, n);
	}
	return true;
}

struct touched *touches_add(struct touches *t, struct arena *a, struct touched_dir *d,
			    const char *name)
{
	struct touched *n = arena_alloc(a, sizeof *n);
	const struct str copy = arena_dup(a, str_of(name));

	if (!n || !copy.p || !grow_names(t))
		return NULL;
	*n = (struct touched){ .dir = d, .name = copy.p };
	struct touched **at = &t->names[name_bucket(d, copy, t->room)];
	n->chain = *at;
	*at = n;
	*(t->last ? &t->last->next : &t->first) = n;
	t->last = n;
	t->count++;
	return n;
}

struct touched *touches_find_object(const struct touches *t, dev_t dev, ino_t ino)
{
	struct touched *n = t->room ? t->objects[dir_bucket(dev, ino, t->room)] : NULL;

	while (n && (n->before.ino != ino || n->before.dev != dev))
		n = n->object_chain;
	return n;
}

struct str touches_find_other(const struct touches *t, struct arena *a, int dir, const char *name,
			      const struct path_state *file)
{
	const struct touched *n = file->type == STATE_FILE && file->nlink > 1
					  ? touches_find_object(t, file->dev, file->ino)
					  : NULL;
	struct stat st;

	while (n && (n->before.ino != file->ino || n->before.dev != file->dev ||
		     (n->dir->fd == dir && strcmp(n->name, name) == 0) ||
		     fstatat(n->dir->fd, n->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		     st.st_ino != file->ino || st.st_dev != file->dev))
		n = n->object_chain;
	return n && touches_find_text(t, a, n->dir, true)
		       ? dirs_join(a, n->dir->text, str_of(n->name))
		       : STR("");
}

void touches_note_left(const struct touches *t, struct arena *a, int dir, const char *name,
		       struct str content, uint64_t seed, bool whole)
{
	const struct touched_dir *d = touches_find_dir(t, dir);
	struct touched *n = d ? touches_find(t, d, str_of(name)) : NULL;
	struct left_content *left = n ? arena_alloc(a, sizeof *left) : NULL;

	if (!left)
		return;
	*left = (struct left_content){ .size = (int64_t)content.n };
	record_hash_of(seed, content, left->hash);
	if (whole)
		left->text = arena_dup(a, content);
	n->left = left;
}

/* Whether there was another object, or none, by this name before the change. */
static bool was_another(const struct touched *t, const struct stat *now)
{
	return t && (t->before.type != STATE_DIR || t->before.ino != now->st_ino ||
		     t->before.dev != now->st_dev);
}

static void find_origin(const struct touches *t, struct arena *a, int dir, struct str now,
			struct touched_dir *d)
{
	AUTO_FD at = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	size_t keep = now.n; /* so many bytes of the text lead to `at` */
	struct stat st;

	while (at >= 0 && keep && fstat(at, &st) == 0) {
		const char *slash = memrchr(now.p, '/', keep);
		const size_t parent_n = slash ? (size_t)(slash - now.p) : 0;
		const struct str name = str_from(str_upto(now, keep), slash ? parent_n + 1 : 0);
		const int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		fd_closep(&at);
		at = up;
		const struct touched_dir *parent = at < 0 ? NULL : touches_find_dir(t, at);
		keep = parent_n;
		if (!parent || parent->is_outside)
			continue;
		d->is_new = parent->is_new || was_another(touches_find(t, parent, name), &st);
		if (!d->is_new)
			d->path =
				dirs_join(a, parent->path, str_from(now, slash ? parent_n + 1 : 0));
		return;
	}
}

static bool find_path(const struct touches *t, int dir, char out[PATH_MAX], struct str *ret)
{
	return t->rules && dirs_text(dir, t->rules, out, ret);
}

struct touched_dir *touches_dir(struct touches *t, struct arena *a, int dir)
{
	struct touched_dir *d = touches_find_dir(t, dir);
	char text[PATH_MAX] UNINITIALISED;
	struct str now;

	if (d)
		return d;
	const bool is_outside = !find_path(t, dir, text, &now);
	errno = EXDEV;
	if (is_outside && !t->has_outside)
		return NULL;
	errno = ENOMEM;
	d = add_dir(t, a, dir);
	if (!d)
		return NULL;
	d->is_outside = is_outside;
	if (is_outside)
		return d;
	d->path = d->text = arena_dup(a, now);
	d->moves = t->moves;
	if (t->first)
		find_origin(t, a, dir, now, d);
	return d;
}

bool touches_find_text(const struct touches *t, struct arena *a, struct touched_dir *d, bool ask)
{
	char text[PATH_MAX] UNINITIALISED;
	struct str now;

	if (d->is_outside)
		return false;
	if (d->moves == t->moves && !ask)
		return true;
	if (!find_path(t, d->fd, text, &now))
		return false;
	if (!str_eq(d->text, now))
		d->text = arena_dup(a, now);
	d->moves = t->moves;
	return d->text.p;
}
