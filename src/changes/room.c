/* SPDX-License-Identifier: MIT */
/* room: mkdir, flock, and the removal of what is not needed. */

#include "changes/room.h"

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

#include "base/io.h"
#include "base/own.h"
#include "base/sha256.h"

enum { AS_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK };

static void close_dirp(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

#define AUTO_DIR CLEANUP(close_dirp) DIR *

/* The entries of a directory; NULL if it cannot be opened. */
static DIR *entries(int dir, const char *name)
{
	const int fd = openat(dir, name, AS_DIR);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		(void)close(fd);
	return d;
}

/* The next entry but "." and "..", or NULL. */
static const char *next_name(DIR *d)
{
	const struct dirent *f;

	do
		f = readdir(d);
	while (f && (strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0));
	return f ? f->d_name : NULL;
}

void room_name(struct str workspace, char out[ROOM_NAME])
{
	const char *slash = memrchr(workspace.p, '/', workspace.n);
	const struct str last =
		slash ? str_from(workspace, (size_t)(slash - workspace.p) + 1) : workspace;
	uint8_t hash[SHA256_SIZE];
	char hex[SHA256_TEXT];

	sha256_of(workspace, hash);
	(void)snprintf(out, ROOM_NAME, "%.*s-%.16s", STR_FMT(str_upto(last, 64)),
		       sha256_text(hash, hex).p);
}

static bool is_hex(const char *name)
{
	return *name && strspn(name, "0123456789abcdef") == strlen(name);
}

void room_remove_links(int links, const char *segment)
{
	AUTO_DIR d = entries(links, segment);
	const char *name;

	while (d && (name = next_name(d)))
		if (is_hex(name))
			(void)unlinkat(dirfd(d), name, 0);
	(void)unlinkat(links, segment, AT_REMOVEDIR);
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

static int read_small(int dir, const char *name, char *to, size_t size)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, to, size - 1);

	to[n > 0 ? n : 0] = '\0';
	return (int)n;
}

static int write_small(int dir, const char *name, const void *bytes, size_t n)
{
	AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : io_write_all(fd, (struct str){ bytes, n }, IO_FOREVER);
}

/* The seed of the checksums. One that is damaged is replaced: the records of old are not readable
 * then, and are removed in time. */
static int read_seed(int dir, uint64_t *seed)
{
	char text[sizeof *seed + 1];

	if (read_small(dir, "key", text, sizeof text) == (int)sizeof *seed) {
		memcpy(seed, text, sizeof *seed);
		return 0;
	}
	io_random(seed, sizeof *seed);
	return write_small(dir, "key", seed, sizeof *seed);
}

static int take_lock(int dir, int *ret)
{
	AUTO_FD fd = openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	char pid[16];

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -1;
	const int n = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
	if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) != n)
		return -1;
	*ret = TAKE(fd, -1);
	return 0;
}

static int fail_locked(const char *path, int dir, struct err *e)
{
	char pid[16];

	(void)read_small(dir, "lock", pid, sizeof pid);
	return err_set(e, ERR_TOO_BUSY,
		       "another sidecar (pid %ld) keeps the journal of this workspace in %s",
		       strtol(pid, NULL, 10), path);
}

int room_open(const char *path, struct str workspace, struct room *ret, struct err *e)
{
	struct stat st;
	uint64_t seed;

	if (make_all(path) < 0)
		return err_errno(e, "%s cannot be made", path);
	AUTO_FD dir = open(path, AS_DIR);
	if (dir < 0 || fstat(dir, &st) < 0)
		return err_errno(e, "%s cannot be opened", path);
	if (st.st_uid != geteuid())
		return err_set(e, ERR_PERMISSION_DENIED, "%s belongs to another user", path);
	if ((st.st_mode & 0777) != 0700 && fchmod(dir, 0700) < 0)
		return err_errno(e, "%s cannot be made private", path);
	AUTO_FD lock = -1;
	if (take_lock(dir, &lock) < 0)
		return errno == EWOULDBLOCK ? fail_locked(path, dir, e)
					    : err_errno(e, "%s cannot be locked", path);
	AUTO_FD links = open_sub(dir, "links");
	AUTO_FD stage = open_sub(dir, "stage");
	if (links < 0 || stage < 0 || read_seed(dir, &seed) < 0 ||
	    write_small(dir, "workspace", workspace.p, workspace.n) < 0)
		return err_errno(e, "%s cannot be written", path);
	*ret = (struct room){ .dir = TAKE(dir, -1),
			      .links = TAKE(links, -1),
			      .stage = TAKE(stage, -1),
			      .lock = TAKE(lock, -1),
			      .seed = seed };
	return 0;
}

static bool is_segment(const char *name, uint32_t *number)
{
	char *end;
	const unsigned long v = strtoul(name, &end, 16);

	*number = (uint32_t)v;
	return strlen(name) == 12 && end == name + 8 && strcmp(end, ".log") == 0 && v > 0;
}

static const char *const own_files[] = { "workspace", "key", "lock" };
static const char *const own_dirs[] = { "links", "stage" };

