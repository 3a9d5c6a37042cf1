/* SPDX-License-Identifier: MIT */
/* home: mkdir, flock, rename, and the removal of what nobody needs. */

#include "changes/home.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "workspace/filelock.h"
#include "base/io.h"
#include "base/own.h"
#include "base/sha256.h"
#include "changes/limits.h"

enum { AS_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK };

/* In the order in which they are removed: as long as the last ones are there it is provably a home,
 * and who has the lock is alone. */
const char *const home_files[] = {
	"turns", "numbers", "segments", "workspace", "key", "lock", NULL
};
const char *const home_dirs[] = { "links", "stage", "writers", NULL };

void home_close_dir(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

#define AUTO_DIR CLEANUP(home_close_dir) DIR *

DIR *home_entries(int dir, const char *name)
{
	const int fd = openat(dir, name, AS_DIR);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		(void)close(fd);
	return d;
}

const char *home_next(DIR *d)
{
	const struct dirent *f;

	do
		f = readdir(d);
	while (f && (strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0));
	return f ? f->d_name : NULL;
}

void home_name(struct str workspace, char out[HOME_NAME])
{
	const char *slash = memrchr(workspace.p, '/', workspace.n);
	const struct str last =
		slash ? str_from(workspace, (size_t)(slash - workspace.p) + 1) : workspace;
	uint8_t hash[SHA256_SIZE];
	char hex[SHA256_TEXT];

	sha256_of(workspace, hash);
	(void)snprintf(out, HOME_NAME, "%.*s-%.16s", STR_FMT(str_upto(last, 64)),
		       sha256_text(hash, hex).p);
}

/* Read `digits` hexadecimal ones. */
static bool read_hex(const char *text, size_t digits, uint64_t *ret)
{
	if (strspn(text, "0123456789abcdef") < digits)
		return false;
	char part[17];
	(void)snprintf(part, sizeof part, "%.*s", (int)digits, text);
	*ret = strtoull(part, NULL, 16);
	return true;
}

void home_segment_name(uint32_t number, uint64_t owner, char out[SEGMENT_NAME])
{
	if (owner)
		(void)snprintf(out, SEGMENT_NAME, "%08x-%016llx.log", number,
			       (unsigned long long)owner);
	else
		(void)snprintf(out, SEGMENT_NAME, "%08x.log", number);
}

bool home_is_segment(const char *name, uint32_t *number, uint64_t *owner)
{
	char wanted[SEGMENT_NAME];
	uint64_t n;

	*owner = 0;
	if (!read_hex(name, 8, &n) || n == 0 ||
	    (name[8] == '-' && (!read_hex(name + 9, 16, owner) || *owner == 0)))
		return false;
	*number = (uint32_t)n;
	home_segment_name(*number, *owner, wanted);
	return strcmp(name, wanted) == 0;
}

void home_segments(int dir, segment_visit *visit, void *arg)
{
	AUTO_DIR d = home_entries(dir, ".");
	const char *name;
	uint32_t number;
	uint64_t owner;

	while (d && (name = home_next(d)))
		if (home_is_segment(name, &number, &owner))
			visit(arg, number, owner);
}

static bool is_hex(const char *name)
{
	return *name && strspn(name, "0123456789abcdef") == strlen(name);
}

static void remove_links(int links, const char *segment)
{
	AUTO_DIR d = home_entries(links, segment);
	const char *name;

	while (d && (name = home_next(d)))
		if (is_hex(name))
			(void)unlinkat(dirfd(d), name, 0);
	(void)unlinkat(links, segment, AT_REMOVEDIR);
}

static const char *links_name(uint32_t segment, char out[16])
{
	(void)snprintf(out, 16, "%x", segment);
	return out;
}

void home_remove_links(int links, uint32_t segment)
{
	char name[16];

	remove_links(links, links_name(segment, name));
}

/* Whether there is a segment of that number, or of that owner, or any. */
struct sought {
	uint32_t number;
	uint64_t owner;
	bool any, found;
};

static void look_for(void *arg, uint32_t number, uint64_t owner)
{
	struct sought *w = arg;

	w->found |= w->any || number == w->number || (owner && owner == w->owner);
}

void home_remove_lost_links(const struct home *h)
{
	AUTO_DIR d = home_entries(h->links, ".");
	const char *name;

	/* A segment is there before its links are: one that is not there now has been removed. */
	while (d && (name = home_next(d))) {
		struct sought w = { .number = (uint32_t)strtoul(name, NULL, 16) };
		if (!is_hex(name))
			continue;
		home_segments(h->dir, look_for, &w);
		if (!w.found)
			remove_links(h->links, name);
	}
}

void home_count_links(int links, uint32_t segment, int64_t *bytes, uint32_t *last)
{
	char sub[16];
	const char *name;
	struct stat st;
	AUTO_DIR d = home_entries(links, links_name(segment, sub));

	while (d && (name = home_next(d))) {
		const unsigned long number = strtoul(name, NULL, 16);
		if (number > *last)
			*last = (uint32_t)number;
		if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			*bytes += st.st_size;
	}
}

bool home_find_inode(int links, uint32_t segment, uint64_t ino, uint32_t *number)
{
	char sub[16];
	const char *name;
	struct stat st;
	AUTO_DIR d = home_entries(links, links_name(segment, sub));

	while (d && (name = home_next(d))) {
		if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_ino != ino)
			continue;
		*number = (uint32_t)strtoul(name, NULL, 16);
		return true;
	}
	return false;
}

