/* SPDX-License-Identifier: MIT */
/* replace: nameless file, link, rename; and the cases that must be written in place. */

#include "workspace/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
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

enum {
	GROWTH = 64 << 10
}; /* the piece in which bytes are read that a growing file got meanwhile */

/* The file that gets the new content. */
struct new_file {
	struct temp temp;
	bool placed; /* it has its final name already */
};

static int fail(const struct replace *r, const char *what, struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;

	if (errno == EPERM) {
		const uint64_t file = temp_marks(r->at.dir, r->at.name);
		const uint64_t marks = file ? file : temp_marks(r->at.dir, "");
		if (marks)
			return err_set(e, ERR_PERMISSION_DENIED, "Cannot %s %.*s: %s is %s", what,
				       STR_FMT(ws_display(r->ws, r->path, shown)),
				       file ? "it" : "its directory",
				       marks & STATX_ATTR_IMMUTABLE ? "immutable (chattr +i)"
								    : "append-only (chattr +a)");
	}
	return err_errno(e, "Cannot %s %.*s", what, STR_FMT(ws_display(r->ws, r->path, shown)));
}

/* Give the nameless file a name in the directory of its target. */
static int name_temp(struct replace *r, struct temp *t)
{
	if (temp_stays(r->at.dir)) {
		errno = EPERM;
		return -1;
	}
	temp_choose_name(t);
	t->slot = pending_add(ws_pending(r->ws), r->at.dir, t->name);
	if (temp_link(t, r->at.dir, t->name) == 0)
		return 0;
	t->name[0] = '\0';
	return -1;
}

