/* SPDX-License-Identifier: MIT */
/* dir: enter directories by descriptor, keep a bounded number open, read their ignore rules and
 * their names (by getdents64). */

#include "search/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "search/limits.h"

enum {
	OPEN_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
	OPEN_FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
	/* When a way had to be opened again, this many directories at its end stay open: the walk
	 * comes back up that way. */
	KEEP_OPEN = LIMIT_WALK_DIRS / 4,
};

static void unlink_open(struct dirs *all, struct dir *d)
{
	*(d->older ? &d->older->newer : &all->oldest) = d->newer;
	*(d->newer ? &d->newer->older : &all->newest) = d->older;
	d->older = d->newer = NULL;
	all->open--;
}

/* Under the lock: close what was opened longest ago until there is room for one more. The walk goes
 * depth first, so it will be needed last. */
static void make_room(struct dirs *all)
{
	for (struct dir *d = all->oldest; d && all->open >= LIMIT_WALK_DIRS;) {
		struct dir *newer = d->newer;

		if (d->users == 0) {
			unlink_open(all, d);
			fd_closep(&d->fd);
		}
		d = newer;
	}
}

/* Give a directory its descriptor, unless another thread was faster, and enter it. */
static int install(struct dirs *all, struct dir *d, int fd)
{
	pthread_mutex_lock(&all->lock);
	if (d->fd < 0) {
		make_room(all);
		d->fd = TAKE(fd, -1);
		d->older = all->newest;
		*(all->newest ? &all->newest->newer : &all->oldest) = d;
		all->newest = d;
		all->open++;
	}
	d->users++;
	const int got = d->fd;
	pthread_mutex_unlock(&all->lock);
	fd_closep(&fd);
	return got;
}

int dirs_init(struct dirs *all, int dirfd)
{
	*all = (struct dirs){ 0 };
	/* A descriptor of our own: reading a directory moves the position. */
	AUTO_FD fd = openat(dirfd, ".", OPEN_DIR);
	if (fd < 0)
		return -1;
	all->root = mem_new(1, sizeof *all->root + 1);
	if (!all->root) {
		errno = ENOMEM;
		return -1;
	}
	all->root->fd = TAKE(fd, -1);
	all->root->owners = 1;
	pthread_mutex_init(&all->lock, NULL);
	return 0;
}

void dirs_done(struct dirs *all)
{
	if (!all->root)
		return;
	dir_drop(all, all->root);
	pthread_mutex_destroy(&all->lock);
	*all = (struct dirs){ 0 };
}

struct dir *dir_new(struct dirs *all, struct dir *up, struct str name)
{
	struct dir *d = mem_new(1, sizeof *d + name.n + 1);

	if (!d)
		return NULL;
	memcpy(d->name, name.p, name.n);
	d->name_n = name.n;
	d->fd = -1;
	d->owners = 1;
	d->depth = up->depth + 1;
	d->up = up;
	dir_hold(all, up);
	return d;
}

void dir_hold(struct dirs *all, struct dir *d)
{
	pthread_mutex_lock(&all->lock);
	d->owners++;
	pthread_mutex_unlock(&all->lock);
}

void dir_drop(struct dirs *all, struct dir *d)
{
	while (d) {
		struct dir *up = d->up;

		pthread_mutex_lock(&all->lock);
		const bool last = --d->owners == 0;
		if (last && d->fd >= 0 && d->up)
			unlink_open(all, d);
		pthread_mutex_unlock(&all->lock);
		if (!last)
			return;
		fd_closep(&d->fd);
		ignore_drop(d->git);
		ignore_drop(d->dot);
		mem_free(d);
		d = up;
	}
}

