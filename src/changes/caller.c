/* SPDX-License-Identifier: MIT */
/* caller: process_vm_readv, /proc and openat2 in the caller's root. */

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
#include "changes/dirs.h"
#include "workspace/path.h"

enum { PAGE = 4096 };

/* Up to n bytes, as many as are mapped; page by page, because a page may be missing. */
static size_t read_some(const struct caller *c, uint64_t address, void *to, size_t n)
{
	struct iovec remote[PATH_MAX / PAGE + 2];
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

/* A path while it is resolved: absolute, as the caller sees it. */
struct way {
	char text[2 * PATH_MAX];
	size_t n;
};

static bool set_way(struct way *w, struct str start, struct str rest)
{
	const int n = snprintf(w->text, sizeof w->text, "%.*s/%.*s", STR_FMT(start), STR_FMT(rest));

	w->n = n < 0 ? 0 : (size_t)n;
	return n > 0 && (size_t)n < sizeof w->text;
}

static bool read_proc_link(const struct caller *c, const char *what, char out[PATH_MAX])
{
	char name[96];

	(void)snprintf(name, sizeof name, "/proc/%d/%s", (int)c->pid, what);
	const ssize_t n = readlink(name, out, PATH_MAX - 1);
	if (n <= 0)
		return false;
	out[n] = '\0';
	return out[0] == '/';
}

/* The names by which a process reaches its own descriptors and directories are links that only the
 * process itself can follow. */
static bool replace_magic(const struct caller *c, struct way *w)
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
	};
	const struct str all = { w->text, w->n };
	char target[PATH_MAX], what[32];

	for (size_t i = 0; i < ARRAY_LEN(magic); i++) {
		struct str number, rest;
		if (!str_starts(all, magic[i].start))
			continue;
		(void)str_cut(str_from(all, magic[i].start.n), '/', &number, &rest);
		(void)snprintf(what, sizeof what, "%s%.*s", magic[i].what,
			       STR_FMT(str_upto(number, 10)));
		if (!read_proc_link(c, what, target))
			return false;
		struct way new;
		if (!set_way(&new, str_of(target), rest))
			return false;
		while (new.n > 1 && new.text[new.n - 1] == '/')
			new.text[--new.n] = '\0';
		*w = new;
		return true;
	}
	return true;
}

static bool start_way(const struct caller *c, int dirfd, const char *path, struct way *w)
{
	char base[PATH_MAX], what[32] = "cwd";

	if (*path == '/')
		return set_way(w, STR(""), str_of(path + strspn(path, "/"))) && replace_magic(c, w);
	if (dirfd != AT_FDCWD)
		(void)snprintf(what, sizeof what, "fd/%d", dirfd);
	return read_proc_link(c, what, base) && set_way(w, str_of(base), str_of(path));
}

/* Resolve a directory in the caller's root, and find it again from ours. */
static int find_dir_slowly(const struct caller *c, struct str dir)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	char name[32], text[2 * PATH_MAX], found[PATH_MAX];
	struct str below;

	(void)snprintf(name, sizeof name, "/proc/%d/root", (int)c->pid);
	(void)snprintf(text, sizeof text, "%.*s", STR_FMT(dir));
	AUTO_FD root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD fd =
		root < 0 ? -1
			 : (int)syscall(SYS_openat2, root, *text ? text : "/", &how, sizeof how);
	if (fd < 0 || !dirs_text(fd, c->path, found, &below))
		return -1;
	return dirs_open(c->root, below);
}

static int find_dir(const struct caller *c, struct str dir)
{
	struct str below;

	if (path_within(c->path, dir, &below)) {
		const int fd = dirs_open(c->root, below);
		if (fd >= 0 || errno == ENOENT)
			return fd;
	}
	return find_dir_slowly(c, dir);
}

/* Cut off the last component; slashes after it mean nothing here. */
static bool cut_last(struct way *w, struct str *dir, char name[NAME_MAX + 1])
{
	while (w->n > 1 && w->text[w->n - 1] == '/')
		w->text[--w->n] = '\0';
	const char *slash = memrchr(w->text, '/', w->n);
	const struct str last =
		slash ? str_from((struct str){ w->text, w->n }, (size_t)(slash - w->text) + 1)
		      : STR("");

	if (last.n == 0 || last.n > NAME_MAX || str_eq(last, STR(".")) || str_eq(last, STR("..")))
		return false;
	(void)snprintf(name, NAME_MAX + 1, "%.*s", STR_FMT(last));
	*dir = (struct str){ w->text, (size_t)(slash - w->text) };
	return true;
}

int caller_find(const struct caller *c, int dirfd, const char *path, bool follow,
		char name[NAME_MAX + 1])
{
	struct way w;

	if (!*path || !start_way(c, dirfd, path, &w))
		return -1;
	for (int hops = 0; hops < LIMIT_LINK_HOPS; hops++) {
		char target[PATH_MAX];
		struct str dir;
		if (!cut_last(&w, &dir, name))
			return -1;
		AUTO_FD fd = find_dir(c, dir);
		const ssize_t n = !follow   ? -1
				  : fd >= 0 ? readlinkat(fd, name, target, sizeof target - 1)
					    : readlink(w.text, target, sizeof target - 1);
		if (n < 0)
			return TAKE(fd, -1);
		target[n] = '\0';
		const struct way old = w;
		const bool set = *target == '/' ? set_way(&w, STR(""), str_of(target + 1))
						: set_way(&w, (struct str){ old.text, dir.n },
							  str_of(target));
		if (!set)
			return -1;
	}
	return -1;
}
