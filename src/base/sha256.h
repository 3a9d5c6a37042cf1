/* SPDX-License-Identifier: MIT */
/*
 * sha256: SHA-256 of bytes that come in pieces.
 *
 *	struct sha256 h = sha256_begin();
 *	sha256_add(&h, piece);
 *	sha256_end(&h, digest);
 *
 * On x86-64 processors with SHA instructions it takes a kilobyte in less than a microsecond.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { SHA256_SIZE = 32, SHA256_BLOCK = 64, SHA256_TEXT = 2 * SHA256_SIZE + 1 };

/* Its fields are for this module alone. */
struct sha256 {
	uint32_t state[8];
	uint64_t length; /* bytes so far */
	uint8_t block[SHA256_BLOCK];
};

struct sha256 sha256_begin(void);
void sha256_add(struct sha256 *h, struct str piece);
void sha256_end(struct sha256 *h, uint8_t digest[SHA256_SIZE]);

/* The digest of a whole text. */
void sha256_of(struct str text, uint8_t digest[SHA256_SIZE]);

/* The digest in hexadecimal, with a NUL. */
struct str sha256_text(const uint8_t digest[SHA256_SIZE], char out[SHA256_TEXT]);

/* For tests: do not use the processor's own instructions. */
void sha256_be_slow(bool slow);

#endif