/* Open the way from `from`, which has been entered, down to d. Leaves `from`. */
static int open_way(struct dirs *all, struct dir *from, struct dir *d)
{
	const size_t n = d->depth - from->depth;
	struct dir **way = mem_new(n, sizeof *way);
	struct dir *at = from; /* entered; NULL while only `own` is open */
	AUTO_FD own = -1;

	for (struct dir *up = d; way && up != from; up = up->up)
		way[up->depth - from->depth - 1] = up;
	int fd = way ? from->fd : -1;
	for (size_t i = 0; i < n && fd >= 0; i++) {
		int next = openat(fd, way[i]->name, OPEN_DIR);
		const int error = errno;

		if (at)
			dir_leave(all, at);
		at = NULL;
		fd_closep(&own);
		if (next < 0) {
			fd = -1;
			errno = error;
		} else if (n - i <= KEEP_OPEN) {
			at = way[i];
			fd = install(all, at, next);
		} else {
			own = fd = next;
		}
	}
	if (fd < 0 && at)
		dir_leave(all, at);
	mem_free(way);
	return fd;
}

int dir_enter(struct dirs *all, struct dir *d)
{
	struct dir *from = d;

	pthread_mutex_lock(&all->lock);
	while (from->fd < 0)
		from = from->up;
	from->users++;
	const int fd = from->fd;
	pthread_mutex_unlock(&all->lock);
	if (from == d)
		return fd;
	if (from != d->up)
		return open_way(all, from, d);

	const int got = openat(fd, d->name, OPEN_DIR);
	const int error = errno;
	dir_leave(all, from);
	errno = error;
	return got < 0 ? -1 : install(all, d, got);
}

void dir_leave(struct dirs *all, struct dir *d)
{
	pthread_mutex_lock(&all->lock);
	d->users--;
	pthread_mutex_unlock(&all->lock);
}

void dir_path(const struct dir *d, struct buf *out)
{
	size_t n = 0;

	for (const struct dir *up = d; up->up; up = up->up)
		n += up->name_n + 1;
	char *to = buf_room(out, n);
	if (!to)
		return;
	buf_filled(out, n);
	to += n;
	for (; d->up; d = d->up) {
		*--to = '/';
		to -= d->name_n;
		memcpy(to, d->name, d->name_n);
	}
}

int dir_open_file(int dirfd, const char *name)
{
	return openat(dirfd, name, OPEN_FILE);
}

/* The type of an entry, a DT_ value, for file systems whose directories do not give it. */
static unsigned char dir_entry_type(int dirfd, const char *name)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return (unsigned char)IFTODT(st.st_mode);
}

int64_t dir_entry_size(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -1 : st.st_size;
}

/* Read a small regular file, at most LIMIT_IGNORE_BYTES of it; nothing when it cannot be read.
 * `path` may have several components; links are not followed. */
static void read_small(int dirfd, const char *const path[], size_t components, struct buf *out)
{
	AUTO_FD dir = -1;
	int at = dirfd;
	struct stat st;

	for (size_t i = 0; i + 1 < components; i++) {
		const int next = openat(at, path[i], OPEN_DIR);

		fd_closep(&dir);
		at = dir = next;
		if (next < 0)
			return;
	}
	AUTO_FD fd = openat(at, path[components - 1], OPEN_FILE);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	const size_t size =
		st.st_size < LIMIT_IGNORE_BYTES ? (size_t)st.st_size : LIMIT_IGNORE_BYTES;
	char *to = buf_room(out, size);
	const ssize_t n = to ? io_read_full(fd, to, size) : -1;
	if (n > 0)
		buf_filled(out, (size_t)n);
}

bool dir_reads_whole(int dirfd)
{
	struct statfs fs;

	if (fstatfs(dirfd, &fs) < 0)
		return false;
	switch ((uint32_t)fs.f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
		return true;
	default:
		return false;
	}
}

