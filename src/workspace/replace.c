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
	t->dir = dir;
	t->fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	return t->fd < 0 ? -1 : 0;
}

bool temp_needs_name(void)
{
	/* EOPNOTSUPP; EISDIR from old kernels. */
	return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT;
}

void temp_choose_name(struct temp *t, struct pending *pending, int dir)
{
	uint64_t random;

	io_random(&random, sizeof random);
	(void)snprintf(t->name, sizeof t->name, PENDING_PREFIX "%016llx.tmp",
		       (unsigned long long)random);
	t->dir = dir;
	t->slot = pending_add(pending, dir, t->name);
}

/* The name does not exist after all. */
static int forget_name(struct temp *t)
{
	t->name[0] = '\0';
	return -1;
}

int temp_make(struct temp *t, mode_t mode)
{
	t->fd = openat(t->dir, t->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return t->fd < 0 ? forget_name(t) : 0;
}

static int link_to(const struct temp *t, int dir, const char *name)
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

int temp_link(struct temp *t)
{
	return link_to(t, t->dir, t->name) < 0 ? forget_name(t) : 0;
}

static int rename_to(const struct temp *t, int dir, const char *name, enum temp_way way)
{
	static const unsigned flags[] = {
		[TEMP_NEW] = RENAME_NOREPLACE, [TEMP_EXCHANGE] = RENAME_EXCHANGE
	};

	if (way == TEMP_OVER)
		return renameat(t->dir, t->name, dir, name);
	if (renameat2(t->dir, t->name, dir, name, flags[way]) == 0)
		return 0;
	if (errno == ENOSYS || errno == EOPNOTSUPP)
		errno = EINVAL;
	/* Not every file system can refuse to replace: a link does. */
	return errno == EINVAL && way == TEMP_NEW ? linkat(t->dir, t->name, dir, name, 0) : -1;
}

int temp_put(struct temp *t, int dir, const char *name, enum temp_way way)
{
	if (!*t->name)
		return link_to(t, dir, name);
	if (rename_to(t, dir, name, way) < 0)
		return -1;
	/* If both are names of one inode, a rename does nothing. */
	if (t->fd < 0 && way == TEMP_OVER)
		(void)unlinkat(t->dir, t->name, 0);
	t->name[0] = '\0';
	return 0;
}

int temp_fill_text(const void *arg, int fd)
{
	return io_write_all(fd, *(const struct str *)arg, IO_FOREVER);
}

int temp_overwrite(int fd, int64_t old_size, int64_t size, temp_fill *fill, const void *arg)
{
	/* Also in the holes of a sparse file. */
	if (size > 0 && fallocate(fd, 0, 0, size) < 0 && errno != EOPNOTSUPP) {
		const int error = errno;
		(void)ftruncate(fd, old_size);
		errno = error;
		return -1;
	}
	return lseek(fd, 0, SEEK_SET) < 0 || fill(arg, fd) < 0 ? -1 : ftruncate(fd, size);
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

void temp_discard(struct temp *t)
{
	if (*t->name)
		(void)unlinkat(t->dir, t->name, 0);
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
	temp_choose_name(t, ws_pending(r->ws), r->at.dir);
	return temp_link(t);
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
	temp_choose_name(&n->temp, ws_pending(r->ws), r->at.dir);
	/* Other processes see this file while it is written. If it replaces one, only we may open
	 * it until it has the mode of the old file. */
	return temp_make(&n->temp, r->old < 0 ? 0666 : 0600);
}

static int open_temp(struct replace *r, struct new_file *n)
{
	if (temp_open(&n->temp, r->at.dir) == 0)
		return 0;
	return temp_needs_name() ? named_temp(r, n) : -1;
}

static int write_in_place(struct replace *r, struct str content, struct err *e)
{
	witness_tell(r->witness, r->at.dir, r->at.name, WITNESS_WRITE);
	if (temp_overwrite(r->old, r->st.st_size, (int64_t)content.n, temp_fill_text, &content) < 0)
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
	if (r->old < 0 && !*t->name && temp_put(t, r->at.dir, r->at.name, TEMP_NEW) == 0)
		return 0;
	if (!*t->name && name_temp(r, t) < 0)
		return -1;
	return temp_put(t, r->at.dir, r->at.name, TEMP_OVER);
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
		temp_discard(&n.temp);
		rc = named_temp(r, &n);
		if (rc == 0)
			rc = commit_temp(r, &n, content);
	}
	const int error = errno;
	temp_discard(&n.temp);
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
	return fstat(r->old, &r->st);
}

/* A file with several names will be written in place, and its other names have other locks. */
static int lock_file(struct replace *r, struct err *e)
{
	if (r->old < 0 || r->st.st_nlink < 2)
		return 0;
	if (locks_take_file(ws_locks(r->ws), &r->st, &r->file_lock, e) < 0)
		return -1;
	return fstat(r->old, &r->st) < 0 ? fail(r, "write", e) : 0;
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

	if (ws_place(ws, path, flags & REPLACE_MAKE_DIRS, witness, &r.at, e) < 0 ||
	    witness_ask(witness, r.at.dir, r.at.name, e) < 0)
		return -1;
	if (locks_take_place(ws_locks(ws), &r.at, &r.lock, e) < 0)
		return -1;
	if (open_old(&r) < 0) {
		if (errno == ENOENT)
			return err_set(e, ERR_FILE_NOT_FOUND, "File not found: %.*s",
				       STR_FMT(ws_display(ws, path, shown)));
		return fail(&r, "write", e);
	}
	if (lock_file(&r, e) < 0)
		return -1;
	if (r.old >= 0 && ws_hides(ws, r.old)) {
		(void)err_set(e, ERR_PATH_HIDDEN, "%.*s is hidden from agents.",
			      STR_FMT(ws_display(ws, path, shown)));
		return err_advise(e, "The operator can show it with --hide '!PATTERN'.");
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
	if (!r->ws)
		return;
	locks_release_file(ws_locks(r->ws), &r->file_lock);
	locks_release_place(ws_locks(r->ws), &r->lock);
}
