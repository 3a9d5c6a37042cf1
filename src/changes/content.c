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
#include "changes/entry.h"
#include "changes/limits.h"
#include "workspace/workspace.h"

static bool is_it(struct journal *j, const struct path_state *s, struct str content)
{
	uint8_t hash[RECORD_HASH];

	if (!s->hashed)
		return true;
	record_hash_of(store_seed(journal_store(j)), content, hash);
	return memcmp(hash, s->hash, sizeof hash) == 0;
}

static bool read_blob(struct journal *j, uint64_t at, const struct path_state *s, struct buf *out)
{
	const size_t start = out->n;

	if (store_read(journal_store(j), at, RECORD_BLOB, 0, out) < 0 ||
	    out->n - start != (size_t)s->size + RECORD_HASH)
		return false;
	out->n -= RECORD_HASH;
	return is_it(j, s, (struct str){ out->p + start, out->n - start });
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

static bool read_file(struct journal *j, int fd, const struct path_state *s, struct buf *out)
{
	const size_t size = (size_t)s->size;
	char *to = buf_room(out, size + 1);

	if (!to || !may_be_it(fd, s) || io_pread_full(fd, to, size, 0) != (ssize_t)size ||
	    !is_it(j, s, (struct str){ to, size }))
		return false;
	buf_filled(out, size);
	return true;
}

static bool fits(const struct path_state *s, const struct buf *out)
{
	return s->type == STATE_FILE && (uint64_t)s->size + RECORD_HASH < out->max - out->n;
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
	AUTO_FD fd = s->kept == KEPT_LINK ? links_open(journal_store(j), s->place) : -1;
	return fd >= 0 && read_file(j, fd, s, out);
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
	if (fd >= 0 && read_file(j, fd, s, out))
		return true;
	return s->hashed && blobs_find(journal_blobs(j), s->hash, (uint64_t)s->size, 0, &at) &&
	       read_blob(j, at, s, out);
}

bool content_digest(struct journal *j, const struct change_item *item, bool after,
		    uint8_t digest[SHA256_SIZE])
{
	AUTO_BUF bytes = { .max = LIMIT_DIGEST_FILE };

	if ((after ? &item->after : &item->before)->type != STATE_FILE)
		return false;
	/* What was only moved was not kept: it is what it is now. */
	after |= item->before.kept == KEPT_NOT && entry_same_content(&item->before, &item->after);
	if (!(after ? content_after : content_before)(j, item, &bytes))
		return false;
	sha256_of(buf_str(&bytes), digest);
	return true;
}

bool content_diff_size(struct journal *j, const struct change_item *item, int64_t max_bytes,
		       struct diff_size *ret)
{
	AUTO_BUF old = { .max = (size_t)max_bytes }, new = { .max = (size_t)max_bytes };
	AUTO_ARENA memory = { .max = 64 * (size_t)max_bytes };

	if ((item->before.type != STATE_FILE && item->before.type != STATE_NONE) ||
	    (item->after.type != STATE_FILE && item->after.type != STATE_NONE) ||
	    item->before.size >= max_bytes || item->after.size >= max_bytes)
		return false;
	if (item->before.type == item->after.type &&
	    entry_same_content(&item->before, &item->after)) {
		*ret = (struct diff_size){ 0 };
		return true;
	}
	return content_before(j, item, &old) && content_after(j, item, &new) &&
	       str_index(buf_str(&old), '\0') < 0 && str_index(buf_str(&new), '\0') < 0 &&
	       diff_count(buf_str(&old), buf_str(&new), &memory, ret);
}