/* Make the new file under its own name at once: a reader may see a part of it. */
static int make_in_place(struct replace *r, struct new_file *n)
{
	n->temp.fd = openat(r->at.dir, r->at.name,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	n->placed = n->temp.fd >= 0;
	return n->placed ? 0 : -1;
}

static int named_temp(struct replace *r, struct new_file *n)
{
	if (temp_stays(r->at.dir))
		return r->old < 0 ? make_in_place(r, n) : (errno = EPERM, -1);
	temp_choose_name(&n->temp);
	/* Other processes see this file while it is written. If it replaces one, only we may open
	 * it until it has the mode of the old file. */
	return temp_make(&n->temp, ws_pending(r->ws), r->at.dir, r->old < 0 ? 0666 : 0600);
}

static int open_temp(struct replace *r, struct new_file *n)
{
	if (temp_open(&n->temp, r->at.dir) == 0)
		return 0;
	return temp_needs_name() ? named_temp(r, n) : -1;
}

static int write_in_place(struct replace *r, struct str content, struct err *e)
{
	const off_t size = (off_t)content.n;

	witness_tell(r->witness, r->at.dir, r->at.name, WITNESS_WRITE);

	/* Reserve the room first, also in the holes of a sparse file: a disk that fills up half way
	 * would leave neither the old nor the new content. */
	if (size > 0 && fallocate(r->old, 0, 0, size) < 0 && errno != EOPNOTSUPP) {
		const int error = errno;
		(void)ftruncate(r->old, r->st.st_size);
		errno = error;
		return fail(r, "write", e);
	}
	if (lseek(r->old, 0, SEEK_SET) < 0 || io_write_all(r->old, content, IO_FOREVER) < 0 ||
	    ftruncate(r->old, size) < 0)
		return fail(r, "write", e);
	if (r->flags & REPLACE_MODE && fchmod(r->old, r->mode) < 0)
		return fail(r, "set the mode of", e);
	if (r->flags & REPLACE_SYNC && fsync(r->old) < 0)
		return fail(r, "write", e);
	witness_tell_content(r->witness, r->at.dir, r->at.name, content);
	return 0;
}

/* Put the finished file in its place. 0, or -1 with errno. */
static int publish(struct replace *r, struct new_file *n)
{
	struct temp *t = &n->temp;

	if (n->placed)
		return 0;
	/* A new file needs no temporary name, unless another process made the file (EEXIST). */
	if (r->old < 0 && !*t->name && linkat(t->fd, "", r->at.dir, r->at.name, AT_EMPTY_PATH) == 0)
		return 0;
	if (!*t->name && name_temp(r, t) < 0)
		return -1;
	if (renameat(r->at.dir, t->name, r->at.dir, r->at.name) < 0)
		return -1;
	t->name[0] = '\0';
	return 0;
}

/* Whether errno says that the file cannot be replaced, though it may be writable. */
static bool only_in_place(const struct replace *r)
{
	return r->old >= 0 && (errno == EACCES || errno == EPERM || errno == EBUSY);
}

/* 0, or -1 with errno. */
static int commit_temp(struct replace *r, struct new_file *n, struct str content)
{
	const int fd = n->temp.fd;

	if (io_write_all(fd, content, IO_FOREVER) < 0 ||
	    (r->old >= 0 && temp_resemble(&n->temp, r->old, &r->st) < 0))
		return -1;
	if (r->flags & REPLACE_MODE && fchmod(fd, r->mode) < 0)
		return -1;
	if (r->flags & REPLACE_SYNC && fsync(fd) < 0)
		return -1;
	return publish(r, n);
}

int replace_commit(struct replace *r, struct str content, struct err *e)
{
	struct new_file n = { .temp = TEMP_NONE };

	if (r->old >= 0 && r->st.st_nlink > 1)
		return write_in_place(r, content, e);
	witness_tell(r->witness, r->at.dir, r->at.name,
		     r->old < 0 ? WITNESS_MAKE : WITNESS_REPLACE);
	int rc = open_temp(r, &n);
	if (rc == 0)
		rc = commit_temp(r, &n, content);
	/* The nameless file could not be given a name: an old kernel without /proc, or a directory
	 * that keeps names. */
	if (rc < 0 && !*n.temp.name && (errno == ENOENT || (errno == EPERM && r->old < 0))) {
		temp_discard(&n.temp, r->at.dir);
		rc = named_temp(r, &n);
		if (rc == 0)
			rc = commit_temp(r, &n, content);
	}
	const int error = errno;
	temp_discard(&n.temp, r->at.dir);
	errno = error;
	if (rc < 0)
		return only_in_place(r) ? write_in_place(r, content, e) : fail(r, "write", e);
	if (r->flags & REPLACE_SYNC) {
		/* The rename is on disk only when the directory is. */
		AUTO_FD dir = openat(r->at.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 || fsync(dir) < 0)
			return fail(r, "write", e);
	}
	witness_tell_content(r->witness, r->at.dir, r->at.name, content);
	return 0;
}

/* Open the existing file. 0 also if there is none; -1 with errno. */
static int open_old(struct replace *r)
{
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

	r->old = openat(r->at.dir, r->at.name, O_RDWR | flags);
	/* A file that may be written but not read can still be overwritten. */
	if (r->old < 0 && errno == EACCES && !(r->flags & REPLACE_MUST_EXIST))
		r->old = openat(r->at.dir, r->at.name, O_WRONLY | flags);
	if (r->old < 0)
		return errno == ENOENT && !(r->flags & REPLACE_MUST_EXIST) ? 0 : -1;
	if (fstat(r->old, &r->st) < 0)
		return -1;
	if (r->st.st_nlink < 2)
		return 0;
	/* It will be written in place, and its other names have other locks. */
	r->file_lock = ws_lock_file(r->ws, &r->st);
	return fstat(r->old, &r->st);
}

int replace_begin(const struct workspace *ws, const struct witness *witness,
		  const struct path *path, unsigned flags, struct replace *ret, struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;
	AUTO_REPLACE r = { .ws = ws,
			   .witness = witness,
			   .path = path,
			   .flags = flags,
			   .at = { .dir = -1 },
			   .old = -1 };

	if (ws_place(ws, path, flags & REPLACE_MAKE_DIRS, witness, &r.at, e) < 0)
		return -1;
	r.lock = ws_lock(ws, &r.at);
	if (open_old(&r) < 0) {
		if (errno == ENOENT)
			return err_set(e, ERR_FILE_NOT_FOUND, "File not found: %.*s",
				       STR_FMT(ws_display(ws, path, shown)));
		return fail(&r, "write", e);
	}
	if (r.old >= 0 && !S_ISREG(r.st.st_mode))
		return err_set(e, ERR_NOT_A_FILE, "Path is not a regular file: %.*s",
			       STR_FMT(ws_display(ws, path, shown)));
	*ret = TAKE(r, REPLACE_NONE);
	return 0;
}

static int fail_large(const struct replace *r, const struct buf *out, struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;

	return err_set(e, ERR_FILE_TOO_LARGE,
		       "File is %lld bytes, the largest that can be edited is %zu: %.*s",
		       (long long)r->st.st_size, out->max - 1,
		       STR_FMT(ws_display(r->ws, r->path, shown)));
}

int replace_read(const struct replace *r, struct buf *out, struct err *e)
{
	if ((uint64_t)r->st.st_size >= out->max - out->n)
		return fail_large(r, out, e);
	/* Ask for one byte more than the file had, to see whether it has grown. */
	size_t want = (size_t)r->st.st_size + 1;
	for (off_t at = 0; want;) {
		char *to = buf_room(out, want);
		if (!to)
			return err_set(e, ERR_TOO_BUSY,
				       "Not enough memory to read the file, try again");
		const ssize_t n = io_pread_full(r->old, to, want, at);
		if (n < 0)
			return fail(r, "read", e);
		buf_filled(out, (size_t)n);
		if ((size_t)n < want)
			return 0;
		at += n;
		want = out->max - out->n < GROWTH ? out->max - out->n : GROWTH;
	}
	return fail_large(r, out, e);
}

void replace_done(struct replace *r)
{
	fd_closep(&r->old);
	file_place_done(&r->at);
	if (r->file_lock)
		(void)pthread_mutex_unlock(r->file_lock);
	if (r->lock)
		ws_unlock(r->ws, r->lock);
	r->lock = r->file_lock = NULL;
}
