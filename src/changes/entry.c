/* SPDX-License-Identifier: MIT */
/* entry: states are taken by name and put back by rename; only files with several names are written
 * in place. */

#include "changes/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "changes/limits.h"
#include "workspace/pending.h"

static enum state_type type_of(mode_t mode)
{
	return S_ISREG(mode)	? STATE_FILE
	       : S_ISDIR(mode)	? STATE_DIR
	       : S_ISLNK(mode)	? STATE_LINK
	       : S_ISFIFO(mode) ? STATE_FIFO
	       : S_ISSOCK(mode) ? STATE_SOCKET
	       : S_ISBLK(mode)	? STATE_BLOCK_DEVICE
				: STATE_DEVICE;
}

/* A path by which the calls that know no directories reach the name. */
static const char *proc_name(int dir, const char *name, char out[NAME_MAX + 64])
{
	(void)snprintf(out, NAME_MAX + 64, "/proc/self/fd/%d%s%s", dir, *name ? "/" : "", name);
	return out;
}

static void add_xattr(const char *path, const char *name, struct buf *out)
{
	char value[LIMIT_XATTR] UNINITIALISED;
	const ssize_t n = lgetxattr(path, name, value, sizeof value);
	const uint32_t length = n < 0 ? 0 : (uint32_t)n;

	if (n < 0)
		return;
	buf_add(out, (struct str){ name, strlen(name) + 1 });
	for (int i = 0; i < 4; i++)
		buf_addc(out, (char)(length >> (8 * i)));
	buf_add(out, (struct str){ value, (size_t)n });
}

/* Since Linux 6.13 there is a call that knows directories, which takes a third of the time. */
static ssize_t list_xattrs(int dir, const char *name, char names[LIMIT_XATTR_NAMES])
{
	enum { LISTXATTRAT = 465 };
	char path[NAME_MAX + 64] UNINITIALISED;
	const long n = syscall(LISTXATTRAT, dir, name, AT_SYMLINK_NOFOLLOW, names,
			       (size_t)LIMIT_XATTR_NAMES);

	if (n >= 0 || (errno != ENOSYS && errno != EPERM))
		return n;
	return llistxattr(proc_name(dir, name, path), names, LIMIT_XATTR_NAMES);
}

static struct str take_xattrs(int dir, const char *name, struct arena *a)
{
	char path[NAME_MAX + 64] UNINITIALISED, names[LIMIT_XATTR_NAMES] UNINITIALISED;
	const ssize_t n = list_xattrs(dir, name, names);

	if (n <= 0)
		return STR("");
	AUTO_BUF all = { .max = LIMIT_XATTRS };
	(void)proc_name(dir, name, path);
	for (const char *at = names; at < names + n; at += strlen(at) + 1)
		add_xattr(path, at, &all);
	return all.failed || !all.n ? STR("") : arena_dup(a, buf_str(&all));
}

/* The first of the attributes: its name (with its NUL in the text) and value. False at the end. */
static bool next_xattr(struct str *left, const char **name, struct str *value)
{
	const ptrdiff_t nul = str_index(*left, '\0');
	uint32_t n = 0;

	if (nul < 0 || left->n < (size_t)nul + 5)
		return false;
	*name = left->p;
	for (int i = 0; i < 4; i++)
		n |= (uint32_t)(unsigned char)left->p[nul + 1 + i] << (8 * i);
	*left = str_from(*left, (size_t)nul + 5);
	if (n > left->n)
		return false;
	*value = str_upto(*left, n);
	*left = str_from(*left, n);
	return true;
}

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

