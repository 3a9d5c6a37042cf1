/* SPDX-License-Identifier: MIT */
/*
 * results: answers as the structs of sidecar.h, each of them one block for sidecar_free.
 *
 * An answer that is one long text becomes the result itself: the struct is written over the
 * beginning of the body, and the text, which was decoded in place, stays there or moves up a few
 * bytes. So `body` is what `result` was parsed from, with ANSWER_SPARE bytes of room after it; it
 * is empty afterwards, and unchanged after a failure. Other results are copies.
 *
 * Every function can fail: NULL, and *error is BAD_ANSWER with the name of the member that is
 * missing or has the wrong type, or TOO_BUSY when there is no memory.
 */
#ifndef CLIENT_RESULTS_H
#define CLIENT_RESULTS_H

#include "base/buf.h"
#include "base/json.h"
#include "sidecar.h"

struct sidecar_file *result_file(struct buf *body, const struct json *result,
				 struct sidecar_error *error);
struct sidecar_change *result_change(const struct json *result, struct sidecar_error *error);
struct sidecar_patch *result_patch(const struct json *result, struct sidecar_error *error);
struct sidecar_names *result_names(const struct json *result, struct sidecar_error *error);

/* The text is the member of that name. It is truncated if the result has a "truncation", or
 * "details" other than ignoredMatches. */
struct sidecar_text *result_text(struct buf *body, const struct json *result, struct str name,
				 struct sidecar_error *error);

/* At most `limit` lines of the output; truncated if it has more. */
struct sidecar_text *result_listing(struct buf *body, const struct json *result, int64_t limit,
				    struct sidecar_error *error);

/* The body, unchanged. */
struct sidecar_text *result_body(struct buf *body, struct sidecar_error *error);

/* The body, unchanged, and what it says. */
struct sidecar_health *result_health(struct str body, const struct json *root,
				     struct sidecar_error *error);
struct sidecar_observation *result_observation(struct buf *body, const struct json *root,
					       struct sidecar_error *error);

#endif
