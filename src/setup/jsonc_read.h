/* SPDX-License-Identifier: MIT */
/*
 * jsonc_read: where things are in a text of JSON: objects and arrays with one item that was looked
 * for, and tokens. It is the reading half of jsonc.h, which says what a text may contain.
 */
#ifndef SETUP_JSONC_READ_H
#define SETUP_JSONC_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "setup/key_path.h"

enum { JSONC_NOWHERE = -1 };

struct jsonc_reader {
	struct str text;
	size_t at;
	unsigned depth;
	struct err *e;
};

/* A value, and for a member also its name. */
struct jsonc_item {
	size_t begin;	 /* of the name, or of the value in an array */
	struct str name; /* in quotes */
	struct str value;
	ptrdiff_t comma_before, comma_after; /* offsets, or JSONC_NOWHERE */
};

/* An object or array, with the item that was looked for. */
struct jsonc_container {
	size_t open, close; /* offsets of its brackets */
	size_t count;
	struct jsonc_item last, found;
	bool has_found;
};

/* What is looked for: a member's name, an item's value, or the item of that number. */
struct jsonc_wanted {
	const struct str *name, *value;
	ptrdiff_t number;
};

/* Follow the keys as far as they exist. Returns how many do, with the value of the last of them and
 * the last object that was opened; none if the value is not an object. The value's p is NULL if the
 * text has no value at all. */
int jsonc_follow(struct str text, const struct key_path *at, struct str *value,
		 struct jsonc_container *around, struct err *e);

/* Open the object or array that is a value in a text which has been read before. */
void jsonc_open(struct str text, struct str value, const struct jsonc_wanted *w,
		struct jsonc_container *ret);

/* The byte at the reader's place, or 0; and the next token: a bracket, comma, colon, string or
 * word; empty at the end. */
char jsonc_peek(const struct jsonc_reader *r);
struct str jsonc_token(struct jsonc_reader *r);

/* After a value or comma: the end of its line, if only a comment follows there, else `at`. */
size_t jsonc_after_comment(struct str text, size_t at);

/* Whether two values are the same but for white space and comments. */
bool jsonc_same(struct str one, struct str other);

#endif