void entry_look(int dir, const char *name, struct arena *a, struct path_state *ret)
{
	char text[PATH_MAX] UNINITIALISED;
	struct stat st;

	*ret = (struct path_state){ .type = STATE_NONE };
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
		return;
	*ret = (struct path_state){
		.type = type_of(st.st_mode),
		.kept = S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode) ? KEPT_NOT : KEPT_NEEDLESS,
		.mode = st.st_mode & 07777,
		.uid = st.st_uid,
		.gid = st.st_gid,
		.nlink = (uint32_t)st.st_nlink,
		.dev = st.st_dev,
		.ino = st.st_ino,
		.rdev = st.st_rdev,
		.size = S_ISREG(st.st_mode) ? st.st_size : 0,
		.mtime_ns = ns_of(&st.st_mtim),
	};
	if (ret->type == STATE_LINK) {
		const ssize_t n = readlinkat(dir, name, text, sizeof text);
		ret->link = n < 0 ? STR("") : arena_dup(a, (struct str){ text, (size_t)n });
	} else {
		ret->xattrs = take_xattrs(dir, name, a);
	}
}

/* Open the file that the state speaks of; it is not waited for. -1 with errno: ESTALE if it is
 * another one now. */
static int open_file(int dir, const char *name, const struct path_state *st)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	struct stat now;
	AUTO_FD fd = openat(dir, name, flags | O_NOATIME);

	/* Only the owner may leave the time of access alone. */
	if (fd < 0 && errno == EPERM)
		fd = openat(dir, name, flags);
	/* Nothing, a link or a socket is there now. */
	if (fd < 0 && (errno == ENOENT || errno == ELOOP || errno == ENXIO))
		errno = ESTALE;
	if (fd < 0 || fstat(fd, &now) < 0)
		return -1;
	if (!S_ISREG(now.st_mode) || now.st_ino != st->ino || now.st_size != st->size) {
		errno = ESTALE;
		return -1;
	}
	return TAKE(fd, -1);
}

void entry_hash(int dir, const char *name, int64_t max_file, struct path_state *st)
{
	if (st->type != STATE_FILE || st->hashed || st->size > max_file)
		return;
	AUTO_FD fd = open_file(dir, name, st);
	st->hashed = fd >= 0 && blobs_hash(fd, st->size, st->hash) == 0;
}

/* Keep the bytes of a small file in memory as well. 0, or -1 with errno. */
static int keep_text(const struct entry_store *s, int fd, struct path_state *st)
{
	const size_t size = (size_t)st->size;
	char *to = arena_alloc(s->texts, size + 1);

	if (!to || io_pread_full(fd, to, size, 0) != (ssize_t)size) {
		errno = to ? ESTALE : ENOMEM;
		return -1;
	}
	const struct str text = { to, size };
	if (blobs_keep(s->blobs, s->change, text, st->hash, &st->place) < 0)
		return -1;
	st->text = text;
	return 0;
}

/* 0, or -1 with errno. */
static int keep_copy(const struct entry_store *s, int dir, const char *name, struct path_state *st)
{
	if (st->type != STATE_FILE) {
		errno = EINVAL;
		return -1;
	}
	AUTO_FD fd = open_file(dir, name, st);
	if (fd < 0)
		return -1;
	const int rc =
		s->texts && st->size <= LIMIT_JOURNAL_SMALL
			? keep_text(s, fd, st)
			: blobs_keep_file(s->blobs, s->change, fd, st->size, st->hash, &st->place);
	if (rc < 0)
		return -1;
	st->hashed = true;
	st->kept = KEPT_BLOB;
	return 0;
}

/* 0, or -1 with errno. */
static int keep_link(const struct entry_store *s, int dir, const char *name, struct path_state *st)
{
	struct stat found;

	if (store_link(s->blobs->store, dir, name, st->size, &st->place) < 0)
		return -1;
	/* The name may have got another object meanwhile. And by its time one sees later whether
	 * the link was written to; if that was changed since the state was taken, one would not. */
	if (store_stat_link(s->blobs->store, st->place, &found) == 0 && found.st_ino == st->ino &&
	    ns_of(&found.st_mtim) == st->mtime_ns) {
		st->kept = KEPT_LINK;
		return 0;
	}
	store_unlink(s->blobs->store, st->place);
	errno = ESTALE;
	return -1;
}

int entry_keep(const struct entry_store *s, int dir, const char *name, enum entry_keep how,
	       struct path_state *st)
{
	const uint64_t link = st->place;

