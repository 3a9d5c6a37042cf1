/* SPDX-License-Identifier: MIT */
/*
 * jsonc: change one value in a text of JSON, and nothing else.
 *
 * Every function reads a text and writes a new one: what it does not change stays byte for byte.
 * Comments and commas after the last item are accepted and kept, also a byte order mark. What is
 * added looks like the text around it: its indentation, its line ends, its commas. An empty text,
 * or one with comments only, counts as {}.
 *
 * Values are given as compact JSON. Where a name occurs twice, the last one counts, as it does for
 * JavaScript. A text that is not JSON is INVALID_CONFIG; the sentence names the line.
 */
#ifndef SETUP_JSONC_H
#define SETUP_JSONC_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "setup/key_path.h"

/* The value's text; p is NULL if there is none. Without keys the value is the whole. */
int jsonc_find(struct str text, const struct key_path *at, struct str *ret, struct err *e);

/* Give the value at these keys; objects around it are made if they are missing. INVALID_CONFIG if
 * something else than an object is in the way. */
int jsonc_set(struct str text, const struct key_path *at, struct str value, struct buf *out,
	      struct err *e);

/* Remove the member; without one the text stays as it is. */
int jsonc_remove(struct str text, const struct key_path *at, struct buf *out, struct err *e);

/* The same for an item of the array at these keys: add it unless it is there, or remove it. */
int jsonc_add_item(struct str text, const struct key_path *at, struct str item, struct buf *out,
		   struct err *e);
int jsonc_remove_item(struct str text, const struct key_path *at, struct str item, struct buf *out,
		      struct err *e);

/* Whether the text of an array has that item. */
bool jsonc_has_item(struct str array, struct str item);

/* The i-th item of an array, or member of an object (then *name is its name as it is written,
 * in quotes), from 0. False after the last, or if the text is neither. */
bool jsonc_at(struct str container, size_t i, struct str *name, struct str *value);

#endif