/* Make the directory and its parents. 0, or -1 with errno. */
static int make_all(const char *path)
{
	char part[PATH_MAX];

	if (strlen(path) >= sizeof part) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (const char *at = path; (at = strchr(at + 1, '/'));) {
		(void)snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return -1;
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

static int open_sub(int dir, const char *name)
{
	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -1;
	return openat(dir, name, AS_DIR);
}

static int open_file(int dir, const char *name, int flags)
{
	return openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags,
		      0600);
}

int home_read_file(int dir, const char *name, char *to, size_t size)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, to, size - 1);

	to[n > 0 ? n : 0] = '\0';
	return (int)n;
}

static int write_small(int dir, const char *name, const void *bytes, size_t n)
{
	AUTO_FD fd = open_file(dir, name, O_TRUNC);

	return fd < 0 ? -1 : io_write_all(fd, (struct str){ bytes, n }, IO_FOREVER);
}

/* What says whose home it is. A seed that is damaged is replaced: the records of old are not
 * readable then, and are removed in time. */
static int identify(int dir, struct str workspace, uint64_t *seed)
{
	char text[sizeof *seed + 1], known[PATH_MAX];

	if (home_read_file(dir, "key", text, sizeof text) == (int)sizeof *seed) {
		memcpy(seed, text, sizeof *seed);
	} else {
		io_random(seed, sizeof *seed);
		if (write_small(dir, "key", seed, sizeof *seed) < 0)
			return -1;
	}
	const int n = home_read_file(dir, "workspace", known, sizeof known);
	if (n >= 0 && str_eq((struct str){ known, (size_t)n }, workspace))
		return 0;
	return write_small(dir, "workspace", workspace.p, workspace.n);
}

static void writer_name(uint64_t writer, char out[32])
{
	(void)snprintf(out, 32, "writers/%016llx", (unsigned long long)writer);
}