	if (st->type != STATE_FILE && st->type != STATE_SOCKET)
		return 0;
	if (st->kept == KEPT_NOT && st->size > s->max_file) {
		errno = EFBIG;
		return -1;
	}
	if (st->kept == KEPT_LINK && how == ENTRY_COPY && keep_copy(s, dir, name, st) == 0)
		store_unlink(s->blobs->store, link);
	if (st->kept != KEPT_NOT)
		return 0;
	/* A copy of a small file costs less than a name. A file with several names must stay the
	 * inode that it is. */
	const bool copy_first =
		st->type == STATE_FILE && st->nlink == 1 && st->size <= LIMIT_JOURNAL_SMALL;
	if (how == ENTRY_COPY || copy_first) {
		if (keep_copy(s, dir, name, st) == 0)
			return 0;
		return how == ENTRY_COPY ? -1 : keep_link(s, dir, name, st);
	}
	struct path_state copy = *st;
	if (keep_link(s, dir, name, st) < 0)
		return keep_copy(s, dir, name, st);
	/* The link leaves the store when it is restored; a copy of a small file stays. */
	if (st->size <= LIMIT_JOURNAL_SMALL && keep_copy(s, dir, name, &copy) == 0) {
		memcpy(st->hash, copy.hash, sizeof st->hash);
		st->hashed = true;
	}
	return 0;
}

bool entry_same_content(const struct path_state *a, const struct path_state *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == STATE_LINK)
		return str_eq(a->link, b->link);
	if (a->type == STATE_DEVICE || a->type == STATE_BLOCK_DEVICE)
		return a->rdev == b->rdev;
	if (a->type != STATE_FILE)
		return true;
	if (a->size != b->size)
		return false;
	if (a->hashed && b->hashed)
		return memcmp(a->hash, b->hash, sizeof a->hash) == 0;
	return a->mtime_ns == b->mtime_ns;
}

bool entry_same(const struct path_state *a, const struct path_state *b)
{
	if (a->type == STATE_NONE || b->type == STATE_NONE)
		return a->type == b->type;
	return entry_same_content(a, b) && a->mode == b->mode && a->uid == b->uid &&
	       a->gid == b->gid && a->mtime_ns == b->mtime_ns && str_eq(a->xattrs, b->xattrs);
}

/* Through another name, or a descriptor, it may have been written to. */
static bool is_unchanged(const struct stat *found, const struct path_state *st)
{
	return found->st_ino == st->ino && found->st_dev == st->dev &&
	       (st->type != STATE_FILE ||
		(found->st_size == st->size && ns_of(&found->st_mtim) == st->mtime_ns));
}

/* The link of the state; or another one of that inode: an undo may have taken the first one out of
 * the store, and undoing that kept the inode again. */
static bool find_link(const struct entry_store *s, const struct path_state *st, uint64_t *at)
{
	struct store *store = s->blobs->store;
	struct stat found;

	*at = st->place;
	if (store_stat_link(store, *at, &found) == 0)
		return is_unchanged(&found, st);
	return store_find_inode(store, st->ino, at) && store_stat_link(store, *at, &found) == 0 &&
	       is_unchanged(&found, st);
}

bool entry_is_kept(const struct entry_store *s, const struct path_state *st)
{
	uint64_t at;

	switch (st->kept) {
	case KEPT_NEEDLESS:
		return true;
	case KEPT_BLOB:
		return store_segment(st->place) >= store_oldest(s->blobs->store);
	case KEPT_LINK:
		return find_link(s, st, &at) ||
		       (st->hashed && blobs_find(s->blobs, st->hash, (uint64_t)st->size, &at));
	case KEPT_NOT:
	case KEPTS:
		break;
	}
	return st->type == STATE_NONE;
}

static struct timespec time_of(int64_t ns)
{
	const int64_t rest = ns % 1000000000, before = rest < 0;

	return (struct timespec){ .tv_sec = ns / 1000000000 - before,
				  .tv_nsec = rest + before * 1000000000 };
}

int entry_set_mtime(int dir, const char *name, int64_t mtime_ns)
{
	const struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, time_of(mtime_ns) };

	return utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW);
}

