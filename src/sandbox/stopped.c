/* SPDX-License-Identifier: MIT */
/* stopped: process_vm_readv, pidfd_getfd, /proc and openat2 in the caller's root. */

#include "sandbox/stopped.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/str.h"
#include "sandbox/limits.h"

/* Newer than many headers. */
enum { OF_THREAD = O_EXCL };

enum { PAGE = 4096 };

/* Read a file of the caller in /proc; its length, 0 if it cannot be read. */
static size_t read_proc(const struct stopped_call *s, const char *name, char *to, size_t size)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)s->pid, name);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, to, size - 1);
	to[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* A number in /proc/PID/status; 0 if it is not there. */
static uint64_t status_value(const char *status, const char *name, int base)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

bool stopped_is_signalled(const struct stopped_call *s)
{
	char status[PAGE];

	if (!read_proc(s, "status", status, sizeof status))
		return false;
	const uint64_t pending =
		status_value(status, "\nSigPnd:", 16) | status_value(status, "\nShdPnd:", 16);
	return pending & ~status_value(status, "\nSigBlk:", 16) &
	       status_value(status, "\nSigCgt:", 16);
}

/* Up to n bytes, as many as are mapped; page by page, because a page may be missing. */
static ssize_t read_some(const struct stopped_call *s, uint64_t address, void *to, size_t n)
{
	struct iovec remote[PATH_MAX / PAGE + 2] UNINITIALISED;
	const struct iovec local = { to, n };
	size_t count = 0, left = n;

	while (left && count < ARRAY_LEN(remote)) {
		const size_t here = PAGE - address % PAGE, take = here < left ? here : left;
		remote[count++] = (struct iovec){ (void *)(uintptr_t)address, take };
		address += take;
		left -= take;
	}
	return process_vm_readv(s->pid, &local, 1, remote, count, 0);
}

int stopped_read(const struct stopped_call *s, uint64_t address, void *to, size_t n)
{
	const ssize_t got = n ? read_some(s, address, to, n) : 0;

	if (got == (ssize_t)n)
		return 0;
	if (got >= 0)
		errno = EFAULT;
	return -1;
}

int stopped_text(const struct stopped_call *s, uint64_t address, char to[PATH_MAX])
{
	enum { MOSTLY = 256 }; /* most paths are short */
	ssize_t n = read_some(s, address, to, MOSTLY);

	if (n > 0 && !memchr(to, '\0', (size_t)n))
		n = read_some(s, address, to, PATH_MAX);
	if (n > 0 && memchr(to, '\0', (size_t)n))
		return 0;
	if (n >= 0)
		errno = n == PATH_MAX ? ENAMETOOLONG : EFAULT;
	return -1;
}

/* A descriptor for the caller, a thread if the kernel has such descriptors; before Linux 6.9 for
 * its process. */
static int open_caller(const struct stopped_call *s)
{
	char status[PAGE];
	int fd = (int)syscall(SYS_pidfd_open, s->pid, OF_THREAD);

	if (fd >= 0 || errno != EINVAL)
		return fd;
	fd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	if (fd >= 0 || !read_proc(s, "status", status, sizeof status))
		return fd;
	return (int)syscall(SYS_pidfd_open, (pid_t)status_value(status, "\nTgid:", 10), 0);
}

int stopped_take(const struct stopped_call *s, int fd)
{
	AUTO_FD caller = open_caller(s);

	return caller < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, caller, fd, 0);
}

bool stopped_name(int fd, char name[PATH_MAX])
{
	char self[32];

	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(self, name, PATH_MAX - 1);
	if (n <= 0)
		return false;
	name[n] = '\0';
	return name[0] == '/';
}

