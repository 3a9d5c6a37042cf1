/* SPDX-License-Identifier: MIT */
/* scratch: make and remove the private /tmp. */

#include "sandbox/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "sandbox/canonical.h"

/* Nothing else has such a name. */
#define PREFIX "sidecar-tmp-"
enum { RANDOM = 6 }; /* characters after it */

const char *scratch_parent(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && dir[0] == '/' ? dir : "/tmp";
}

bool scratch_is_name(const char *path)
{
	return strncmp(path, PREFIX, sizeof(PREFIX) - 1) == 0 &&
	       strcspn(path + sizeof(PREFIX) - 1, "/") == RANDOM;
}

int scratch_new(char *path, size_t size, struct err *e)
{
	const char *base = scratch_parent();
	char made[PATH_MAX], name[PATH_MAX];

	const int n = snprintf(path, size, "%s/" PREFIX "XXXXXX", base);
	if (n < 0 || (size_t)n >= size || strlen(base) + 32 > sizeof(made))
		return err_set(e, ERR_INVALID_PATH, "The name in TMPDIR is too long");
	/* It has its name only when it is locked: see scratch_tidy. */
	(void)snprintf(made, sizeof(made), "%s/.sidecar-XXXXXX", base);
	if (!mkdtemp(made))
		return err_errno(e, "A private directory for temporary files cannot be made");
	memcpy(path + n - RANDOM, made + strlen(made) - RANDOM, RANDOM);
	AUTO_FD held = scratch_hold(made);
	if (held < 0 || rename(made, path) < 0 || !canonical_name(path, NULL, name)) {
		(void)err_errno(e, "A private directory for temporary files cannot be made");
		(void)rmdir(made);
		return -1;
	}
	if (strlen(name) >= size) {
		(void)rmdir(path);
		return err_set(e, ERR_INVALID_PATH, "The name in TMPDIR is too long");
	}
	memcpy(path, name, strlen(name) + 1);
	return TAKE(held, -1);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Open a directory on this device, even if a command has removed its permissions; NULL for anything
 * else. */
static DIR *open_dir(int at, const char *name, dev_t device)
{
	struct stat st;

	(void)!fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW);
	const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const bool ours = fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == device;
	DIR *dir = ours ? fdopendir(fd) : NULL;
	if (!dir && fd >= 0)
		(void)close(fd);
	return dir;
}

/* Empty a directory: remove its files, move its directories to the top, so that any depth works. */
static void flatten(int top, const char *name, dev_t device)
{
	DIR *dir = open_dir(top, name, device);
	char fresh[32];
	uint64_t random;

	if (!dir)
		return;
	for (const struct dirent *d; (d = readdir(dir));) {
		if (is_dots(d->d_name) || unlinkat(dirfd(dir), d->d_name, 0) == 0)
			continue;
		/* Moving a directory changes its "..", for which it must be writable. */
		(void)!fchmodat(dirfd(dir), d->d_name, 0700, AT_SYMLINK_NOFOLLOW);
		io_random(&random, sizeof(random));
		(void)snprintf(fresh, sizeof(fresh), ".%016llx", (unsigned long long)random);
		(void)renameat(dirfd(dir), d->d_name, top, fresh);
	}
	(void)closedir(dir);
}

/* Remove what is directly in the directory now. False if no directory could be removed. */
static bool empty_once(DIR *top, dev_t device)
{
	bool removed = false;

	rewinddir(top);
	for (const struct dirent *d; (d = readdir(top));) {
		if (is_dots(d->d_name) || unlinkat(dirfd(top), d->d_name, 0) == 0)
			continue;
		flatten(dirfd(top), d->d_name, device);
		removed |= unlinkat(dirfd(top), d->d_name, AT_REMOVEDIR) == 0;
	}
	return removed;
}

void scratch_remove(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return;
	DIR *top = open_dir(AT_FDCWD, path, st.st_dev);
	if (!top)
		return;
	while (empty_once(top, st.st_dev))
		;
	(void)closedir(top);
	(void)rmdir(path);
}

/* The lock on a private directory of this user that nobody holds, or -1. */
static int take_dead(int base, const char *name)
{
	struct stat st;

	if (!scratch_is_name(name))
		return -1;
	AUTO_FD fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    (st.st_mode & 07777) != 0700 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -1;
	return TAKE(fd, -1);
}

void scratch_tidy(const char *path)
{
	char dead[PATH_MAX];
	const char *end = strrchr(path, '/');

	(void)snprintf(dead, sizeof(dead), "%.*s/", (int)(end - path), path);
	DIR *base = opendir(dead);
	for (const struct dirent *d; base && (d = readdir(base));) {
		AUTO_FD held = take_dead(dirfd(base), d->d_name);
		if (held < 0)
			continue;
		(void)snprintf(dead, sizeof(dead), "%.*s/%s", (int)(end - path), path, d->d_name);
		scratch_remove(dead);
	}
	if (base)
		(void)closedir(base);
}

int scratch_hold(const char *path)
{
	AUTO_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0 ? TAKE(fd, -1) : -1;
}
