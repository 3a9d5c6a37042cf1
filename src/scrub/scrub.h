/* SPDX-License-Identifier: MIT */
/*
 * scrub: secrets out of text that leaves.
 *
 * A `struct scrub` is what to look for: the well-known shapes of credentials, the values of the
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
 *	scrubber_feed(&s, piece, &out);		as often as there is something
 *	scrubber_end(&s, &out);
 *
 * Everything that is decided goes out at once. Text that may still become a secret is held back, a
 * few KB at most; so is an unfinished UTF-8 character, and no character is ever cut. Of a private
 * key the mark goes out as soon as it is known to be one, its body is swallowed.
 *
 * What is found is decided from the left, each byte belongs to one find, and a find of a definite
 * shape (a token) wins over the name it is assigned to. docs/scrubbing.md lists the shapes and what
 * is not caught.
 */
#ifndef SCRUB_SCRUB_H
#define SCRUB_SCRUB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* enum constant, kind as it stands in the mark */
#define SCRUB_KINDS(X)                                                                             \
	X(SCRUB_AWS_KEY, "aws-access-key")                                                         \
	X(SCRUB_AWS_SECRET, "aws-secret-key")                                                      \
	X(SCRUB_GOOGLE, "google-key")                                                              \
	X(SCRUB_AZURE, "azure-key")                                                                \
	X(SCRUB_GITHUB, "github-token")                                                            \
	X(SCRUB_GITLAB, "gitlab-token")                                                            \
	X(SCRUB_REGISTRY, "registry-token")                                                        \
	X(SCRUB_MODEL, "model-key")                                                                \
	X(SCRUB_SLACK, "slack-token")                                                              \
	X(SCRUB_DISCORD, "discord-token")                                                          \
	X(SCRUB_PAYMENT, "payment-key")                                                            \
	X(SCRUB_JWT, "jwt")                                                                        \
	X(SCRUB_PRIVATE_KEY, "private-key")                                                        \
	X(SCRUB_BASIC_AUTH, "basic-auth")                                                          \
	X(SCRUB_BEARER, "bearer-token")                                                            \
	X(SCRUB_ASSIGNED, "secret")                                                                \
	X(SCRUB_CONFIGURED, "configured")                                                          \
	X(SCRUB_PATTERN, "pattern") /* counted as this; the mark has the pattern's own name */

enum scrub_kind {
#define X(id, name) id,
	SCRUB_KINDS(X)
#undef X
		SCRUB_KIND_COUNT,
};

const char *scrub_kind_name(enum scrub_kind kind);

/* How many finds there were, for metrics; any thread may read and add at any time. */
struct scrub_counts {
	_Atomic uint64_t of[SCRUB_KIND_COUNT];
};

struct scrub_options {
	/* Values to be found as they are, in base64 (both alphabets, wherever they lie in the
	 * encoded text) and URL-encoded. Those shorter than LIMIT_SCRUB_SECRET_MIN are left out:
	 * they would be found everywhere. */
	const struct str *secrets;
	size_t secret_count;

	/* The operator's patterns, one a line; see scrub/pattern.h. */
	struct str patterns;
};

struct scrub;

/* Everything is copied. Fails, with a sentence that says which and why, when a pattern cannot be
 * understood or a secret is too long, and when there is no memory. */
int scrub_new(const struct scrub_options *o, struct scrub **ret, struct err *e);
void scrub_free(struct scrub *rules);

/* The text without secrets: text itself when there is none in it (nothing is copied), else what was
 * put into aside, which is emptied first. When aside failed the result is empty. counts may be
 * NULL. */
struct str scrub_text(const struct scrub *rules, struct scrub_counts *counts, struct str text,
		      struct buf *aside);

/* How much of a text that goes on can be given out now: what follows may be part of a secret that
 * its end decides. A longer one than LIMIT_SCRUB_HELD is not waited for. */
size_t scrub_decided(const struct scrub *rules, struct str text);

struct scrub_cut {
	size_t from, to;
};

/* How to cut a text in two at a place without showing half a secret: the part before ends at from,
 * the part behind begins at to. They are the ends of the secret that the place lies in, with what
 * tells that it is one, such as a name; both are the place when it lies in none, or when rules is
 * NULL. To know a secret the text needs LIMIT_SCRUB_HELD bytes on either side of the place. */
struct scrub_cut scrub_cut(const struct scrub *rules, struct str text, size_t at);

struct byteset;

/* One stream. Ready for use with rules set and the rest zero; everything below counts is its own
 * business. */
struct scrubber {
	const struct scrub *rules;
	struct scrub_counts *counts; /* may be NULL */
	struct buf held;
	const struct byteset *swallow; /* bytes that still belong to the find before; or NULL */
	size_t body_left;	       /* of a private key being swallowed; 0: none is */
	char before[2];		       /* the last two bytes that were decided, newest first */
};

/* Add to out what is decided. When memory fails, out fails: nothing passes unseen. */
void scrubber_feed(struct scrubber *s, struct str piece, struct buf *out);

/* The stream is over: decide the rest. The scrubber is ready for another stream. */
void scrubber_end(struct scrubber *s, struct buf *out);

void scrubber_done(struct scrubber *s);

/* Whether the text carries a redaction mark more often than the present one does: writing it would
 * put a mark where a secret was. */
bool scrub_mark_added(struct str text, struct str present);

#endif