static bool is_ours(const char *name)
{
	return str_starts(str_of(name), STR("user.")) ||
	       str_starts(str_of(name), STR("system.posix_acl"));
}

/* Remove the attributes that the state does not have. */
static void drop_xattrs(const char *path, const struct path_state *st)
{
	char names[LIMIT_XATTR_NAMES];
	const ssize_t n = listxattr(path, names, sizeof names);

	for (const char *at = names; n > 0 && at < names + n; at += strlen(at) + 1) {
		struct str left = st->xattrs, value;
		const char *name;
		bool stays = false;
		while (!stays && next_xattr(&left, &name, &value))
			stays = strcmp(name, at) == 0;
		if (!stays)
			(void)removexattr(path, at);
	}
}

static int set_xattrs(const char *path, const struct path_state *st)
{
	struct str left = st->xattrs, value;
	const char *name;

	while (next_xattr(&left, &name, &value)) {
		char now[LIMIT_XATTR] UNINITIALISED;
		const ssize_t n = getxattr(path, name, now, sizeof now);
		if (n >= 0 && str_eq((struct str){ now, (size_t)n }, value))
			continue;
		if (setxattr(path, name, value.p, value.n, 0) < 0 && is_ours(name))
			return -1;
	}
	return 0;
}

/* Owner first, because it clears set-id bits; then what may change the permissions. */
int entry_set_meta(int dir, const char *name, const struct path_state *st)
{
	char self[NAME_MAX + 64];
	struct stat now;
	AUTO_FD fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &now) < 0)
		return -1;
	if (type_of(now.st_mode) != st->type) {
		errno = ESTALE;
		return -1;
	}
	if (now.st_uid != st->uid || now.st_gid != st->gid)
		(void)fchownat(fd, "", st->uid, st->gid, AT_EMPTY_PATH); /* where it is allowed */
	if (st->type != STATE_LINK) {
		/* What follows links leads by this one to the object itself. */
		(void)proc_name(fd, "", self);
		drop_xattrs(self, st);
		if (fstat(fd, &now) < 0 ||
		    ((now.st_mode & 07777) != st->mode && chmod(self, st->mode) < 0) ||
		    set_xattrs(self, st) < 0)
			return -1;
	}
	return st->type == STATE_DIR ? 0 : entry_set_mtime(dir, name, st->mtime_ns);
}

/* Remove a file or an empty directory; nothing there is fine. */
static int remove_any(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	const int error = errno;
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return 0;
	if (errno == ENOTDIR)
		errno = error;
	return -1;
}

static int copy_link(const struct entry_store *s, const struct path_state *st, int to)
{
	uint64_t at;
	AUTO_FD from = find_link(s, st, &at) ? store_open_link(s->blobs->store, at) : -1;

	return from < 0 ? -1 : blobs_copy_file(from, st->size, to);
}

static int copy_kept(const struct entry_store *s, const struct path_state *st, int to)
{
	return st->kept == KEPT_LINK ? copy_link(s, st, to) : blobs_copy(s->blobs, st->place, to);
}

/* Whether it has to go back as the inode that it is. */
static bool is_inode_kept(const struct path_state *st)
{
	return st->kept == KEPT_LINK && (st->type == STATE_SOCKET || st->nlink > 1);
}

/* A new object under a temporary name. 0, or -1 with errno. */
static int make_temp(const struct entry_store *s, int dir, const char *temp,
		     const struct path_state *st)
{
	char target[PATH_MAX];

	if (is_inode_kept(st))
		return store_link_out(s->blobs->store, st->place, dir, temp);
	if (st->type == STATE_FILE) {
		AUTO_FD fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		return fd < 0 ? -1 : copy_kept(s, st, fd);
	}
	if (st->type == STATE_LINK) {
		(void)snprintf(target, sizeof target, "%.*s", STR_FMT(st->link));
		return symlinkat(target, dir, temp);
	}
	const mode_t kind = st->type == STATE_FIFO	     ? S_IFIFO
			    : st->type == STATE_SOCKET	     ? S_IFSOCK
			    : st->type == STATE_BLOCK_DEVICE ? S_IFBLK
							     : S_IFCHR;
	return mknodat(dir, temp, kind | 0600, st->rdev);
}

