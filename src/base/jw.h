/* SPDX-License-Identifier: MIT */
/*
 * jw: writes JSON into a buf.
 *
 * It writes commas, quotes and escapes; the caller only gives names and values. Every function
 * takes the member's name first; inside an array, and for the outermost value, it is NULL.
 *
 *	struct jw w = jw_to(&b);
 *	jw_object(&w, NULL);
 *	jw_str(&w, "path", path);
 *	jw_array(&w, "lines");
 *	jw_int(&w, NULL, 1);
 *	jw_end(&w);
 *	jw_end(&w);
 *	if (b.failed) …
 *
 * Containers nest at most 64 levels deep, fewer than json accepts: a value that a client sent is
 * passed on with jw_raw. Failure is the buf's sticky failure. Bytes that are not UTF-8 are written
 * as U+FFFD. With a filter set, every string value (not the names) passes through it; only jw_raw
 * and jw_base64 do not.
 */
#ifndef BASE_JW_H
#define BASE_JW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

struct jw_filter {
	/* Returns what to write instead of value; its bytes stay valid until the next call. */
	struct str (*apply)(void *arg, struct str value);
	void *arg;
	struct buf *pieces; /* where jw_piece collects a string, to be filtered as a whole */
};

/* Its fields are for this module alone. */
struct jw {
	struct buf *out;
	const struct jw_filter *filter; /* NULL: strings are written as they are */
	uint64_t objects;		/* one bit a level, innermost lowest: is it an object? */
	unsigned depth;
	bool comma; /* a comma comes before the next value of this level */
};

/* A writer of one value. */
static inline struct jw jw_to(struct buf *out)
{
	return (struct jw){ .out = out };
}

/* A writer of an object's members: the caller has written, or will write, its braces. */
static inline struct jw jw_members_to(struct buf *out)
{
	return (struct jw){ .out = out, .objects = 1, .depth = 1 };
}

/* From now on every string value passes through the filter, which must outlive the writer. */
static inline void jw_set_filter(struct jw *w, const struct jw_filter *filter)
{
	w->filter = filter;
}

/* Whether an object or array is still open. */
static inline bool jw_is_open(const struct jw *w)
{
	return w->depth > 0;
}

/* Whether the buf has failed, and how many bytes it has. */
static inline bool jw_failed(const struct jw *w)
{
	return w->out->failed;
}

/* The buf that is written to. */
static inline struct buf *jw_buf(const struct jw *w)
{
	return w->out;
}

static inline size_t jw_length(const struct jw *w)
{
	return w->out->n;
}

void jw_object(struct jw *w, const char *name);
void jw_array(struct jw *w, const char *name);
void jw_end(struct jw *w); /* close the innermost object or array */

void jw_str(struct jw *w, const char *name, struct str value);
void jw_int(struct jw *w, const char *name, int64_t value);
void jw_num(struct jw *w, const char *name, double value); /* not finite: null */
void jw_bool(struct jw *w, const char *name, bool value);
void jw_null(struct jw *w, const char *name);

/* A parsed value, with its own name if `named`. What is deeper than 16 levels is left out. */
void jw_value(struct jw *w, const struct json *value, bool named);

/* A value that is already JSON. */
void jw_raw(struct jw *w, const char *name, struct str json);

/* A string value given in pieces: between the other two only jw_piece may be called. A character
 * must not be split between pieces. */
void jw_open_str(struct jw *w, const char *name);
void jw_piece(struct jw *w, struct str piece);
void jw_close_str(struct jw *w);

/* Base64 of the bytes as a string value. */
void jw_base64(struct jw *w, const char *name, struct str bytes);

/* Write only the inside of a JSON string, without the quotes; and how many bytes that takes. */
void jw_escape(struct buf *out, struct str s);
size_t jw_escaped_length(struct str s);

#endif