static bool is_linked(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

bool home_is_alone(int lock)
{
	return flock(lock, LOCK_EX | LOCK_NB) == 0 && is_linked(lock);
}

static const struct lock_range whole = { 0, 0 };

/* Be one of the writers. 0, or -1 with errno. */
static int enter(struct home *h)
{
	char name[32], pid[16];

	AUTO_FD writers = open_sub(h->dir, "writers");
	for (int tries = 0; writers >= 0 && tries < 8; tries++) {
		io_random(&h->id, sizeof h->id);
		h->id |= 1; /* 0 is nobody */
		writer_name(h->id, name);
		AUTO_FD fd = open_file(h->dir, name, O_EXCL);
		AUTO_FD self = fd < 0 ? -1 : open_file(h->dir, name, 0);
		if (self < 0)
			return -1;
		/* Somebody may take it for one that a dead program has left. */
		if (filelock_take(self, whole, FILELOCK_ALONE, 0) < 0 ||
		    flock(fd, LOCK_EX | LOCK_NB) < 0 || !is_linked(fd))
			continue;
		const int n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
		/* For who looks at it. Where there is no space there is no pid either. */
		(void)io_write_all(fd, (struct str){ pid, (size_t)n }, IO_FOREVER);
		h->writer = TAKE(fd, -1);
		h->self = TAKE(self, -1);
		return 0;
	}
	return -1;
}

static void close_all(struct home *h)
{
	int *const fds[] = { &h->dir,	&h->links,   &h->stage,	 &h->lock,
			     &h->turns, &h->numbers, &h->writer, &h->self };

	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fd_closep(fds[i]);
}

/* Open what is in the directory. 0, or -1 with errno: ESTALE if it is being removed. */
static int furnish(struct home *h, struct str workspace)
{
	const int64_t deadline = io_now_ms() + LIMIT_HOME_MS;

	h->lock = open_file(h->dir, "lock", 0);
	if (h->lock < 0 && errno != ENOENT)
		return -1;
	if (h->lock < 0 || flock(h->lock, LOCK_SH | LOCK_NB) < 0 || !is_linked(h->lock)) {
		errno = ESTALE;
		return -1;
	}
	h->links = open_sub(h->dir, "links");
	h->stage = open_sub(h->dir, "stage");
	h->turns = open_file(h->dir, "turns", 0);
	h->numbers = open_file(h->dir, "numbers", O_APPEND);
	/* Not by a lock of the turns: somebody may have all of them for long. */
	if (h->links < 0 || h->stage < 0 || h->turns < 0 || h->numbers < 0 ||
	    filelock_take(h->numbers, whole, FILELOCK_ALONE, deadline) < 0)
		return -1;
	const int rc = identify(h->dir, workspace, &h->seed);
	filelock_release(h->numbers, whole);
	return rc < 0 ? -1 : enter(h);
}

/* As well. */
static int open_dir(const char *path, struct home *h, struct err *e)
{
	struct stat st;

	if (make_all(path) < 0)
		return err_errno(e, "%s cannot be made", path);
	h->dir = open(path, AS_DIR);
	if (h->dir < 0 && errno == ENOENT) {
		errno = ESTALE;
		return -1;
	}
	if (h->dir < 0 || fstat(h->dir, &st) < 0)
		return err_errno(e, "%s cannot be opened", path);
	if (st.st_uid != geteuid())
		return err_set(e, ERR_PERMISSION_DENIED, "%s belongs to another user", path);
	if ((st.st_mode & 0777) != 0700 && fchmod(h->dir, 0700) < 0)
		return err_errno(e, "%s cannot be made private", path);
	return 0;
}

int home_open(const char *path, struct str workspace, struct home *ret, struct err *e)
{
	const int64_t deadline = io_now_ms() + LIMIT_HOME_MS;

	for (;;) {
		struct home h = HOME_NONE;
		errno = 0;
		if (open_dir(path, &h, e) < 0 && errno != ESTALE) {
			close_all(&h);
			return -1;
		}
		if (h.dir >= 0 && furnish(&h, workspace) == 0) {
			*ret = h;
			return 0;
		}
		const int error = errno;
		close_all(&h);
		errno = error;
		if (error != ESTALE || io_now_ms() >= deadline)
			return err_errno(e, "%s cannot be written", path);
		io_sleep_ms(1);
	}
}

/* Count one more; 0 with errno. */
static uint64_t count(int fd)
{
	const off_t end = write(fd, "", 1) == 1 ? lseek(fd, 0, SEEK_CUR) : -1;

	return end > 0 ? (uint64_t)end : 0;
}

/* The same, but more than `last`: the file may be damaged, or older than what is there. */
static uint64_t count_above(int fd, uint64_t last)
{
	static const char none[4096];
	uint64_t n = count(fd);

	/* By appending as well, so that a number given meanwhile does no harm. */
	while (n && n < last) {
		const uint64_t left = last - n;
		const ssize_t more = write(fd, none, left < sizeof none ? left : sizeof none);
		if (more <= 0)
			return 0;
		n += (uint64_t)more;
	}
	return n && n <= last ? count_above(fd, last) : n;
}

uint64_t home_number(const struct home *h, uint64_t last)
{
	return count_above(h->numbers, last);
}

uint32_t home_segment_number(const struct home *h, uint32_t last)
{
	/* It is rarely needed. */
	AUTO_FD fd = open_file(h->dir, "segments", O_APPEND);

	return fd < 0 ? 0 : (uint32_t)count_above(fd, last);
}

int home_claim(const struct home *h, uint64_t writer)
{
	char name[32];

	writer_name(writer, name);
	AUTO_FD fd = open_file(h->dir, name, 0);
	if (fd < 0 || filelock_take(fd, whole, FILELOCK_ALONE, 0) < 0 || !is_linked(fd))
		return -1;
	return TAKE(fd, -1);
}

bool home_sweep(const struct home *h)
{
	AUTO_DIR d = home_entries(h->dir, "writers");
	bool quiet = true;
	const char *name;

	while (d && (name = home_next(d))) {
		struct sought its = { .owner = 0 };
		if (!is_hex(name) || !read_hex(name, 16, &its.owner) || its.owner == h->id)
			continue;
		AUTO_FD self = home_claim(h, its.owner);
		AUTO_FD fd = self < 0 ? -1
				      : openat(dirfd(d), name,
					       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (self < 0)
			continue;
		home_segments(h->dir, look_for, &its);
		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
			quiet = false;
		else if (!its.found)
			(void)unlinkat(dirfd(d), name, 0);
	}
	return quiet;
}

void home_remove(int dir, int parent, const char *name)
{
	const char *entry;
	uint32_t number;
	uint64_t owner;

	AUTO_DIR links = home_entries(dir, "links");
	while (links && (entry = home_next(links)))
		if (is_hex(entry))
			remove_links(dirfd(links), entry);
	AUTO_DIR writers = home_entries(dir, "writers");
	while (writers && (entry = home_next(writers)))
		if (is_hex(entry))
			(void)unlinkat(dirfd(writers), entry, 0);
	AUTO_DIR segments = home_entries(dir, ".");
	while (segments && (entry = home_next(segments)))
		if (home_is_segment(entry, &number, &owner))
			(void)unlinkat(dir, entry, 0);
	for (size_t i = 0; home_dirs[i]; i++)
		(void)unlinkat(dir, home_dirs[i], AT_REMOVEDIR);
	for (size_t i = 0; home_files[i]; i++)
		(void)unlinkat(dir, home_files[i], 0);
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

void home_close(struct home *h, const char *path, bool empty)
{
	char name[32];

	writer_name(h->id, name);
	if (h->writer >= 0)
		(void)unlinkat(h->dir, name, 0);
	/* Somebody may have come, written and left since it was seen to be empty. */
	if (empty && h->lock >= 0 && home_is_alone(h->lock)) {
		struct sought any = { .any = true };
		home_segments(h->dir, look_for, &any);
		if (!any.found)
			home_remove(h->dir, AT_FDCWD, path);
	}
	close_all(h);
}
