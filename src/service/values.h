/* SPDX-License-Identifier: MIT */
/*
 * values: what a client sent, as JSON without secrets.
 */
#ifndef SERVICE_VALUES_H
#define SERVICE_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/jw.h"
#include "base/str.h"
#include "scrub/scrub.h"

/* For a writer of JSON: its texts lose their secrets. The owner ends `aside` with buf_done. */
struct value_cleaner {
	const struct scrub *secrets;
	struct str clean; /* a text, by its address, that is known to have no secret; or empty */
	struct buf aside;
	size_t longest; /* a longer text is cut; 0: none is */
	bool failed;	/* there was no memory: what was written must not be used */
};

/* The apply function of a jw_filter, whose arg is a value_cleaner. */
struct str value_clean(void *cleaner, struct str value);

/* Keep a small object as it is, without secrets and without writing JSON: most calls have such
 * arguments, and few of them are ever shown. False: it is not small, or has containers. The text
 * `clean`, which has no secret, is left out if it is one of the values; values_show gets it again.
 */
enum { VALUES_PACKED = 512 };
bool values_pack(const struct scrub *secrets, const struct json *value, struct str clean,
		 char room[static VALUES_PACKED], struct str *ret);

/* Write what values_pack or values_write made, as JSON. */
void values_show(struct jw *w, const char *name, struct str kept, struct str clean);

/* The value as JSON: whole, or with long texts cut, or "null" if nothing else fits. Most values are
 * short, and need only `small`; the others are in `large`, which has the limit. `clean` is as in
 * the cleaner. */
struct str values_write(const struct scrub *secrets, const struct json *value, struct str clean,
			struct buf *small, struct buf *large);

#endif
