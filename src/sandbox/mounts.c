/* SPDX-License-Identifier: MIT */
/* mounts: copy, attach, cover and protect trees of mounts. */

#include "sandbox/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/canonical.h"

/* The kernel's interface is declared here because C libraries added it at different times. */
struct attributes {
	uint64_t set, clear, propagation, userns_fd;
};

enum {
	TREE_CLONE = 1,
	MOVE_FROM_FD = 4,
	MOVE_TO_FD = 0x40,
	READ_ONLY = 1,
	NO_DEVICES = 4,
	RECURSIVE = 0x8000
};

static int clone_tree(int at, unsigned flags)
{
	return (int)syscall(SYS_open_tree, at, "", TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH | flags);
}

int mounts_take(const char *name)
{
	AUTO_FD at = canonical_open(name);

	if (at < 0)
		return -1;
	return clone_tree(at, RECURSIVE);
}

int mounts_put(int tree, const char *path)
{
	return (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_FROM_FD);
}

/* The flags of a mount, which the next remount would take away otherwise: not all may be. */
static unsigned long flags_of(const struct mntent *m)
{
	static const struct {
		const char *name;
		unsigned long flag;
	} known[] = {
		{ "nosuid", MS_NOSUID },     { "nodev", MS_NODEV },
		{ "noexec", MS_NOEXEC },     { "noatime", MS_NOATIME },
		{ "relatime", MS_RELATIME }, { "nodiratime", MS_NODIRATIME },
	};
	unsigned long flags = 0;

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (hasmntopt(m, known[i].name))
			flags |= known[i].flag;
	return flags;
}

/* Before Linux 5.12: one mount after the other. One that is covered by another cannot be reached,
 * by commands neither: its path is not there, or not a mount. */
static int remount_each(const char *path, unsigned long more)
{
	const struct mntent *m;
	int bad = 0;
	FILE *list = setmntent("/proc/self/mounts", "re");

	if (!list)
		return -1;
	while (!bad && (m = getmntent(list))) {
		if (!canonical_is_in(m->mnt_dir, path))
			continue;
		bad = mount(NULL, m->mnt_dir, NULL,
			    MS_REMOUNT | MS_BIND | MS_RDONLY | flags_of(m) | more, NULL) < 0 &&
		      errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != EINVAL;
	}
	const int why = errno;
	(void)endmntent(list);
	errno = why;
	return bad ? -1 : 0;
}

int mounts_make_read_only(const char *path, bool no_devices)
{
	const struct attributes a = { .set = READ_ONLY | (no_devices ? NO_DEVICES : 0) };
	const int done = (int)syscall(SYS_mount_setattr, AT_FDCWD, path, RECURSIVE, &a, sizeof(a));

	return done < 0 && errno == ENOSYS ? remount_each(path, no_devices ? MS_NODEV : 0) : done;
}

int mounts_cover(int at, bool read_only)
{
	const struct attributes a = { .set = READ_ONLY };
	char self[32];
	AUTO_FD tree = clone_tree(at, RECURSIVE);

	if (tree < 0)
		return -1;
	const bool done = !read_only || syscall(SYS_mount_setattr, tree, "",
						AT_EMPTY_PATH | RECURSIVE, &a, sizeof(a)) == 0;
	if (!done && errno != ENOSYS)
		return -1;
	if (syscall(SYS_move_mount, tree, "", at, "", MOVE_FROM_FD | MOVE_TO_FD) < 0)
		return -1;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", tree);
	return done ? 0 : mount(NULL, self, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL);
}

int mounts_make_place(const char *path, bool is_dir)
{
	char at[PATH_MAX];
	struct stat st;

	if (stat(path, &st) == 0)
		return 0;
	if (snprintf(at, sizeof(at), "%s", path) >= (int)sizeof(at)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (char *slash = at + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdir(at, 0755) < 0 && errno != EEXIST)
			return -1;
	}
	if (is_dir)
		return mkdir(at, 0755);
	AUTO_FD fd = open(at, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	return fd < 0 ? -1 : 0;
}

/* Cover a file with one that cannot be opened without capabilities. */
static int seal(const char *path)
{
	/* The private /tmp is the only place where a file can be made. A command of an earlier
	 * spawner may see it there, so it is mounted by descriptor. */
	char cover[] = "/tmp/.sealed-XXXXXX";
	AUTO_FD fd = mkostemp(cover, O_CLOEXEC);

	if (fd < 0)
		return -1;
	AUTO_FD tree = fchmod(fd, 0) < 0 ? -1 : clone_tree(fd, 0);
	const int bad = tree < 0 ? -1 : mounts_put(tree, path);
	const int why = errno;
	(void)unlink(cover);
	errno = why;
	return bad;
}

int mounts_hide(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return mount("none", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755");
	return seal(path);
}

static bool is_gone(void)
{
	return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
}

static bool still_has_name(int fd, const char *name)
{
	struct stat st, now;

	return fstat(fd, &st) == 0 && stat(name, &now) == 0 && st.st_dev == now.st_dev &&
	       st.st_ino == now.st_ino;
}

/* Mount a directory over itself, so that it cannot get another name: what is mounted in it would go
 * along. */
static int pin(const char *name)
{
	AUTO_FD at = canonical_open(name);

	return at < 0 ? -1 : mounts_cover(at, false);
}

/* Pin the directories between the workspace and a name in it, which the last one has not above it. */
static int pin_above(const char *workspace, const char *name, const char *last)
{
	const size_t top = strlen(workspace);
	char dir[PATH_MAX];

	if (!canonical_is_in(name, workspace) || !name[top])
		return 0;
	for (const char *slash = name + top + 1; (slash = strchr(slash, '/')); slash++) {
		(void)snprintf(dir, sizeof(dir), "%.*s", (int)(slash - name), name);
		if (!(last && canonical_is_in(last, dir)) && pin(dir) < 0)
			return -1;
	}
	return 0;
}

/* In a private directory a command may have made a link of that name; it is not ours to hide. What
 * is replaced right now is found by the server (sandbox/covers.h). */
int mounts_hide_list(const char *const *names, size_t count, const char *workspace)
{
	for (size_t i = 0; i < count; i++) {
		if (pin_above(workspace, names[i], i ? names[i - 1] : NULL) < 0 && !is_gone())
			return -1;
		AUTO_FD fd = canonical_open(names[i]);
		if (fd >= 0 && mounts_hide(names[i]) < 0 &&
		    (errno != ENOENT || still_has_name(fd, names[i])))
			return -1;
	}
	return 0;
}

/* What is gone, or has become a link, is none to protect. Names that share directories come one
 * after the other. */
int mounts_protect_list(const char *const *names, size_t count, const char *workspace)
{
	const char *last = NULL;

	for (size_t i = 0; i < count; i++) {
		if (pin_above(workspace, names[i], last) < 0) {
			if (!is_gone())
				return -1;
			continue;
		}
		AUTO_FD at = canonical_open(names[i]);
		if (at < 0 ? !is_gone() : mounts_cover(at, true) < 0)
			return -1;
		last = names[i];
	}
	return 0;
}
