/* SPDX-License-Identifier: MIT */
/*
 * blobs: old contents in the store.
 *
 * A blob is a record with the bytes of a file and their hash. The hashes of the newest ones are
 * remembered, so that the same content is not written twice into one segment; never into two,
 * because each goes as a whole.
 *
 * A link is the inode of a removed or replaced file, by another name in the store. That costs no
 * copy, and the inode brings everything that it is. It needs the same file system and the same
 * mount. A link counts as a name of the file, and what is written to the file is written to the
 * link.
 */
#ifndef CHANGES_BLOBS_H
#define CHANGES_BLOBS_H

#include <pthread.h>
#include <sys/stat.h>

#include "changes/store.h"

struct known_blob;

/* Its fields are for this module alone. */
struct blobs {
	struct store *store;
	pthread_mutex_t lock;
	struct known_blob *known;
	uint64_t scanned; /* the end of what was looked through last */
};

void blobs_init(struct blobs *b, struct store *s);
void blobs_done(struct blobs *b);

/* Keep bytes for a change. -1 with errno: ENOSPC if the change becomes too large. */
int blobs_keep(struct blobs *b, struct store_part *p, struct str bytes, uint8_t hash[RECORD_HASH],
	       uint64_t *at);

/* The same for the content of a file of that size. ESTALE: it has fewer bytes now. */
int blobs_keep_file(struct blobs *b, struct store_part *p, int fd, int64_t size,
		    uint8_t hash[RECORD_HASH], uint64_t *at);

/* The change does not need it after all: its bytes are given back, unless another one needs them.
 */
void blobs_drop(struct blobs *b, const uint8_t hash[RECORD_HASH], uint64_t at);

/* A blob with that content: one that is remembered, or one in that segment (0: none), all of whose
 * blobs are remembered then. */
bool blobs_find(struct blobs *b, const uint8_t hash[RECORD_HASH], uint64_t size, uint32_t segment,
		uint64_t *at);

/* Write the bytes to a file, at its position. -1 with errno: ENOENT if they are gone, EBADMSG if
 * they are damaged, of which the file may have got a part. */
int blobs_copy(struct blobs *b, uint64_t at, int to);

/* Write the first `size` bytes of a file to another, at its position. */
int blobs_copy_file(int from, int64_t size, int to);

/* The hash of the first `size` bytes of a file. -1 with errno as above. */
int blobs_hash(const struct blobs *b, int fd, int64_t size, uint8_t hash[RECORD_HASH]);

/* Give the inode another name. -1 with errno: EXDEV, ENOSPC … */
int links_keep(struct store *s, struct store_part *p, int dir, const char *name, int64_t size,
	       uint64_t *at);

/* The status of a link. -1 with errno. */
int links_stat(const struct store *s, uint64_t at, struct stat *st);

/* Any link of the inode of that number; false if there is none. It looks at all of them. */
bool links_find(struct store *s, uint64_t ino, uint64_t *at);

/* Open a link for reading, or -1 with errno. */
int links_open(const struct store *s, uint64_t at);

/* Give the inode a name in the workspace as well. -1 with errno. */
int links_give(const struct store *s, uint64_t at, int dir, const char *name);

/* Remove a link; or rename it to a name in the workspace, replacing what is there. */
void links_drop(struct store *s, uint64_t at);
int links_move(struct store *s, uint64_t at, int dir, const char *name);

#endif
