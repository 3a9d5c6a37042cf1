/* SPDX-License-Identifier: MIT */
/* blobs: hash, look up, write, and a small table of what is there; link, rename and unlink. */

#include "changes/blobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define XXH_STATIC_LINKING_ONLY /* for the size of its state */
#include <xxhash.h>

#include "base/io.h"
#include "base/own.h"
#include "changes/home.h"
#include "changes/limits.h"

struct known_blob {
	uint64_t key; /* the first bytes of the hash; 0: an empty place */
	uint64_t at;
	uint64_t change; /* which needs it; 0: several do */
};

enum { KNOWN = 1 << 14, PROBES = 8 };

void blobs_init(struct blobs *b, struct store *s)
{
	*b = (struct blobs){ .store = s, .lock = PTHREAD_MUTEX_INITIALIZER };
}

void blobs_done(struct blobs *b)
{
	mem_free(b->known);
	b->known = NULL;
	(void)pthread_mutex_destroy(&b->lock);
}

static uint64_t key_of(const uint8_t hash[RECORD_HASH])
{
	uint64_t key;

	memcpy(&key, hash, sizeof key);
	return key ? key : 1;
}

/* Whether the record there is a blob of that size with that hash. */
static bool is_blob(struct store *s, uint64_t at, uint64_t size, const uint8_t hash[RECORD_HASH])
{
	char found[RECORD_HASH];
	struct record_head h;
	AUTO_FD fd = store_open_segment(s, at);

	return fd >= 0 && store_read_head(s, fd, at, RECORD_BLOB, &h) == 0 &&
	       h.length == size + RECORD_HASH &&
	       io_pread_full(fd, found, sizeof found,
			     (off_t)(uint32_t)at + RECORD_HEAD + (off_t)size) == sizeof found &&
	       memcmp(found, hash, sizeof found) == 0;
}

static struct known_blob *known(const struct blobs *b, const uint8_t hash[RECORD_HASH])
{
	const uint64_t key = key_of(hash);

	for (size_t i = 0; b->known && i < PROBES; i++)
		if (b->known[(key + i) % KNOWN].key == key)
			return &b->known[(key + i) % KNOWN];
	return NULL;
}

/* A blob with that content in the segment of that change, which needs it from now on. */
static bool recall(struct blobs *b, const struct store_part *p, const uint8_t hash[RECORD_HASH],
		   uint64_t size, uint64_t *at)
{
	(void)pthread_mutex_lock(&b->lock);
	struct known_blob *k = known(b, hash);
	if (k && (store_segment(k->at) != p->segment || !is_blob(b->store, k->at, size, hash)))
		k = NULL;
	if (k) {
		*at = k->at;
		if (k->change != p->change)
			store_share(b->store, k->at);
		k->change = k->change == p->change ? p->change : 0;
	}
	(void)pthread_mutex_unlock(&b->lock);
	return k;
}

void blobs_drop(struct blobs *b, const uint8_t hash[RECORD_HASH], uint64_t at)
{
	(void)pthread_mutex_lock(&b->lock);
	struct known_blob *k = known(b, hash);
	const bool is_known = k && k->at == at, is_alone = is_known && k->change;
	if (is_alone)
		k->key = 0;
	/* One that is not remembered any more may have been needed by several. */
	if (is_alone || !is_known)
		store_punch(b->store, at, is_alone);
	(void)pthread_mutex_unlock(&b->lock);
}

static void remember(struct blobs *b, uint64_t change, const uint8_t hash[RECORD_HASH], uint64_t at)
{
	const uint64_t key = key_of(hash);

	(void)pthread_mutex_lock(&b->lock);
	if (!b->known)
		b->known = mem_new(KNOWN, sizeof *b->known);
	/* An empty place, one with the same key, or that of the oldest blob. */
	struct known_blob *to = b->known ? &b->known[key % KNOWN] : NULL;
	for (size_t i = 0; to && i < PROBES; i++) {
		struct known_blob *k = &b->known[(key + i) % KNOWN];
		if (!k->key || k->key == key) {
			to = k;
			break;
		}
		if (k->at < to->at)
			to = k;
	}
	if (to)
		*to = (struct known_blob){ key, at, change };
	(void)pthread_mutex_unlock(&b->lock);
}

