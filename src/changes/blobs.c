/* SPDX-License-Identifier: MIT */
/* blobs: hash, look up, write; and a small table of what is there. */

#include "changes/blobs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define XXH_STATIC_LINKING_ONLY /* for the size of its state */
#include <xxhash.h>

#include "base/io.h"
#include "base/own.h"
#include "changes/limits.h"

struct known_blob {
	uint64_t key; /* the first bytes of the hash; 0: an empty place */
	uint64_t at;
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

static uint64_t key_of(const uint8_t hash[SHA256_SIZE])
{
	uint64_t key;

	memcpy(&key, hash, sizeof key);
	return key ? key : 1;
}

/* Whether the record there is a blob of that size with that hash. */
static bool is_blob(struct store *s, uint64_t at, uint64_t size, const uint8_t hash[SHA256_SIZE])
{
	char found[SHA256_SIZE];
	struct record_head h;
	AUTO_FD fd = store_open_segment(s, at);

	return fd >= 0 && store_read_head(s, fd, at, RECORD_BLOB, &h) == 0 &&
	       h.length == size + SHA256_SIZE &&
	       io_pread_full(fd, found, sizeof found,
			     (off_t)(uint32_t)at + RECORD_HEAD + (off_t)size) == sizeof found &&
	       memcmp(found, hash, sizeof found) == 0;
}

bool blobs_find(struct blobs *b, const uint8_t hash[SHA256_SIZE], uint64_t size, uint64_t *at)
{
	const uint64_t key = key_of(hash);
	uint64_t found = 0;

	(void)pthread_mutex_lock(&b->lock);
	for (size_t i = 0; b->known && i < PROBES && !found; i++) {
		const struct known_blob *k = &b->known[(key + i) % KNOWN];
		if (k->key == key)
			found = k->at;
	}
	(void)pthread_mutex_unlock(&b->lock);
	if (!found || !is_blob(b->store, found, size, hash))
		return false;
	*at = found;
	return true;
}

/* A blob with that content that will stay for a while. */
static bool recall(struct blobs *b, const uint8_t hash[SHA256_SIZE], uint64_t size, uint64_t *at)
{
	uint64_t found;

	if (!blobs_find(b, hash, size, &found) || store_segment(found) < store_middle(b->store))
		return false;
	*at = found;
	return true;
}

static void remember(struct blobs *b, const uint8_t hash[SHA256_SIZE], uint64_t at)
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
		*to = (struct known_blob){ key, at };
	(void)pthread_mutex_unlock(&b->lock);
}

int blobs_keep(struct blobs *b, uint64_t change, struct str bytes, uint8_t hash[SHA256_SIZE],
	       uint64_t *at)
{
	const uint64_t seed = store_seed(b->store);
	AUTO_BUF out = { .max = record_size(bytes.n + SHA256_SIZE) };

	sha256_of(bytes, hash);
	if (recall(b, hash, bytes.n, at))
		return 0;
	char *to = buf_room(&out, out.max);
	if (!to) {
		errno = ENOMEM;
		return -1;
	}
	memset(to + out.max - RECORD_ALIGN, 0, RECORD_ALIGN);
	if (bytes.n)
		memcpy(to + RECORD_HEAD, bytes.p, bytes.n);
	memcpy(to + RECORD_HEAD + bytes.n, hash, SHA256_SIZE);
	const struct str content = { to + RECORD_HEAD, bytes.n + SHA256_SIZE };
	const struct record_head h = { RECORD_BLOB, change, content.n,
				       record_checksum(seed, content) };
	record_put_head(seed, &h, to);
	buf_filled(&out, out.max);
	if (store_append(b->store, buf_str(&out), false, at) < 0)
		return -1;
	remember(b, hash, *at);
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
	struct sha256 h = sha256_begin();
	XXH3_state_t sum;

	if (!piece) {
		errno = ENOMEM;
		return -1;
	}
	(void)XXH3_64bits_reset_withSeed(&sum, c->seed);
	for (int64_t at = 0; at < c->size;) {
		const int64_t left = c->size - at;
		const size_t want = left < LIMIT_JOURNAL_PIECE ? (size_t)left : LIMIT_JOURNAL_PIECE;
		if (io_pread_full(c->from, piece, want, at) != (ssize_t)want) {
			errno = ESTALE;
			return -1;
		}
		sha256_add(&h, (struct str){ piece, want });
		(void)XXH3_64bits_update(&sum, piece, want);
		if (c->to >= 0 && store_write_at(c->to, (struct str){ piece, want },
						 c->offset + (uint64_t)at) < 0)
			return -1;
		at += (int64_t)want;
	}
	sha256_end(&h, c->hash);
	(void)XXH3_64bits_update(&sum, c->hash, SHA256_SIZE);
	c->checksum = XXH3_64bits_digest(&sum);
	return 0;
}

