/* SPDX-License-Identifier: MIT */
/*
 * blobs: old contents in the store, each kept once.
 *
 * A blob is a record with the bytes of a file and their hash. The hashes of the newest ones are
 * remembered, so that the same content is not written again; not if it lies in the older half of
 * the store, which is removed first.
 */
#ifndef CHANGES_BLOBS_H
#define CHANGES_BLOBS_H

#include <pthread.h>

#include "base/sha256.h"
#include "changes/store.h"

struct known_blob;

/* Its fields are for this module alone. */
struct blobs {
	struct store *store;
	pthread_mutex_t lock;
	struct known_blob *known;
};

void blobs_init(struct blobs *b, struct store *s);
void blobs_done(struct blobs *b);

/* Keep bytes for that change. -1 with errno. */
int blobs_keep(struct blobs *b, uint64_t change, struct str bytes, uint8_t hash[SHA256_SIZE],
	       uint64_t *at);

/* The same for the content of a file of that size. ESTALE: it has fewer bytes now. */
int blobs_keep_file(struct blobs *b, uint64_t change, int fd, int64_t size,
		    uint8_t hash[SHA256_SIZE], uint64_t *at);

/* A blob with that content, if one is remembered. */
bool blobs_find(struct blobs *b, const uint8_t hash[SHA256_SIZE], uint64_t size, uint64_t *at);

/* Write the bytes to a file, at its position. -1 with errno: ENOENT if they are gone, EBADMSG if
 * they are damaged, of which the file may have got a part. */
int blobs_copy(struct blobs *b, uint64_t at, int to);

/* Write the first `size` bytes of a file to another, at its position. */
int blobs_copy_file(int from, int64_t size, int to);

/* The hash of the first `size` bytes of a file. -1 with errno as above. */
int blobs_hash(int fd, int64_t size, uint8_t hash[SHA256_SIZE]);

#endif