/* A blob that another program has written: several changes may need it. */
static void visit_blob(void *arg, uint64_t at, const struct record_head *h, struct str content)
{
	struct blobs *b = arg;
	uint8_t hash[RECORD_HASH];
	AUTO_FD fd = h->type == RECORD_BLOB && content.n >= sizeof hash
			     ? store_open_segment(b->store, at)
			     : -1;

	if (fd >= 0 && io_pread_full(fd, hash, sizeof hash,
				     (off_t)(uint32_t)at + RECORD_HEAD +
					     (off_t)(content.n - sizeof hash)) == sizeof hash)
		remember(b, 0, hash, at);
}

/* The position behind the last record of a segment, to which its program may append; 0 if it is
 * gone. */
static uint64_t end_of(struct store *s, uint32_t segment)
{
	AUTO_FD fd = store_open_segment(s, store_at(segment, 0));
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? store_at(segment, (uint32_t)st.st_size) : 0;
}

bool blobs_find(struct blobs *b, const uint8_t hash[RECORD_HASH], uint64_t size, uint32_t segment,
		uint64_t *at)
{
	const uint64_t end = segment ? end_of(b->store, segment) : 0;
	bool is_there, is_scanned;

	do {
		(void)pthread_mutex_lock(&b->lock);
		const struct known_blob *k = known(b, hash);
		is_there = k && is_blob(b->store, k->at, size, hash);
		if (is_there)
			*at = k->at;
		is_scanned = !end || b->scanned == end;
		b->scanned = is_there || is_scanned ? b->scanned : end;
		(void)pthread_mutex_unlock(&b->lock);
		if (!is_there && !is_scanned)
			store_scan(b->store, segment, visit_blob, b);
	} while (!is_there && !is_scanned);
	return is_there;
}

int blobs_keep(struct blobs *b, struct store_part *p, struct str bytes, uint8_t hash[RECORD_HASH],
	       uint64_t *at)
{
	const uint64_t seed = store_seed(b->store);
	AUTO_BUF out = { .max = record_size(bytes.n + RECORD_HASH) };

	record_hash_of(seed, bytes, hash);
	if (recall(b, p, hash, bytes.n, at))
		return 0;
	char *to = buf_room(&out, out.max);
	if (!to) {
		errno = ENOMEM;
		return -1;
	}
	memset(to + out.max - RECORD_ALIGN, 0, RECORD_ALIGN);
	if (bytes.n)
		memcpy(to + RECORD_HEAD, bytes.p, bytes.n);
	memcpy(to + RECORD_HEAD + bytes.n, hash, RECORD_HASH);
	const struct str content = { to + RECORD_HEAD, bytes.n + RECORD_HASH };
	const struct record_head h = { RECORD_BLOB, p->change, content.n,
				       record_checksum(seed, content) };
	record_put_head(seed, &h, to);
	buf_filled(&out, out.max);
	struct reserved r;
	if (store_reserve(b->store, p, out.n, &r) < 0 ||
	    store_release(b->store, &r, false,
			  store_write_at(r.fd, buf_str(&out), (uint32_t)r.at)) < 0)
		return -1;
	*at = r.at;
	remember(b, p->change, hash, *at);
	return 0;
}

/* A file that is read piece by piece: its hash, and a copy to `to` unless that is -1. */
struct copying {
	int from, to;
	uint64_t offset; /* of the first byte in `to` */
	int64_t size;
	uint64_t seed, checksum; /* of the bytes and their hash */
	uint8_t *hash;
};