int blobs_hash(int fd, int64_t size, uint8_t hash[SHA256_SIZE])
{
	char room[LIMIT_JOURNAL_SMALL] UNINITIALISED;

	if (size <= LIMIT_JOURNAL_SMALL) {
		if (io_pread_full(fd, room, (size_t)size, 0) != size) {
			errno = ESTALE;
			return -1;
		}
		sha256_of((struct str){ room, (size_t)size }, hash);
		return 0;
	}
	struct copying c = { .from = fd, .to = -1, .size = size, .hash = hash };

	return copy_file(&c);
}

/* Bytes, hash, and the head last: until then it is not a record. */
static int write_blob(struct copying *c, uint64_t change, uint64_t at)
{
	char head[RECORD_HEAD];

	if (copy_file(c) < 0 ||
	    store_write_at(c->to, (struct str){ (const char *)c->hash, SHA256_SIZE },
			   c->offset + (uint64_t)c->size) < 0)
		return -1;
	const struct record_head h = { RECORD_BLOB, change, (uint64_t)c->size + SHA256_SIZE,
				       c->checksum };
	record_put_head(c->seed, &h, head);
	return store_write_at(c->to, (struct str){ head, sizeof head }, (uint32_t)at);
}

int blobs_keep_file(struct blobs *b, uint64_t change, int fd, int64_t size,
		    uint8_t hash[SHA256_SIZE], uint64_t *at)
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
		return blobs_keep(b, change, (struct str){ room, (size_t)size }, hash, at);
	}
	if (copy_file(&c) < 0)
		return -1;
	if (recall(b, hash, (uint64_t)size, at))
		return 0;
	if (store_reserve(b->store, record_size((uint64_t)size + SHA256_SIZE), &r) < 0)
		return -1;
	c.to = r.fd;
	c.offset = (uint32_t)r.at + RECORD_HEAD;
	if (store_release(b->store, &r, false, write_blob(&c, change, r.at)) < 0)
		return -1;
	*at = r.at;
	remember(b, hash, *at);
	return 0;
}

int blobs_copy(struct blobs *b, uint64_t at, int to)
{
	uint8_t hash[SHA256_SIZE], kept[SHA256_SIZE];
	struct record_head h;
	AUTO_FD fd = store_open_segment(b->store, at);
	AUTO_BUF room = { .max = LIMIT_JOURNAL_PIECE };
	char *piece = buf_room(&room, LIMIT_JOURNAL_PIECE);
	struct sha256 sum = sha256_begin();

	if (!piece)
		errno = ENOMEM;
	if (fd < 0 || !piece || store_read_head(b->store, fd, at, RECORD_BLOB, &h) < 0)
		return -1;
	off_t from = (off_t)(uint32_t)at + RECORD_HEAD;
	for (uint64_t left = h.length < SHA256_SIZE ? 0 : h.length - SHA256_SIZE; left;) {
		const size_t n = left < LIMIT_JOURNAL_PIECE ? (size_t)left : LIMIT_JOURNAL_PIECE;
		if (io_pread_full(fd, piece, n, from) != (ssize_t)n) {
			errno = EBADMSG;
			return -1;
		}
		sha256_add(&sum, (struct str){ piece, n });
		if (io_write_all(to, (struct str){ piece, n }, IO_FOREVER) < 0)
			return -1;
		from += (off_t)n;
		left -= n;
	}
	sha256_end(&sum, hash);
	if (io_pread_full(fd, kept, sizeof kept, from) == sizeof kept &&
	    memcmp(hash, kept, sizeof kept) == 0)
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
