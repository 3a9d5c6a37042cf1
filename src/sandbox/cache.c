/* SPDX-License-Identifier: MIT */
/* cache: find or make a workspace's directory; measure all, remove the oldest. */

#include "sandbox/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "base/sha256.h"
#include "sandbox/canonical.h"
#include "sandbox/limits.h"
#include "sandbox/scratch.h"

/* Nothing else has such names: one of them, and one that is being removed. */
#define PREFIX "cache-"
#define DEAD   ".removed-"

static int make_with_parents(const char *path)
{
	char part[PATH_MAX];

	for (const char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		(void)snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
		if (mkdir(part, 0700) < 0 && errno != EEXIST && access(part, F_OK) < 0)
			return -1;
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

static int open_dir(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The lock on what has that name; -1 if it is not ours alone, or has been removed meanwhile. */
static int take(const char *path)
{
	struct stat st, now;
	AUTO_FD fd = open_dir(path);

	if (fd < 0 || flock(fd, LOCK_SH) < 0 || fstat(fd, &st) < 0)
		return -1;
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)) {
		errno = EPERM;
		return -1;
	}
	if (stat(path, &now) < 0 || now.st_ino != st.st_ino || now.st_dev != st.st_dev) {
		errno = ENOENT;
		return -1;
	}
	(void)futimens(fd, NULL); /* used now */
	return TAKE(fd, -1);
}

int cache_open(const char *parent, struct str workspace, char ret[PATH_MAX], struct err *e)
{
	char path[PATH_MAX], hex[SHA256_TEXT];
	uint8_t hash[SHA256_SIZE];
	int fd = -1;

	sha256_of(workspace, hash);
	if (snprintf(path, sizeof path, "%s/" PREFIX "%.16s", parent, sha256_text(hash, hex).p) >=
	    PATH_MAX)
		return err_set(e, ERR_INVALID_PATH, "%.200s… is too long", parent);
	do
		fd = make_with_parents(path) < 0 ? -1 : take(path);
	while (fd < 0 && errno == ENOENT && access(parent, W_OK) == 0);
	if (fd < 0 || !canonical_name(path, NULL, ret)) {
		(void)err_errno(e, "The directory for caches, %s, cannot be used", path);
		fd_closep(&fd);
		return -1;
	}
	return fd;
}

bool cache_is_name(const char *name)
{
	return strncmp(name, PREFIX, sizeof PREFIX - 1) == 0;
}

/* One of them: its name, when it was used last, and how much is in it. */
struct one {
	char name[64];
	int64_t used, bytes;
};

static int64_t counted; /* by cache_measure: nftw has no argument for it */

static int count(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)at;
	if (type != FTW_NS)
		counted += (int64_t)st->st_blocks * 512;
	return 0;
}

int64_t cache_measure(const char *path)
{
	enum { DIRS = 16 }; /* open at once */

	counted = 0;
	(void)nftw(path, count, DIRS, FTW_PHYS);
	return counted;
}

/* Remove one that nobody uses; false: it is in use. It loses its name first, so that a server that
 * starts now makes another. */
static bool remove_unused(const char *parent, const char *name)
{
	char path[PATH_MAX], dead[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/%s", parent, name) >= PATH_MAX ||
	    snprintf(dead, sizeof dead, "%s/" DEAD "%s", parent, name) >= PATH_MAX)
		return false;
	AUTO_FD fd = open_dir(path);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || rename(path, dead) < 0)
		return false;
	scratch_remove(dead);
	return true;
}

/* How many there are. What is left of those that were being removed goes. */
static size_t list(const char *parent, struct one *ret, size_t most)
{
	char path[PATH_MAX];
	struct stat st;
	size_t n = 0;
	DIR *dir = opendir(parent);

	for (const struct dirent *d; dir && (d = readdir(dir));) {
		const struct str name = str_of(d->d_name);
		const bool dead = str_starts(name, STR(DEAD));
		if ((!dead && !str_starts(name, STR(PREFIX))) || name.n >= sizeof ret->name ||
		    snprintf(path, sizeof path, "%s/%s", parent, d->d_name) >= PATH_MAX)
			continue;
		if (dead)
			scratch_remove(path);
		else if (n < most && lstat(path, &st) == 0) {
			ret[n] = (struct one){ .used = st.st_mtim.tv_sec,
					       .bytes = cache_measure(path) };
			memcpy(ret[n++].name, name.p, name.n);
		}
	}
	if (dir)
		(void)closedir(dir);
	return n;
}

static int by_use(const void *a, const void *b)
{
	const int64_t one = ((const struct one *)a)->used, other = ((const struct one *)b)->used;

	return (one > other) - (one < other);
}

void cache_tidy(const char *path, int64_t most)
{
	struct one all[LIMIT_CACHES];
	char parent[PATH_MAX];
	int64_t bytes = 0;

	(void)rmdir(path);
	(void)snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(path, '/') - path), path);
	const size_t n = list(parent, all, ARRAY_LEN(all));
	qsort(all, n, sizeof *all, by_use);
	for (size_t i = 0; i < n; i++)
		bytes += all[i].bytes;
	for (size_t i = 0; i < n && bytes > most; i++)
		if (remove_unused(parent, all[i].name))
			bytes -= all[i].bytes;
}
