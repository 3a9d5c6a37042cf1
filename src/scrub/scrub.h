/* SPDX-License-Identifier: MIT */
/*
 * scrub: removes secrets from text that leaves the sidecar.
 *
 * A `struct scrub` says what to look for: the well-known shapes of credentials, the values of the
 * server's own secret settings, and the operator's patterns. It never changes once it is made and
 * is shared by all threads. What it finds is replaced by "[REDACTED:<kind>]".
 *
 * A whole text:
 *
 *	AUTO_BUF aside = { .max = … };
 *	struct str clean = scrub_text(rules, counts, text, &aside);
 *	if (aside.failed) …
 *
 * A stream, in pieces of any size; the result is the same as for the whole text at once:
 *
 *	CLEANUP(scrubber_done) struct scrubber s = { .rules = rules, .counts = counts };
 *	scrubber_feed(&s, piece, &out);		for each piece
 *	scrubber_end(&s, &out);
 *
 * Everything that is decided goes out at once. Text that may still become a secret is held back, a
 * few KB at most; so is an unfinished UTF-8 character, and no character is ever cut. The mark of a
 * private key goes out as soon as the key is recognised; its body is swallowed.
 *
 * Finds are decided from the left, each byte belongs to one find, and a find of a definite shape
 * (a token) wins over the name it is assigned to. docs/security.md lists the shapes and what is
 * not caught.
 */
#ifndef SCRUB_SCRUB_H
#define SCRUB_SCRUB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"
#include "scrub/kind.h"
#include "scrub/limits.h"

/* The name that the mark has. */
const char *scrub_kind_name(enum scrub_kind kind);

/* How many secrets were found, for metrics; any thread may read and add at any time. */
struct scrub_counts {
	_Atomic uint64_t of[SCRUB_KIND_COUNT];
};

struct scrub_options {
	/* Values to be found as they are, in base64 (both alphabets, anywhere in the encoded text)
	 * and URL-encoded. Those shorter than LIMIT_SCRUB_SECRET_MIN are left out: they would be
	 * found everywhere. */
	const struct str *secrets;
	size_t secret_count;

	/* The operator's patterns, one a line; see scrub/rules.c. */
	struct str patterns;
};

struct scrub;

/* Everything is copied. Fails, with a sentence that says which and why, when a pattern is invalid
 * or a secret is too long, and when there is no memory. */
int scrub_new(const struct scrub_options *o, struct scrub **ret, struct err *e);
void scrub_free(struct scrub *rules);

/* The text without secrets: text itself when it has no secret (nothing is copied), else the
 * contents of aside, which is emptied first. When aside failed the result is empty. counts may be
 * NULL. */
struct str scrub_text(const struct scrub *rules, struct scrub_counts *counts, struct str text,
		      struct buf *aside);

/* How much of an unfinished text can go out now: what follows may be part of a secret that only its
 * end decides. More than LIMIT_SCRUB_HELD bytes are not held back. */
size_t scrub_decided(const struct scrub *rules, struct str text);

struct scrub_cut {
	size_t from, to;
};

/* How to cut a text in two at a place without showing half a secret: the first part ends at from,
 * the second begins at to. They are the ends of the secret around the place, together with what
 * identifies it, such as a name; both are the place itself when it is not in a secret, or when
 * rules is NULL. To recognise a secret the text needs LIMIT_SCRUB_HELD bytes on either side. */
struct scrub_cut scrub_cut(const struct scrub *rules, struct str text, size_t at);

struct byteset;

/* What is known of a line before its "password": indentation, "declare -x", a name. */
enum { SCRUB_BEFORE = 128 };

/* One stream. Ready for use with rules set and the rest zero; everything below counts is private.
 */
struct scrubber {
	const struct scrub *rules;
	struct scrub_counts *counts; /* may be NULL */
	struct buf held;
	const struct byteset *swallow; /* bytes that still belong to the last find; or NULL */
	size_t body_left;	       /* of a private key being swallowed; 0: not in one */
	char before[SCRUB_BEFORE]; /* the last bytes that were decided; NUL where there are none */
};

/* Add to out what is decided. When memory fails, out fails: nothing goes out unseen. */
void scrubber_feed(struct scrubber *s, struct str piece, struct buf *out);

/* The stream is over: decide the rest. The scrubber is ready for another stream. */
void scrubber_end(struct scrubber *s, struct buf *out);

void scrubber_done(struct scrubber *s);

/* Whether the text has a redaction mark more often than the present text: writing it would put a
 * mark where a secret was. */
bool scrub_mark_added(struct str text, struct str present);

#endif
