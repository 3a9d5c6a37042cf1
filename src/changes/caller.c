/* SPDX-License-Identifier: MIT */
/* caller: process_vm_readv, /proc, and openat2 in its root. */

#include "changes/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"

enum { PAGE = 4096 };

/* Up to n bytes, as many as are mapped; page by page, because a page may be missing. */
static size_t read_some(const struct caller *c, uint64_t address, void *to, size_t n)
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
	const ssize_t got = process_vm_readv(c->pid, &local, 1, remote, count, 0);
	return got < 0 ? 0 : (size_t)got;
}

bool caller_read(const struct caller *c, uint64_t address, void *to, size_t n)
{
	return read_some(c, address, to, n) == n;
}

bool caller_text(const struct caller *c, uint64_t address, char to[PATH_MAX])
{
	/* Most paths are short. */
	size_t n = read_some(c, address, to, 256);

	if (memchr(to, '\0', n))
		return true;
	n = read_some(c, address, to, PATH_MAX);
	return memchr(to, '\0', n) != NULL;
}

static bool set_way(struct way *w, struct str start, struct str rest)
{
	if (start.n + rest.n + 2 > sizeof w->text)
		return false;
	if (start.n)
		memcpy(w->text, start.p, start.n);
	w->text[start.n] = '/';
	if (rest.n)
		memcpy(w->text + start.n + 1, rest.p, rest.n);
	w->n = start.n + 1 + rest.n;
	w->text[w->n] = '\0';
	return true;
}

void caller_done(struct caller *c)
{
	fd_closep(&c->proc);
}

void caller_is(struct caller *c, pid_t pid)
{
	c->pid = pid;
}

/* Its directory in /proc is held, because most calls come from the process that made the last one.
 * A number that is given to another process has another directory: the held one is empty then. */
static bool open_proc(struct caller *c)
{
	char name[32];

	fd_closep(&c->proc);
	c->of = c->pid;
	(void)snprintf(name, sizeof name, "/proc/%d", (int)c->pid);
	c->proc = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return c->proc >= 0;
}

static bool read_proc_link(struct caller *c, const char *what, char out[PATH_MAX])
{
	ssize_t n = -1;

	if (c->of == c->pid && c->proc >= 0)
		n = readlinkat(c->proc, what, out, PATH_MAX - 1);
	if (n < 0 && open_proc(c))
		n = readlinkat(c->proc, what, out, PATH_MAX - 1);
	if (n <= 0)
		return false;
	out[n] = '\0';
	return out[0] == '/';
}

/* The names by which a process reaches its own descriptors and directories are links that only the
 * process itself can follow. */
static bool replace_magic(struct caller *c, struct way *w)
{
	static const struct {
		struct str start;
		const char *what;
	} magic[] = {
		{ STR("/proc/self/fd/"), "fd/" },
		{ STR("/proc/thread-self/fd/"), "fd/" },
		{ STR("/dev/fd/"), "fd/" },
		{ STR("/proc/self/cwd"), "cwd" },
		{ STR("/proc/thread-self/cwd"), "cwd" },
		{ STR("/proc/self/root"), "root" },
		{ STR("/proc/thread-self/root"), "root" },
		{ STR("/dev/stdin"), "fd/0" },
		{ STR("/dev/stdout"), "fd/1" },
		{ STR("/dev/stderr"), "fd/2" },
	};
	const struct str all = { w->text, w->n };
	char target[PATH_MAX] UNINITIALISED, what[32];

	if (!str_starts(all, STR("/proc/")) && !str_starts(all, STR("/dev/")))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(magic); i++) {
		struct str number, rest;
		if (!str_starts(all, magic[i].start))
			continue;
		(void)str_cut(str_from(all, magic[i].start.n), '/', &number, &rest);
		(void)snprintf(what, sizeof what, "%s%.*s", magic[i].what,
			       STR_FMT(str_upto(number, 10)));
		struct way new UNINITIALISED;
		if (!read_proc_link(c, what, target) || !set_way(&new, str_of(target), rest))
			return false;
		while (new.n > 1 && new.text[new.n - 1] == '/')
			new.text[--new.n] = '\0';
		*w = new;
		return true;
	}
	return true;
}

bool caller_way(struct caller *c, int dirfd, const char *path, struct way *ret)
{
	char base[PATH_MAX] UNINITIALISED, what[32] = "cwd";

	if (*path == '/')
		return set_way(ret, STR(""), str_of(path + strspn(path, "/"))) &&
		       replace_magic(c, ret);
	if (dirfd != AT_FDCWD)
		(void)snprintf(what, sizeof what, "fd/%d", dirfd);
	return read_proc_link(c, what, base) && set_way(ret, str_of(base), str_of(path));
}

bool caller_follow(struct caller *c, struct str dir, const char *target, struct way *ret)
{
	struct way new UNINITIALISED;

	if (!set_way(&new, *target == '/' ? STR("") : dir, str_of(target + strspn(target, "/"))))
		return false;
	*ret = new;
	return replace_magic(c, ret);
}

int caller_open(struct caller *c, struct str dir)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	char text[2 * PATH_MAX] UNINITIALISED;

	if (c->of != c->pid && !open_proc(c))
		return -1;
	(void)snprintf(text, sizeof text, "%.*s", STR_FMT(dir));
	AUTO_FD root = openat(c->proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	/* EAGAIN: a rename elsewhere made the kernel unsure about a "..". */
	int fd;
	for (int i = 0; i < LIMIT_OPEN_TRIES; i++) {
		fd = (int)syscall(SYS_openat2, root, *text ? text : "/", &how, sizeof how);
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd;
}