static int copy_file(struct copying *c)
{
	AUTO_BUF room = { .max = LIMIT_JOURNAL_PIECE };
	char *piece = buf_room(&room, LIMIT_JOURNAL_PIECE);
	XXH128_canonical_t hash;
	XXH3_state_t sum, all;

	if (!piece) {
		errno = ENOMEM;
		return -1;
	}
	(void)XXH3_64bits_reset_withSeed(&sum, c->seed);
	(void)XXH3_128bits_reset_withSeed(&all, c->seed);
	for (int64_t at = 0; at < c->size;) {
		const int64_t left = c->size - at;
		const size_t want = left < LIMIT_JOURNAL_PIECE ? (size_t)left : LIMIT_JOURNAL_PIECE;
		if (io_pread_full(c->from, piece, want, at) != (ssize_t)want) {
			errno = ESTALE;
			return -1;
		}
		(void)XXH3_128bits_update(&all, piece, want);
		(void)XXH3_64bits_update(&sum, piece, want);
		if (c->to >= 0 && store_write_at(c->to, (struct str){ piece, want },
						 c->offset + (uint64_t)at) < 0)
			return -1;
		at += (int64_t)want;
	}
	XXH128_canonicalFromHash(&hash, XXH3_128bits_digest(&all));
	memcpy(c->hash, &hash, RECORD_HASH);
	(void)XXH3_64bits_update(&sum, c->hash, RECORD_HASH);
	c->checksum = XXH3_64bits_digest(&sum);
	return 0;
}

int blobs_hash(const struct blobs *b, int fd, int64_t size, uint8_t hash[RECORD_HASH])
{
	char room[LIMIT_JOURNAL_SMALL] UNINITIALISED;

	if (size <= LIMIT_JOURNAL_SMALL) {
		if (io_pread_full(fd, room, (size_t)size, 0) != size) {
			errno = ESTALE;
			return -1;
		}
		record_hash_of(store_seed(b->store), (struct str){ room, (size_t)size }, hash);
		return 0;
	}
	struct copying c = {
		.from = fd, .to = -1, .size = size, .seed = store_seed(b->store), .hash = hash
	};

	return copy_file(&c);
}

/* Bytes, hash, and the head last: until then it is not a record. */
static int write_blob(struct copying *c, uint64_t change, uint64_t at)
{
	char head[RECORD_HEAD];

	if (copy_file(c) < 0 ||
	    store_write_at(c->to, (struct str){ (const char *)c->hash, RECORD_HASH },
			   c->offset + (uint64_t)c->size) < 0)
		return -1;
	const struct record_head h = { RECORD_BLOB, change, (uint64_t)c->size + RECORD_HASH,
				       c->checksum };
	record_put_head(c->seed, &h, head);
	return store_write_at(c->to, (struct str){ head, sizeof head }, (uint32_t)at);
}

/* What could not be kept leaves a record without content, so that readers do not stop there. */
static void fill_gap(struct store *s, const struct copying *c, uint64_t change, uint64_t at)
{
	const struct record_head h = { RECORD_BLOB, change, (uint64_t)c->size + RECORD_HASH, 0 };
	char head[RECORD_HEAD];

	record_put_head(c->seed, &h, head);
	(void)store_write_at(c->to, (struct str){ head, sizeof head }, (uint32_t)at);
	store_punch(s, at, true);
}

int blobs_keep_file(struct blobs *b, struct store_part *p, int fd, int64_t size,
		    uint8_t hash[RECORD_HASH], uint64_t *at)
{
	char room[LIMIT_JOURNAL_SMALL] UNINITIALISED;
	struct copying c = {
		.from = fd, .to = -1, .size = size, .seed = store_seed(b->store), .hash = hash
	};
	struct reserved r;

	if (size <= LIMIT_JOURNAL_SMALL) {
		if (io_pread_full(fd, room, (size_t)size, 0) != size) {
			errno = ESTALE;
			return -1;
		}
		return blobs_keep(b, p, (struct str){ room, (size_t)size }, hash, at);
	}
	if (store_reserve(b->store, p, record_size((uint64_t)size + RECORD_HASH), &r) < 0)
		return -1;
	c.to = r.fd;
	c.offset = (uint32_t)r.at + RECORD_HEAD;
	const int rc = write_blob(&c, p->change, r.at);
	const int error = errno;
	if (rc < 0)
		fill_gap(b->store, &c, p->change, r.at);
	errno = error;
	if (store_release(b->store, &r, false, rc) < 0)
		return -1;
	*at = r.at;
	remember(b, p->change, hash, *at);
	return 0;
}

