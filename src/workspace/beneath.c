/* SPDX-License-Identifier: MIT */
/* beneath: opening below a directory by the kernel's resolver; what it refuses goes to the walk. */

#include "workspace/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "workspace/beneath_walk.h"

/* EAGAIN means that a rename elsewhere made the kernel unsure about a "..": trying again helps,
 * unless somebody renames in a loop. Then the walk, which has no such doubt, takes over. */
enum { TRIES = 8 };

static int openat2_beneath(int dir, const char *name, int flags)
{
	/* openat2, unlike openat, refuses flags that mean nothing together with O_PATH. */
	struct open_how how = {
		.flags = (unsigned)flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	for (int i = 0; i < TRIES; i++) {
		fd = (int)syscall(SYS_openat2, dir, *name ? name : ".", &how, sizeof how);
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd;
}

bool beneath_has_openat2(void)
{
	/* Tried, not looked up: a seccomp profile may answer anything but success. */
	AUTO_FD fd = openat2_beneath(AT_FDCWD, ".", O_PATH | O_DIRECTORY);

	return fd >= 0;
}

/* Errors after which the walk must decide: a link that is absolute or leaves, a lost race, or a
 * kernel that took openat2 away since the start. */
static bool walk_decides(int error)
{
	return error == EXDEV || error == EAGAIN || error == ENOSYS || error == EPERM;
}

int beneath_open(const struct beneath *b, const char *name, int flags, struct err *e)
{
	if (!b->walk_only) {
		const int fd = openat2_beneath(b->fd, name, flags);
		if (fd >= 0)
			return fd;
		if (!walk_decides(errno))
			return beneath_fail(b, name, e);
	}
	return beneath_walk_open(b, name, flags, e);
}

/* The place without a walk: true when the directory exists and the last name is no link. */
static bool place_directly(const struct beneath *b, const char *name, struct place *ret)
{
	const char *slash = strrchr(name, '/');
	const char *last = slash ? slash + 1 : name;
	char parent[PATH_MAX] = "", link[1];

	if (b->walk_only || strlen(last) > NAME_MAX || strlen(name) >= sizeof parent)
		return false;
	if (slash)
		memcpy(parent, name, (size_t)(slash - name));
	AUTO_FD dir = openat2_beneath(b->fd, parent, O_PATH | O_DIRECTORY);
	if (dir < 0)
		return false;
	/* EINVAL: there is something and it is not a link. Whoever opens the name later uses
	 * O_NOFOLLOW, so a link that appears after this look is refused, not followed. */
	if (readlinkat(dir, last, link, sizeof link) >= 0 || (errno != EINVAL && errno != ENOENT))
		return false;
	ret->dir = TAKE(dir, -1);
	memcpy(ret->name, last, strlen(last) + 1);
	return true;
}

int beneath_place(const struct beneath *b, const char *name, bool make_dirs, struct place *ret,
		  struct err *e)
{
	if (*name && place_directly(b, name, ret))
		return 0;
	return beneath_walk_place(b, name, make_dirs, ret, e);
}

int beneath_canonical(const struct beneath *b, const char *name, char ret[PATH_MAX], struct err *e)
{
	return beneath_walk_canonical(b, name, ret, e);
}

void place_done(struct place *p)
{
	fd_closep(&p->dir);
}