void room_remove(int dir, int parent, const char *name)
{
	const char *entry;
	uint32_t number;

	AUTO_DIR links = entries(dir, "links");
	while (links && (entry = next_name(links)))
		if (is_hex(entry))
			room_remove_links(dirfd(links), entry);
	AUTO_DIR segments = entries(dir, ".");
	while (segments && (entry = next_name(segments)))
		if (is_segment(entry, &number))
			(void)unlinkat(dir, entry, 0);
	for (size_t i = 0; i < ARRAY_LEN(own_dirs); i++)
		(void)unlinkat(dir, own_dirs[i], AT_REMOVEDIR);
	for (size_t i = 0; i < ARRAY_LEN(own_files); i++)
		(void)unlinkat(dir, own_files[i], 0);
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

size_t room_segments(int dir, uint32_t *to, size_t max)
{
	AUTO_DIR d = entries(dir, ".");
	const char *name;
	uint32_t number;
	size_t n = 0;

	while (d && n < max && (name = next_name(d)))
		if (is_segment(name, &number))
			to[n++] = number;
	return n;
}

void room_count_links(int links, uint32_t segment, int64_t *bytes, uint32_t *last)
{
	char sub[16];
	const char *name;
	struct stat st;

	(void)snprintf(sub, sizeof sub, "%x", segment);
	AUTO_DIR d = entries(links, sub);
	while (d && (name = next_name(d))) {
		const unsigned long number = strtoul(name, NULL, 16);
		if (number > *last)
			*last = (uint32_t)number;
		if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			*bytes += st.st_size;
	}
}

bool room_find_inode(int links, uint32_t segment, uint64_t ino, uint32_t *number)
{
	char sub[16];
	const char *name;
	struct stat st;

	(void)snprintf(sub, sizeof sub, "%x", segment);
	AUTO_DIR d = entries(links, sub);
	while (d && (name = next_name(d))) {
		if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_ino != ino)
			continue;
		*number = (uint32_t)strtoul(name, NULL, 16);
		return true;
	}
	return false;
}

/* Whether it is of this user, and as a store makes it; "" is the directory itself. */
static bool is_private(int dir, const char *name, mode_t mode)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
	       st.st_uid == geteuid() && (st.st_mode & (S_IFMT | 0777)) == mode;
}

/* Whether nothing is in it but what a store puts there. The stage must be empty: what an
 * interrupted undo has left in it are somebody's files. */
static bool has_only_own_names(int dir)
{
	AUTO_DIR stage = entries(dir, "stage");
	AUTO_DIR d = entries(dir, ".");
	const char *name;
	uint32_t number;

	if (!d || !stage || next_name(stage))
		return false;
	while ((name = next_name(d))) {
		bool known = is_segment(name, &number);
		for (size_t i = 0; i < ARRAY_LEN(own_files); i++)
			known |= strcmp(name, own_files[i]) == 0;
		for (size_t i = 0; i < ARRAY_LEN(own_dirs); i++)
			known |= strcmp(name, own_dirs[i]) == 0;
		if (!known)
			return false;
	}
	return true;
}

/* Whether the directory is the room of a workspace, which `workspace` gets: by its owner, its mode,
 * its files, and its name, which has the hash of that path. */
static bool is_room(const char *name, int dir, char workspace[PATH_MAX])
{
	char wanted[ROOM_NAME], key[sizeof(uint64_t) + 2];

	if (!is_private(dir, "", S_IFDIR | 0700) || !has_only_own_names(dir))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(own_files); i++)
		if (!is_private(dir, own_files[i], S_IFREG | 0600))
			return false;
	if (read_small(dir, "key", key, sizeof key) != (int)sizeof(uint64_t) ||
	    read_small(dir, "workspace", workspace, PATH_MAX) <= 0)
		return false;
	room_name(str_of(workspace), wanted);
	return strcmp(name, wanted) == 0;
}

/* Whether the room's newest segment is from before that time, and its workspace has gone or the
 * time is that of its last change. */
static bool is_stale(int dir, const char *workspace, int64_t now_s, int64_t max_age_s)
{
	uint32_t numbers[64];
	struct stat st;
	int64_t newest = fstat(dir, &st) == 0 ? st.st_mtim.tv_sec : now_s;
	const size_t n = room_segments(dir, numbers, ARRAY_LEN(numbers));

	for (size_t i = 0; i < n; i++) {
		char name[16];
		(void)snprintf(name, sizeof name, "%08x.log", numbers[i]);
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtim.tv_sec > newest)
			newest = st.st_mtim.tv_sec;
	}
	const bool gone = stat(workspace, &st) < 0 && errno == ENOENT;
	return now_s - newest > (gone ? 24 * 3600 : max_age_s);
}

void room_tidy(const char *parent, int64_t max_age_ms)
{
	struct timespec now;
	char workspace[PATH_MAX];
	const char *name;
	AUTO_DIR d = entries(AT_FDCWD, parent);

	(void)clock_gettime(CLOCK_REALTIME, &now);
	while (d && max_age_ms && (name = next_name(d))) {
		AUTO_FD dir = openat(dirfd(d), name, AS_DIR);
		if (dir < 0 || !is_room(name, dir, workspace))
			continue;
		AUTO_FD lock = openat(dir, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
		if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 &&
		    is_stale(dir, workspace, now.tv_sec, max_age_ms / 1000))
			room_remove(dir, dirfd(d), name);
	}
}
