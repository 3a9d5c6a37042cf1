/* SPDX-License-Identifier: MIT */
/* content: from a blob, a link, or the workspace; what has a hash must match it. */

#include "changes/content.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "changes/dirs.h"
#include "changes/limits.h"
#include "workspace/workspace.h"

static bool is_it(const struct path_state *s, struct str content)
{
	uint8_t hash[SHA256_SIZE];

	if (!s->hashed)
		return true;
	sha256_of(content, hash);
	return memcmp(hash, s->hash, sizeof hash) == 0;
}

static bool read_blob(struct journal *j, uint64_t at, const struct path_state *s, struct buf *out)
{
	const size_t start = out->n;

	if (store_read(journal_store(j), at, RECORD_BLOB, 0, out) < 0 ||
	    out->n - start != (size_t)s->size + SHA256_SIZE)
		return false;
	out->n -= SHA256_SIZE;
	return is_it(s, (struct str){ out->p + start, out->n - start });
}

/* Without a hash, size and time tell whether it is still the same. */
static bool may_be_it(int fd, const struct path_state *s)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != s->size)
		return false;
	return s->hashed ||
	       (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec == s->mtime_ns;
}

static bool read_file(int fd, const struct path_state *s, struct buf *out)
{
	const size_t size = (size_t)s->size;
	char *to = buf_room(out, size + 1);

	if (!to || !may_be_it(fd, s) || io_pread_full(fd, to, size, 0) != (ssize_t)size ||
	    !is_it(s, (struct str){ to, size }))
		return false;
	buf_filled(out, size);
	return true;
}

static bool fits(const struct path_state *s, const struct buf *out)
{
	return s->type == STATE_FILE && (uint64_t)s->size + SHA256_SIZE < out->max - out->n;
}

static bool add_text(const struct path_state *s, struct buf *out)
{
	buf_add(out, s->text);
	return !out->failed;
}

bool content_before(struct journal *j, const struct change_item *item, struct buf *out)
{
	const struct path_state *s = &item->before;

	if (s->type != STATE_FILE)
		return s->type == STATE_NONE;
	if (!fits(s, out))
		return false;
	if (s->text.p)
		return add_text(s, out);
	if (s->kept == KEPT_BLOB)
		return read_blob(j, s->place, s, out);
	AUTO_FD fd = s->kept == KEPT_LINK ? store_open_link(journal_store(j), s->place) : -1;
	return fd >= 0 && read_file(fd, s, out);
}

/* Open what is there now; -1 if there is no file. */
static int open_present(struct journal *j, struct str path)
{
	const struct path top = { .base = PATH_WORKSPACE };
	char name[NAME_MAX + 1];
	struct err e;
	AUTO_FD root = ws_open(journal_workspace(j), &top, O_PATH | O_DIRECTORY, &e);
	AUTO_FD dir = root < 0 ? -1 : dirs_open_parent(root, path, name);

	return dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

void content_hash_after(struct journal *j, struct change_item *item)
{
	struct path_state *s = &item->after;

	if (s->type != STATE_FILE || s->hashed || s->size > LIMIT_DIFF_FILE)
		return;
	AUTO_FD fd = open_present(j, item->path);
	s->hashed = fd >= 0 && may_be_it(fd, s) && blobs_hash(fd, s->size, s->hash) == 0;
}

bool content_after(struct journal *j, const struct change_item *item, struct buf *out)
{
	const struct path_state *s = &item->after;
	uint64_t at;

	if (s->type != STATE_FILE)
		return s->type == STATE_NONE;
	if (!fits(s, out))
		return false;
	if (s->text.p)
		return add_text(s, out);
	AUTO_FD fd = open_present(j, item->path);
	if (fd >= 0 && read_file(fd, s, out))
		return true;
	return s->hashed && blobs_find(journal_blobs(j), s->hash, (uint64_t)s->size, &at) &&
	       read_blob(j, at, s, out);
}