bool dir_has(int dirfd, const char *in, const char *name)
{
	AUTO_FD sub = in ? openat(dirfd, in, OPEN_DIR) : -1;
	struct stat st;

	return (!in || sub >= 0) && fstatat(in ? sub : dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static struct ignore *rules_of(int fd, const char *const path[], size_t components, size_t depth,
			       struct ignore *up)
{
	AUTO_BUF text = { .max = LIMIT_IGNORE_BYTES };

	read_small(fd, path, components, &text);
	return ignore_new(buf_str(&text), depth, up);
}

/* Add the rules of the directory that is open as fd, whose path is `depth` bytes long. A repository
 * starts anew: no .gitignore above it applies, only its own exclude file and the user's. */
static void add_rules(struct dir *d, int fd, const struct rule_files *has, size_t depth,
		      struct str excludes)
{
	static const char *const gitignore[] = { ".gitignore" };
	static const char *const ignore[] = { ".ignore" };
	static const char *const exclude[] = { ".git", "info", "exclude" };

	if (has->git) {
		ignore_drop(d->git);
		d->git = ignore_new(excludes, depth, NULL);
		d->git = rules_of(fd, exclude, ARRAY_LEN(exclude), depth, d->git);
	}
	if (has->gitignore)
		d->git = rules_of(fd, gitignore, ARRAY_LEN(gitignore), depth, d->git);
	if (has->ignore)
		d->dot = rules_of(fd, ignore, ARRAY_LEN(ignore), depth, d->dot);
}

void dirs_read_rules(struct dirs *all, const int *parents, size_t count, struct str path,
		     struct str excludes)
{
	size_t depth = 0;

	all->root->git = ignore_new(excludes, 0, NULL);
	for (size_t i = 0; i < count; i++) {
		const struct rule_files has = {
			.git = dir_has(parents[i], NULL, ".git"),
			.gitignore = true,
			.ignore = true,
		};

		add_rules(all->root, parents[i], &has, depth, excludes);
		depth += (size_t)(str_index(str_from(path, depth), '/') + 1);
	}
}

void dir_read_rules(struct dir *d, int fd, const struct rule_files *has, size_t depth,
		    struct str excludes)
{
	if (d->up) {
		d->git = ignore_hold(d->up->git);
		d->dot = ignore_hold(d->up->dot);
	}
	add_rules(d, fd, has, depth, excludes);
}

enum ignore_verdict dir_hides(const struct dir *d, struct str path, size_t name_at, bool is_dir)
{
	const enum ignore_verdict v = ignore_match(d->dot, path, name_at, is_dir);

	return v == IGNORE_SILENT ? ignore_match(d->git, path, name_at, is_dir) : v;
}

enum { LIST_FIRST = 256 };

/* As the kernel writes it (getdents64). */
struct kernel_dirent {
	uint64_t ino;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

int listing_init(struct dir_listing *l)
{
	l->names.max = SIZE_MAX;
	l->dents = mem_new(1, LIMIT_WALK_DENTS);
	return l->dents ? 0 : -1;
}

void listing_done(struct dir_listing *l)
{
	mem_free(l->dents);
	mem_free(l->list);
	buf_done(&l->names);
}

void listing_reset(struct dir_listing *l)
{
	buf_reset(&l->names, SIZE_MAX);
	l->n = 0;
	l->rules = (struct rule_files){ 0 };
}

static enum hit_type hit_type_of(unsigned char type)
{
	switch (type) {
	case DT_REG:
		return HIT_FILE;
	case DT_DIR:
		return HIT_DIRECTORY;
	case DT_LNK:
		return HIT_LINK;
	default:
		return HIT_OTHER;
	}
}

static bool add(struct dir_listing *l, struct str name, enum hit_type type)
{
	if (l->n == l->cap) {
		const size_t cap = l->cap ? 2 * l->cap : LIST_FIRST;
		struct listed *bigger = mem_resize(l->list, cap, sizeof *bigger);

		if (!bigger)
			return false;
		l->list = bigger;
		l->cap = cap;
	}
	const size_t at = l->names.n;
	buf_add(&l->names, (struct str){ name.p, name.n + 1 });
	if (l->names.failed)
		return false;
	l->list[l->n++] = (struct listed){ .name = at, .name_n = (uint32_t)name.n, .type = type };
	return true;
}

static void note_rule_file(struct str name, struct rule_files *has)
{
	has->git |= str_eq(name, STR(".git"));
	has->gitignore |= str_eq(name, STR(".gitignore"));
	has->ignore |= str_eq(name, STR(".ignore"));
}

int listing_more(struct dir_listing *l, int fd)
{
	const long n = syscall(SYS_getdents64, fd, l->dents, LIMIT_WALK_DENTS);

	for (long at = 0; at < n;) {
		const struct kernel_dirent *d = (const void *)(l->dents + at);
		const struct str name = str_of(d->name);

		at += d->size;
		if (d->name[0] == '.') {
			if (str_eq(name, STR(".")) || str_eq(name, STR("..")))
				continue;
			note_rule_file(name, &l->rules);
		}
		const unsigned char type =
			d->type == DT_UNKNOWN ? dir_entry_type(fd, d->name) : d->type;
		if (!add(l, name, hit_type_of(type))) {
			errno = ENOMEM;
			return -1;
		}
	}
	return n > 0 ? 1 : (int)n;
}

static uint64_t sort_key(struct str name, bool is_dir)
{
	unsigned char first[8] = { 0 };
	uint64_t key = 0;

	memcpy(first, name.p, name.n < 8 ? name.n : 8);
	if (is_dir && name.n < 8)
		first[name.n] = '/';
	for (size_t i = 0; i < 8; i++)
		key = key << 8 | first[i];
	return key;
}

static int compare(const void *x, const void *y, void *names)
{
	const struct listed *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	/* A name ends in NUL, which sorts first as an end should; a directory's ends in '/'. */
	const unsigned char *p = (unsigned char *)names + a->name;
	const unsigned char *q = (unsigned char *)names + b->name;
	while (*p && *p == *q)
		p++, q++;
	const int c = *p ? *p : a->type == HIT_DIRECTORY ? '/' : 0;
	const int k = *q ? *q : b->type == HIT_DIRECTORY ? '/' : 0;
	return c - k;
}

void listing_sort(struct dir_listing *l)
{
	for (size_t i = 0; i < l->n; i++)
		l->list[i].key =
			sort_key(listing_name(l, &l->list[i]), l->list[i].type == HIT_DIRECTORY);
	if (l->n > 1)
		qsort_r(l->list, l->n, sizeof *l->list, compare, l->names.p);
}

/* Take what is in a directory, and below, from what may still be counted; false when that is used up. */
static bool count_below(int dirfd, const char *name, unsigned depth, int64_t *entries,
			int64_t *files)
{
	enum { SOME = 4 << 10 };
	_Alignas(struct kernel_dirent) char dents[SOME];
	AUTO_FD fd = openat(dirfd, name, OPEN_DIR);
	long n = 0;

	if (fd < 0 || depth == LIMIT_FILLED_DEPTH)
		return false;
	while ((n = syscall(SYS_getdents64, fd, dents, sizeof dents)) > 0)
		for (long at = 0; at < n;) {
			const struct kernel_dirent *d = (const void *)(dents + at);

			at += d->size;
			if (str_eq(str_of(d->name), STR(".")) || str_eq(str_of(d->name), STR("..")))
				continue;
			if (--*entries < 0)
				return false;
			const unsigned char type =
				d->type == DT_UNKNOWN ? dir_entry_type(fd, d->name) : d->type;
			if (type == DT_DIR ? !count_below(fd, d->name, depth + 1, entries, files)
					   : --*files < 0)
				return false;
		}
	return n == 0;
}

bool dir_count(int dirfd, const char *name, int64_t most, int64_t *files)
{
	int64_t entries = LIMIT_FILLED_ENTRIES, left = most - *files;
	const bool all = count_below(dirfd, name, 0, &entries, &left);

	*files = most - (left < 0 ? 0 : left);
	return all;
}
