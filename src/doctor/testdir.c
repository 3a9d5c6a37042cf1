/* SPDX-License-Identifier: MIT */
/* testdir: scratch directories, reached by descriptor. */

#include "doctor/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "sandbox/scratch.h"

void testdir_name(struct testdir *d)
{
	uint64_t random;

	io_random(&random, sizeof random);
	(void)snprintf(d->name, sizeof d->name, ".sidecar-prove-%016llx",
		       (unsigned long long)random);
}

int testdir_make(struct testdir *d, const char *parent)
{
	d->fd = -1;
	testdir_name(d);
	const int n = snprintf(d->path, sizeof d->path, "%s/%s", parent, d->name);
	AUTO_FD above = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (n < 0 || n >= (int)sizeof d->path || above < 0)
		return -1;
	d->fd = testdir_open(above, d->name);
	return d->fd < 0 ? -1 : 0;
}

void testdir_remove(struct testdir *d)
{
	if (d->fd < 0)
		return;
	(void)close(TAKE(d->fd, -1));
	scratch_remove(d->path);
}

int testdir_put(int dir, const char *name, const char *content)
{
	AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (fd < 0 || io_write_all(fd, str_of(content), IO_FOREVER) < 0)
		return -1;
	return fchmod(fd, 0666);
}

/* Open the directory that was just made, for every user. */
static int open_made(int dir, const char *name)
{
	struct stat st;
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	/* It is not the one we made: another process has replaced it. */
	if (st.st_uid != geteuid()) {
		errno = EEXIST;
		return -1;
	}
	return fchmod(fd, 0777) < 0 ? -1 : TAKE(fd, -1);
}

int testdir_copy_program(int dir, const char *name)
{
	enum { PIECE = 1 << 24 };
	AUTO_FD from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	AUTO_FD to = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ssize_t n = -1;

	/* The server may run as another user. */
	if (from < 0 || to < 0 || fchmod(to, 0755) < 0)
		return -1;
	while ((n = sendfile(to, from, NULL, PIECE)) > 0)
		;
	return (int)n;
}

int testdir_open(int dir, const char *name)
{
	if (mkdirat(dir, name, 0700) < 0)
		return -1;
	const int fd = open_made(dir, name);
	if (fd < 0) {
		const int why = errno;
		(void)unlinkat(dir, name, AT_REMOVEDIR);
		errno = why;
	}
	return fd;
}

int testdir_link(int dir, const char *name, const char *to)
{
	return symlinkat(to, dir, name);
}

bool testdir_has(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool testdir_has_content(int dir, const char *name, const char *content)
{
	char text[256];
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, text, sizeof text);

	return n >= 0 && (size_t)n == strlen(content) && memcmp(text, content, (size_t)n) == 0;
}

void testdir_take(int dir, const char *name)
{
	(void)unlinkat(dir, name, 0);
}

int testdir_remove_others(int dir, const char *except)
{
	const int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	int count = 0;

	if (!list && copy >= 0)
		(void)close(copy);
	for (const struct dirent *d; list && (d = readdir(list));) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
		    strcmp(d->d_name, except) == 0)
			continue;
		(void)unlinkat(dir, d->d_name, 0);
		count++;
	}
	if (list)
		(void)closedir(list);
	return count;
}

int testdir_swap(int dir, const char *one, const char *other)
{
	return renameat2(dir, one, dir, other, RENAME_EXCHANGE);
}
