/* SPDX-License-Identifier: MIT */
/* dirs: openat2 without links where there is one, a walk elsewhere; and /proc/self/fd for texts. */

#include "changes/dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"

/* Component by component, for kernels without openat2. */
static int walk(int root, const char *path)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	AUTO_FD dir = openat(root, *path == '/' ? "/" : ".", flags);
	struct str rest = str_of(*path == '/' ? path + 1 : path), name;

	while (dir >= 0 && rest.n) {
		char text[NAME_MAX + 1];
		(void)str_cut(rest, '/', &name, &rest);
		(void)snprintf(text, sizeof text, "%.*s", STR_FMT(name));
		const int next = openat(dir, text, flags);
		fd_closep(&dir);
		dir = next;
	}
	return TAKE(dir, -1);
}

int dirs_open(int root, struct str path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = (str_starts(path, STR("/")) ? 0 : RESOLVE_BENEATH) |
			   RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	char text[PATH_MAX] UNINITIALISED;

	if (path.n >= sizeof text) {
		errno = ENAMETOOLONG;
		return -1;
	}
	(void)snprintf(text, sizeof text, "%.*s", STR_FMT(path));
	const int fd = (int)syscall(SYS_openat2, root, *text ? text : ".", &how, sizeof how);
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EAGAIN))
		return fd;
	return walk(root, text);
}

int dirs_open_parent(int root, struct str path, char name[NAME_MAX + 1])
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
	const size_t n = slash ? (size_t)(slash - path.p) : 0;
	const struct str last = slash ? str_from(path, n + 1) : path;

	if (last.n == 0 || last.n > NAME_MAX) {
		errno = last.n ? ENAMETOOLONG : ENOENT;
		return -1;
	}
	(void)snprintf(name, NAME_MAX + 1, "%.*s", STR_FMT(last));
	return dirs_open(root, str_upto(path, n));
}

/* A path as the journal has it. */
static bool find_text(const struct path_rules *rules, struct str path, struct str *ret)
{
	struct str below;

	if (path_within(rules->root, path, ret))
		return true;
	*ret = path;
	for (size_t i = 0; i < PATH_GITS; i++)
		if (rules->git[i].n && path_within(rules->git[i], path, &below))
			return true;
	return false;
}

bool dirs_text(int dir, const struct path_rules *rules, char out[PATH_MAX], struct str *ret)
{
	char self[32];
	struct stat held, found;

	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", dir);
	const ssize_t n = readlink(self, out, PATH_MAX - 1);
	if (n <= 0 || !find_text(rules, (struct str){ out, (size_t)n }, ret))
		return false;
	out[n] = '\0';
	/* " (deleted)" at the end may be part of the name, or not. */
	if (!str_ends(*ret, STR(" (deleted)")))
		return true;
	return fstat(dir, &held) == 0 && lstat(out, &found) == 0 && held.st_dev == found.st_dev &&
	       held.st_ino == found.st_ino;
}

int64_t dirs_mtime(int dir)
{
	struct stat st;

	if (fstat(dir, &st) < 0)
		return 0;
	return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

struct str dirs_join_to(char *to, struct str dir, struct str name)
{
	size_t n = dir.n;

	if (n) {
		memcpy(to, dir.p, n);
		to[n++] = '/';
	}
	if (name.n)
		memcpy(to + n, name.p, name.n);
	n += name.n;
	to[n] = '\0';
	return (struct str){ to, n };
}

struct str dirs_join(struct arena *a, struct str dir, struct str name)
{
	char *to = arena_alloc(a, dir.n + name.n + 2);

	return to ? dirs_join_to(to, dir, name) : (struct str){ NULL, 0 };
}
