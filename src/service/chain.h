/* SPDX-License-Identifier: MIT */
/*
 * chain: lines that vouch for each other, so that none can be changed unseen.
 *
 * A line is a JSON object whose first member is its number, counted from 1, and whose last one is a
 * code over this line and the code of the line before it:
 *
 *	{"seq":41,…,"mac":"<64 hexadecimal digits>"}
 *
 * The code is HMAC-SHA-256 with a key over the previous code, as text, and everything of this line
 * before the member "mac". Without a key it is SHA-256 of the same, which shows damage but can be
 * computed by anyone. Before the first line the previous code is 64 zeros.
 *
 * Checking says by line what was changed, removed, put in, moved or cut off. It takes any bytes.
 */
#ifndef SERVICE_CHAIN_H
#define SERVICE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include "base/str.h"

/* HMAC-SHA-256 (RFC 2104) of two texts, one after the other. */
void chain_hmac(struct str key, struct str first, struct str second, uint8_t digest[SHA256_SIZE]);

/* Where a chain has come to. */
struct chain {
	struct str key; /* empty: there is none */
	int64_t seq;	/* of the last line; 0: there is none */
	char mac[SHA256_TEXT];
};

struct chain chain_begin(struct str key);

/* Add the beginning of the next line: {"seq":N */
void chain_open(const struct chain *c, struct buf *line);

/* Add its end and a newline. The chain goes on from it when chain_take is called: not before the
 * line is where it belongs. */
void chain_seal(const struct chain *c, struct buf *line);
void chain_take(struct chain *c, struct str line);

/* Go on after the last whole line of a text. False if its last line is not a line of a chain. */
bool chain_resume(struct chain *c, struct str text);

enum chain_fault {
	CHAIN_CHANGED, /* this line */
	CHAIN_MISSING, /* the lines numbered first to last, before this one */
	CHAIN_PUT_IN,  /* this line is a copy, or not one of the chain */
	CHAIN_MOVED,   /* this line is in another place */
	CHAIN_CUT,     /* this line has no end */
};

struct chain_finding {
	enum chain_fault fault;
	int64_t line; /* of the text, from 1 */
	int64_t first, last;
};

struct chain_report {
	int64_t lines, faults;
	int64_t good;	/* lines that fit the chain */
	bool continued; /* the first line goes on from a text that was not given */
};

/* Check a text that goes on from *c, which goes on after it. `found` is told of each fault, in the
 * order of the lines. With c->seq 0 the text may begin with a line that names the code it goes on
 * from, as its member "previous". TOO_BUSY if there is no memory. */
int chain_check(struct chain *c, struct str text,
		void (*found)(void *arg, const struct chain_finding *finding), void *arg,
		struct chain_report *ret, struct err *e);

#endif
