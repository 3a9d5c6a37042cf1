/* SPDX-License-Identifier: MIT */
/*
 * results: answers as the structs of sidecar.h, each one block for sidecar_free.
 *
 * An answer that is one long text becomes the result itself: the struct is written over the
 * beginning of the body, and the text, decoded where it stands, stays or moves a few bytes up. So
 * `body` holds what `result` was parsed from, with ANSWER_SPARE bytes of room behind it, and is
 * empty afterwards; of a failure it is as before. Other results are copies.
 *
 * Every function returns NULL with *error: BAD_ANSWER, which names the member that is missing or of
 * the wrong type; or TOO_BUSY when there is no memory.
 */
#ifndef CLIENT_RESULTS_H
#define CLIENT_RESULTS_H

#include "base/buf.h"
#include "base/json.h"
#include "sidecar.h"

struct sidecar_file *result_file(struct buf *body, const struct json *result,
				 struct sidecar_error *error);
struct sidecar_change *result_change(const struct json *result, struct sidecar_error *error);
struct sidecar_names *result_names(const struct json *result, struct sidecar_error *error);

/* The text is the member of that name; a "truncation", or "details" other than ignoredMatches,
 * means that there is more. */
struct sidecar_text *result_text(struct buf *body, const struct json *result, struct str name,
				 struct sidecar_error *error);

/* At most `limit` lines of the output; more of them mean that there is more. */
struct sidecar_text *result_listing(struct buf *body, const struct json *result, int64_t limit,
				    struct sidecar_error *error);

/* A body as it is. */
struct sidecar_text *result_body(struct buf *body, struct sidecar_error *error);

/* A body as it is, and what it says. */
struct sidecar_health *result_health(struct str body, const struct json *root,
				     struct sidecar_error *error);
struct sidecar_observation *result_observation(struct buf *body, const struct json *root,
					       struct sidecar_error *error);

#endif
