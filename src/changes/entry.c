/* SPDX-License-Identifier: MIT */
/* entry: states are taken by name and put back by the writer of files (workspace/replace.h). */

#include "changes/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "changes/dirs.h"
#include "changes/limits.h"
#include "changes/xattrs.h"
#include "workspace/replace.h"

enum state_type entry_type(mode_t mode)
{
	return S_ISREG(mode)	? STATE_FILE
	       : S_ISDIR(mode)	? STATE_DIR
	       : S_ISLNK(mode)	? STATE_LINK
	       : S_ISFIFO(mode) ? STATE_FIFO
	       : S_ISSOCK(mode) ? STATE_SOCKET
	       : S_ISBLK(mode)	? STATE_BLOCK_DEVICE
				: STATE_DEVICE;
}

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

int entry_look(int dir, const char *name, struct arena *a, struct path_state *ret)
{
	char text[PATH_MAX] UNINITIALISED;
	struct stat st;

	*ret = (struct path_state){ .type = STATE_NONE };
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
		return errno == ENOENT ? 0 : -1;
	*ret = (struct path_state){
		.type = entry_type(st.st_mode),
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
		ret->xattrs = xattrs_take(dir, name, a);
	}
	return 0;
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

void entry_hash(const struct entry_store *s, int dir, const char *name, struct path_state *st)
{
	if (st->type != STATE_FILE || st->hashed || st->size > s->max_file)
		return;
	AUTO_FD fd = open_file(dir, name, st);
	st->hashed = fd >= 0 && blobs_hash(s->blobs, fd, st->size, st->hash) == 0;
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
	if (s->blobs && blobs_keep(s->blobs, s->part, text, st->hash, &st->place) < 0)
		return -1;
	st->text = text;
	return 0;
}

/* 0, or -1 with errno. */
static int keep_copy(const struct entry_store *s, int dir, const char *name, struct path_state *st)
{
	if (st->type != STATE_FILE || (s->blobs && st->size > s->max_file)) {
		errno = st->type == STATE_FILE ? EFBIG : EINVAL;
		return -1;
	}
	AUTO_FD fd = open_file(dir, name, st);
	if (fd < 0)
		return -1;
	const int rc =
		s->texts && (!s->blobs || st->size <= LIMIT_JOURNAL_SMALL)
			? keep_text(s, fd, st)
			: blobs_keep_file(s->blobs, s->part, fd, st->size, st->hash, &st->place);
	if (rc < 0)
		return -1;
	st->hashed = s->blobs;
	st->kept = KEPT_BLOB;
	return 0;
}

/* 0, or -1 with errno. */
static int keep_link(const struct entry_store *s, int dir, const char *name, struct path_state *st)
{
	struct stat found;

	if (links_keep(s->blobs->store, s->part, dir, name, st->size, &st->place) < 0)
		return -1;
	/* The name may have got another object meanwhile. And by its time one sees later whether
	 * the link was written to; if that was changed since the state was taken, one would not. */
	if (links_stat(s->blobs->store, st->place, &found) == 0 && found.st_ino == st->ino &&
	    ns_of(&found.st_mtim) == st->mtime_ns) {
		st->kept = KEPT_LINK;
		return 0;
	}
	links_drop(s->blobs->store, st->place);
	errno = ESTALE;
	return -1;
}

int entry_keep(const struct entry_store *s, int dir, const char *name, enum entry_keep how,
	       struct path_state *st)
{
	const uint64_t link = st->place;

	if (st->type != STATE_FILE && st->type != STATE_SOCKET)
		return 0;
	if (st->kept == KEPT_LINK && how == ENTRY_COPY && keep_copy(s, dir, name, st) == 0)
		links_drop(s->blobs->store, link);
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

void entry_drop(const struct entry_store *s, struct path_state *st)
{
	if (st->kept == KEPT_LINK)
		links_drop(s->blobs->store, st->place);
	if (st->kept == KEPT_BLOB)
		blobs_drop(s->blobs, st->hash, st->place);
	if (st->kept == KEPT_LINK || st->kept == KEPT_BLOB)
		st->kept = KEPT_NOT;
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

bool entry_is_another(const struct path_state *before, const struct path_state *after)
{
	return before->type == STATE_FILE && after->type == STATE_FILE &&
	       (before->nlink > 1 || after->nlink > 1) && !entry_same_object(before, after);
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
	if (links_stat(store, *at, &found) == 0)
		return is_unchanged(&found, st);
	return links_find(store, st->ino, at) && links_stat(store, *at, &found) == 0 &&
	       is_unchanged(&found, st);
}

/* The copy of a small file that was linked. */
static bool find_copy(const struct entry_store *s, const struct path_state *st, uint64_t *at)
{
	return st->hashed &&
	       blobs_find(s->blobs, st->hash, (uint64_t)st->size, store_segment(st->place), at);
}

bool entry_is_kept(const struct entry_store *s, const struct path_state *st)
{
	uint64_t at;

	switch (st->kept) {
	case KEPT_NEEDLESS:
		return true;
	case KEPT_BLOB:
		return store_has(s->blobs->store, st->place);
	case KEPT_LINK:
		return find_link(s, st, &at) || find_copy(s, st, &at);
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

/* Owner first, because it clears set-id bits; then what may change the permissions. */
int entry_set_meta(int dir, const char *name, const struct path_state *st)
{
	char self[32];
	struct stat now;
	AUTO_FD fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &now) < 0)
		return -1;
	if (entry_type(now.st_mode) != st->type) {
		errno = ESTALE;
		return -1;
	}
	if (now.st_uid != st->uid || now.st_gid != st->gid)
		(void)fchownat(fd, "", st->uid, st->gid, AT_EMPTY_PATH); /* where it is allowed */
	if (st->type != STATE_LINK) {
		/* What follows links leads by this one to the object itself. */
		(void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
		xattrs_drop(self, st->xattrs);
		if (fstat(fd, &now) < 0 ||
		    ((now.st_mode & 07777) != st->mode && chmod(self, st->mode) < 0) ||
		    xattrs_set(self, st->xattrs) < 0)
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
	AUTO_FD from = find_link(s, st, &at) ? links_open(s->blobs->store, at) : -1;

	return from < 0 ? -1 : blobs_copy_file(from, st->size, to);
}

/* A content, and where it is kept. */
struct kept_content {
	const struct entry_store *store;
	const struct path_state *state;
};

static int copy_kept(const void *arg, int to)
{
	const struct kept_content *k = arg;
	const struct path_state *st = k->state;

	if (st->text.p)
		return temp_fill_text(&st->text, to);
	return st->kept == KEPT_LINK ? copy_link(k->store, st, to)
				     : blobs_copy(k->store->blobs, st->place, to);
}

/* Whether it has to go back as the inode that it is. */
static bool is_inode_kept(const struct path_state *st)
{
	return st->kept == KEPT_LINK && (st->type == STATE_SOCKET || st->nlink > 1);
}

/* Have the temporary name be one more of the file that has the state's other name, if that is still
 * as it was. */
static bool link_other(const struct entry_store *s, const struct temp *t,
		       const struct path_state *st)
{
	char name[NAME_MAX + 1];
	struct stat found;
	AUTO_FD dir = st->type == STATE_FILE && st->link.n && s->root
			      ? dirs_open_parent(*s->root, st->link, name)
			      : -1;

	return dir >= 0 && fstatat(dir, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
	       is_unchanged(&found, st) && (found.st_mode & 07777) == st->mode &&
	       linkat(dir, name, t->dir, t->name, 0) == 0;
}

/* A new object under its temporary name. 0, or -1 with errno. */
static int make_temp(const struct entry_store *s, struct temp *t, const struct path_state *st)
{
	const struct kept_content kept = { s, st };
	char target[PATH_MAX];

	if (link_other(s, t, st))
		return 0;
	if (is_inode_kept(st))
		return links_give(s->blobs->store, st->place, t->dir, t->name);
	if (st->type == STATE_FILE)
		return temp_make(t, 0600) < 0 ? -1 : copy_kept(&kept, t->fd);
	if (st->type == STATE_LINK) {
		(void)snprintf(target, sizeof target, "%.*s", STR_FMT(st->link));
		return symlinkat(target, t->dir, t->name);
	}
	const mode_t kind = st->type == STATE_FIFO	     ? S_IFIFO
			    : st->type == STATE_SOCKET	     ? S_IFSOCK
			    : st->type == STATE_BLOCK_DEVICE ? S_IFBLK
							     : S_IFCHR;
	return mknodat(t->dir, t->name, kind | 0600, st->rdev);
}

/* Whether a file that was made has the owner of the one that it is to replace. */
static bool has_owner(const struct temp *t, const struct path_state *st,
		      const struct path_state *now)
{
	struct stat made;

	if (t->fd < 0 || !entry_same_object(st, now) || fstat(t->fd, &made) < 0 ||
	    (made.st_uid == st->uid && made.st_gid == st->gid))
		return true;
	errno = EPERM;
	return false;
}

/* Make it under another name and rename it. */
static int replace(const struct entry_store *s, int dir, const char *name,
		   const struct path_state *st, const struct path_state *now)
{
	struct temp t = TEMP_NONE;

	temp_choose_name(&t, s->pending, dir);
	int rc = make_temp(s, &t, st);
	if (rc == 0)
		rc = entry_set_meta(dir, t.name, st);
	if (rc == 0)
		rc = has_owner(&t, st, now) ? temp_put(&t, dir, name, TEMP_OVER) : -1;
	const int error = errno;
	temp_discard(&t);
	errno = error;
	return rc;
}

static int write_in_place(const struct entry_store *s, int dir, const char *name,
			  const struct path_state *st, const struct path_state *now)
{
	const struct kept_content kept = { s, st };
	AUTO_FD fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || temp_overwrite(fd, now->size, st->size, copy_kept, &kept) < 0)
		return -1;
	return entry_set_meta(dir, name, st);
}

/* Whether the file that is there has the content already. */
static bool has_content(const struct entry_store *s, int dir, const char *name,
			const struct path_state *st, const struct path_state *now)
{
	struct path_state found = *now;

	if (!st->hashed || !entry_same_object(st, now) || st->size != now->size)
		return false;
	entry_hash(s, dir, name, &found);
	return found.hashed && memcmp(found.hash, st->hash, sizeof st->hash) == 0;
}

static int restore_blob(const struct entry_store *s, int dir, const char *name,
			const struct path_state *st, const struct path_state *now)
{
	const bool same = entry_same_object(st, now);

	if (has_content(s, dir, name, st, now))
		return entry_set_meta(dir, name, st);
	if (!(same && st->nlink > 1) && replace(s, dir, name, st, now) == 0)
		return 0;
	if (same && (st->nlink > 1 || errno == EPERM || errno == EACCES || errno == EBUSY))
		return write_in_place(s, dir, name, st, now);
	return -1;
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
			if (find_copy(s, st, &copy.place))
				return replace(s, dir, name, &copy, now);
			errno = ENODATA;
			return -1;
		}
		/* A copy, or another name of the inode, leaves the old content in the store: an
		 * undo that is interrupted needs it again. What there is no space for goes back as
		 * it is.
		 */
		struct path_state found = *st;
		found.place = at;
		if (replace(s, dir, name, &found, now) == 0)
			return 0;
		if (links_move(s->blobs->store, at, dir, name) < 0)
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
	return restore_blob(s, dir, name, st, now);
}

void entry_release(const struct entry_store *s, int dir, const char *name,
		   const struct path_state *st)
{
	struct stat now;

	if (is_inode_kept(st) && fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now.st_ino == st->ino && now.st_dev == st->dev)
		links_drop(s->blobs->store, st->place);
}

int entry_restore(const struct entry_store *s, int dir, const char *name,
		  const struct path_state *st)
{
	AUTO_ARENA scratch = { .max = LIMIT_XATTRS + PATH_MAX };
	struct path_state now;

	if (st->type == STATE_NONE)
		return remove_any(dir, name);
	if (entry_look(dir, name, &scratch, &now) < 0)
		return -1;
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
	/* A step that is taken back before this one may ask for the same object. But a link that
	 * was made again may have the number of the one that is to come back. */
	if (entry_same_object(st, &now) && entry_same_content(st, &now))
		return entry_set_meta(dir, name, st);
	return replace(s, dir, name, st, &now);
}
