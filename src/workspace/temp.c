/* SPDX-License-Identifier: MIT */
/* temp: nameless files, temporary names, and metadata from an old file to a new one. */

#include "workspace/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/str.h"
#include "workspace/pending.h"

int temp_open(struct temp *t, int dir)
{
	t->fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	return t->fd < 0 ? -1 : 0;
}

bool temp_needs_name(void)
{
	/* EOPNOTSUPP; EISDIR from old kernels. */
	return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT;
}

void temp_choose_name(struct temp *t)
{
	uint64_t random;

	io_random(&random, sizeof random);
	(void)snprintf(t->name, sizeof t->name, PENDING_PREFIX "%016llx.tmp",
		       (unsigned long long)random);
}

int temp_make(struct temp *t, struct pending *pending, int dir, mode_t mode)
{
	t->slot = pending_add(pending, dir, t->name);
	t->fd = openat(dir, t->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (t->fd >= 0)
		return 0;
	t->name[0] = '\0';
	return -1;
}

int temp_link(const struct temp *t, int dir, const char *name)
{
	char self[32];

	if (linkat(t->fd, "", dir, name, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno == EEXIST)
		return -1;
	/* Before Linux 6.10 only a privileged process could link by descriptor alone. */
	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", t->fd);
	return linkat(AT_FDCWD, self, dir, name, AT_SYMLINK_FOLLOW);
}

/* Copy the extended attributes. Failing to copy one that belongs to a security module does not
 * matter. Capabilities belonged to the old content: the kernel, too, takes them from a file that is
 * written to. */
static int copy_xattrs(int from, int to)
{
	char names[4096] UNINITIALISED, value[64 << 10] UNINITIALISED;
	const ssize_t n = flistxattr(from, names, sizeof names);

	if (n < 0)
		return errno == ENOTSUP ? 0 : -1;
	for (const char *name = names; name < names + n; name += strlen(name) + 1) {
		if (str_eq(str_of(name), STR("security.capability")))
			continue;
		const ssize_t size = fgetxattr(from, name, value, sizeof value);
		const bool ours = str_starts(str_of(name), STR("user.")) ||
				  str_starts(str_of(name), STR("system.posix_acl"));
		if ((size < 0 || fsetxattr(to, name, value, (size_t)size, 0) < 0) && ours)
			return -1;
	}
	return 0;
}

/* The new file inherited the default access list of its directory, if there is one. That must not
 * open an old file without a list to more users. An old file's own list is copied with its
 * attributes. */
static int drop_inherited_list(int to)
{
	static const char list[] = "system.posix_acl_access";

	return fgetxattr(to, list, NULL, 0) < 0 ? 0 : fremovexattr(to, list);
}

/* Owner first, because it clears set-id bits. */
int temp_resemble(const struct temp *t, int from, const struct stat *st)
{
	struct stat mine;

	if (drop_inherited_list(t->fd) < 0 || fstat(t->fd, &mine) < 0)
		return -1;
	if ((mine.st_uid != st->st_uid || mine.st_gid != st->st_gid) &&
	    fchown(t->fd, st->st_uid, st->st_gid) < 0)
		return -1;
	if (mine.st_mode != st->st_mode && fchmod(t->fd, st->st_mode & 07777) < 0)
		return -1;
	return copy_xattrs(from, t->fd);
}

void temp_discard(struct temp *t, int dir)
{
	if (*t->name)
		(void)unlinkat(dir, t->name, 0);
	t->name[0] = '\0';
	pending_remove(t->slot);
	t->slot = NULL;
	fd_closep(&t->fd);
}

uint64_t temp_marks(int dir, const char *name)
{
	struct statx st;

	if (statx(dir, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, 0, &st) < 0)
		return 0;
	return st.stx_attributes & (STATX_ATTR_APPEND | STATX_ATTR_IMMUTABLE);
}

bool temp_stays(int dir)
{
	return temp_marks(dir, "") & STATX_ATTR_APPEND;
}