int blobs_copy(struct blobs *b, uint64_t at, int to)
{
	uint8_t kept[RECORD_HASH];
	struct record_head h;
	AUTO_FD fd = store_open_segment(b->store, at);
	AUTO_BUF room = { .max = LIMIT_JOURNAL_PIECE };
	char *piece = buf_room(&room, LIMIT_JOURNAL_PIECE);
	XXH128_canonical_t hash;
	XXH3_state_t sum;

	if (!piece)
		errno = ENOMEM;
	if (fd < 0 || !piece || store_read_head(b->store, fd, at, RECORD_BLOB, &h) < 0)
		return -1;
	(void)XXH3_128bits_reset_withSeed(&sum, store_seed(b->store));
	off_t from = (off_t)(uint32_t)at + RECORD_HEAD;
	for (uint64_t left = h.length < RECORD_HASH ? 0 : h.length - RECORD_HASH; left;) {
		const size_t n = left < LIMIT_JOURNAL_PIECE ? (size_t)left : LIMIT_JOURNAL_PIECE;
		if (io_pread_full(fd, piece, n, from) != (ssize_t)n) {
			errno = EBADMSG;
			return -1;
		}
		(void)XXH3_128bits_update(&sum, piece, n);
		if (io_write_all(to, (struct str){ piece, n }, IO_FOREVER) < 0)
			return -1;
		from += (off_t)n;
		left -= n;
	}
	XXH128_canonicalFromHash(&hash, XXH3_128bits_digest(&sum));
	if (io_pread_full(fd, kept, sizeof kept, from) == sizeof kept &&
	    memcmp(&hash, kept, sizeof kept) == 0)
		return 0;
	errno = EBADMSG;
	return -1;
}

int blobs_copy_file(int from, int64_t size, int to)
{
	off_t at = 0;

	while (at < size) {
		const ssize_t n = copy_file_range(from, &at, to, NULL, (size_t)(size - at), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ESTALE;
		if (n <= 0)
			return -1;
	}
	return 0;
}

static void name_of(uint64_t at, char out[32])
{
	(void)snprintf(out, 32, "%x/%x", store_segment(at), (uint32_t)at);
}

static int link_in(int links, int dir, const char *name, uint64_t at)
{
	char to[32];

	name_of(at, to);
	if (linkat(dir, name, links, to, 0) == 0)
		return 0;
	if (errno != ENOENT)
		return -1;
	char *slash = strchr(to, '/');
	*slash = '\0';
	(void)mkdirat(links, to, 0700);
	*slash = '/';
	return linkat(dir, name, links, to, 0);
}

int links_keep(struct store *s, struct store_part *p, int dir, const char *name, int64_t size,
	       uint64_t *at)
{
	const uint64_t to = store_next_link(s, p, size);

	if (!to || link_in(store_links(s), dir, name, to) < 0)
		return -1;
	store_count_link(s, to, size);
	p->linked += size;
	*at = to;
	return 0;
}

int links_stat(const struct store *s, uint64_t at, struct stat *st)
{
	char name[32];

	name_of(at, name);
	return fstatat(store_links(s), name, st, AT_SYMLINK_NOFOLLOW);
}

bool links_find(struct store *s, uint64_t ino, uint64_t *at)
{
	uint32_t segments[LIMIT_JOURNAL_SEGMENTS], number;
	const size_t n = store_segments(s, segments, LIMIT_JOURNAL_SEGMENTS);

	for (size_t i = 0; i < n; i++)
		if (home_find_inode(store_links(s), segments[i], ino, &number)) {
			*at = store_at(segments[i], number);
			return true;
		}
	return false;
}

int links_open(const struct store *s, uint64_t at)
{
	char name[32];

	name_of(at, name);
	return openat(store_links(s), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

int links_give(const struct store *s, uint64_t at, int dir, const char *name)
{
	char from[32];

	name_of(at, from);
	return linkat(store_links(s), from, dir, name, 0);
}

void links_drop(struct store *s, uint64_t at)
{
	char name[32];
	struct stat st;

	name_of(at, name);
	if (links_stat(s, at, &st) == 0 && unlinkat(store_links(s), name, 0) == 0)
		store_count_link(s, at, -st.st_size);
}

int links_move(struct store *s, uint64_t at, int dir, const char *name)
{
	char from[32];
	struct stat st;

	name_of(at, from);
	if (links_stat(s, at, &st) < 0 || renameat(store_links(s), from, dir, name) < 0)
		return -1;
	/* If both are names of one inode, rename does nothing. */
	(void)unlinkat(store_links(s), from, 0);
	store_count_link(s, at, -st.st_size);
	return 0;
}