/* Make it under another name and rename it. */
static int replace(const struct entry_store *s, int dir, const char *name,
		   const struct path_state *st)
{
	char temp[64];
	uint64_t random;

	io_random(&random, sizeof random);
	(void)snprintf(temp, sizeof temp, PENDING_PREFIX "%016llx.tmp", (unsigned long long)random);
	struct pending_slot *slot = pending_add(s->pending, dir, temp);
	int rc = make_temp(s, dir, temp, st);
	if (rc == 0)
		rc = entry_set_meta(dir, temp, st);
	if (rc == 0)
		rc = renameat(dir, temp, dir, name);
	const int error = errno;
	/* If both are names of one inode, rename does nothing. */
	if (rc < 0 || is_inode_kept(st))
		(void)unlinkat(dir, temp, 0);
	pending_remove(slot);
	errno = error;
	return rc;
}

static int write_in_place(const struct entry_store *s, int dir, const char *name,
			  const struct path_state *st)
{
	AUTO_FD fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || blobs_copy(s->blobs, st->place, fd) < 0 || ftruncate(fd, st->size) < 0)
		return -1;
	return entry_set_meta(dir, name, st);
}

static int restore_file(const struct entry_store *s, int dir, const char *name,
			const struct path_state *st, const struct path_state *now)
{
	if (st->kept == KEPT_LINK) {
		uint64_t at;
		if (!find_link(s, st, &at)) {
			/* It may be back in its place already. */
			if (entry_same_object(st, now) && st->size == now->size)
				return entry_set_meta(dir, name, st);
			struct path_state copy = *st;
			copy.kept = KEPT_BLOB;
			if (st->hashed &&
			    blobs_find(s->blobs, st->hash, (uint64_t)st->size, &copy.place))
				return replace(s, dir, name, &copy);
			errno = ENODATA;
			return -1;
		}
		/* A copy, or another name of the inode, leaves the old content in the store: an
		 * undo that is interrupted needs it again. What there is no space for goes back as
		 * it is.
		 */
		struct path_state found = *st;
		found.place = at;
		if (replace(s, dir, name, &found) == 0)
			return 0;
		if (store_move_out(s->blobs->store, at, dir, name) < 0)
			return -1;
		return entry_set_meta(dir, name, st);
	}
	if (st->kept == KEPT_NOT) {
		/* Its content was not in danger. */
		if (now->type == st->type)
			return entry_set_meta(dir, name, st);
		errno = ENODATA;
		return -1;
	}
	if (st->nlink > 1 && entry_same_object(st, now))
		return write_in_place(s, dir, name, st);
	return replace(s, dir, name, st);
}

void entry_release(const struct entry_store *s, int dir, const char *name,
		   const struct path_state *st)
{
	struct stat now;

	if (is_inode_kept(st) && fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now.st_ino == st->ino && now.st_dev == st->dev)
		store_unlink(s->blobs->store, st->place);
}

int entry_restore(const struct entry_store *s, int dir, const char *name,
		  const struct path_state *st)
{
	struct arena scratch = { .max = LIMIT_XATTRS + PATH_MAX };
	struct path_state now;

	if (st->type == STATE_NONE)
		return remove_any(dir, name);
	entry_look(dir, name, &scratch, &now);
	arena_done(&scratch);
	/* A rename cannot put a file in the place of a directory. */
	if (now.type == STATE_DIR && st->type != STATE_DIR && remove_any(dir, name) < 0)
		return -1;
	if (st->type == STATE_DIR) {
		if (now.type != STATE_DIR &&
		    (remove_any(dir, name) < 0 || mkdirat(dir, name, 0700) < 0))
			return -1;
		return entry_set_meta(dir, name, st);
	}
	if (st->type == STATE_FILE || st->kept == KEPT_LINK)
		return restore_file(s, dir, name, st, &now);
	return replace(s, dir, name, st);
}