int stopped_proc(const struct stopped_call *s)
{
	char name[32];

	(void)snprintf(name, sizeof name, "/proc/%d", (int)s->pid);
	return open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* What a link of the caller in /proc leads to, if that has a name. */
static int read_link(int proc, const char *what, char to[PATH_MAX])
{
	const ssize_t n = readlinkat(proc, what, to, PATH_MAX - 1);

	if (n < 0) {
		if (errno == ENOENT)
			errno = EBADF;
		return -1;
	}
	to[n] = '\0';
	if (to[0] == '/')
		return 0;
	errno = ENOTDIR;
	return -1;
}

static int join(struct stopped_path *ret, struct str start, struct str rest)
{
	if (str_eq(start, STR("/")))
		start.n = 0;
	if (start.n + rest.n + 2 > sizeof ret->text) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (start.n)
		memmove(ret->text, start.p, start.n); /* it may be its own beginning */
	ret->text[start.n] = '/';
	if (rest.n)
		memcpy(ret->text + start.n + 1, rest.p, rest.n);
	ret->n = start.n + 1 + rest.n;
	ret->text[ret->n] = '\0';
	return 0;
}

static struct str without_slashes(struct str s)
{
	while (s.n && s.p[0] == '/')
		s = str_from(s, 1);
	return s;
}

/* The names in /proc and /dev by which a process reaches what it has itself. */
static int replace_magic(int proc, struct stopped_path *p)
{
	static const struct {
		struct str start;
		const char *what;
		bool numbered;
	} magic[] = {
		{ STR("/proc/self/fd/"), "fd/", true },
		{ STR("/proc/thread-self/fd/"), "fd/", true },
		{ STR("/dev/fd/"), "fd/", true },
		{ STR("/dev/stdin"), "fd/0", false },
		{ STR("/dev/stdout"), "fd/1", false },
		{ STR("/dev/stderr"), "fd/2", false },
		{ STR("/proc/self/cwd"), "cwd", false },
		{ STR("/proc/thread-self/cwd"), "cwd", false },
		{ STR("/proc/self/root"), "root", false },
		{ STR("/proc/thread-self/root"), "root", false },
	};
	const struct str all = { p->text, p->n };

	if (!str_starts(all, STR("/proc/")) && !str_starts(all, STR("/dev/")))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(magic); i++) {
		struct str number = STR(""), rest = str_from(all, magic[i].start.n);
		char target[PATH_MAX] UNINITIALISED, what[32];
		if (!str_starts(all, magic[i].start))
			continue;
		if (magic[i].numbered)
			(void)str_cut(rest, '/', &number, &rest);
		else if (rest.n && rest.p[0] != '/')
			continue;
		rest = without_slashes(rest);
		(void)snprintf(what, sizeof what, "%s%.*s", magic[i].what,
			       STR_FMT(str_upto(number, 10)));
		if (read_link(proc, what, target) < 0)
			return -1;
		struct stopped_path new UNINITIALISED;
		if (join(&new, str_of(target), rest) < 0)
			return -1;
		if (rest.n == 0 && new.n > 1) /* without the slash between them */
			new.text[--new.n] = '\0';
		*p = new;
		return 0;
	}
	return 0;
}

int stopped_absolute(int proc, int dirfd, const char *path, struct stopped_path *ret)
{
	char base[PATH_MAX] UNINITIALISED, what[32] = "cwd";

	if (*path == '/')
		return stopped_follow(proc, STR(""), path, ret);
	if (dirfd != AT_FDCWD)
		(void)snprintf(what, sizeof what, "fd/%d", dirfd);
	return read_link(proc, what, base) < 0 ? -1 : join(ret, str_of(base), str_of(path));
}

int stopped_follow(int proc, struct str dir, const char *target, struct stopped_path *ret)
{
	const struct str start = *target == '/' ? STR("") : dir;

	return join(ret, start, without_slashes(str_of(target))) < 0 ? -1
								     : replace_magic(proc, ret);
}

int stopped_root(int proc)
{
	return openat(proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int stopped_open(int root, const char *absolute, int flags)
{
	struct open_how how = { .flags = (uint64_t)(unsigned)(O_PATH | O_CLOEXEC | flags),
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

	int fd;

	/* EAGAIN: a rename elsewhere made the kernel unsure about a "..". */
	for (int i = 0; i < LIMIT_OPEN_TRIES; i++) {
		fd = (int)syscall(SYS_openat2, root, absolute, &how, sizeof how);
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd;
}
