/* SPDX-License-Identifier: MIT */
/* jw: a JSON writer with a small stack of open containers. */

#include "base/jw.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/bytes.h"
#include "base/utf8.h"

/* How an ASCII byte is written that must be escaped; eight bytes, which are copied at once. */
static const struct {
	char text[7];
	unsigned char n;
} escapes[128] = {
/* clang-format off */
#define U(digits) { "\\u00" #digits, 6 }
	U(00), U(01), U(02), U(03), U(04), U(05), U(06), U(07),
	{ "\\b", 2 }, { "\\t", 2 }, { "\\n", 2 }, U(0b), { "\\f", 2 }, { "\\r", 2 }, U(0e), U(0f),
	U(10), U(11), U(12), U(13), U(14), U(15), U(16), U(17),
	U(18), U(19), U(1a), U(1b), U(1c), U(1d), U(1e), U(1f),
	['"'] = { "\\\"", 2 },
	['\\'] = { "\\\\", 2 },
	/* clang-format on */
};

enum {
	BLOCK = BYTES_BLOCK,
	/* The most that one step writes: every byte of a block escaped, and a copy that is a block
	   too long. */
	STEP_MAX = BLOCK * 6 + BLOCK,
};

/* Write the character at the start of `in`, which is not plain ASCII: escape or validate it.
 * Returns how many bytes of the input it took. */
static size_t special(char *to, size_t *n, struct str in)
{
	const unsigned char c = (unsigned char)in.p[0];
	size_t bad;

	if (c < 0x80) {
		memcpy(to + *n, escapes[c].text, sizeof escapes[c].text);
		*n += escapes[c].n;
		return 1;
	}
	const size_t length = utf8_next(in, &bad);
	memcpy(to + *n, length ? in.p : UTF8_REPLACEMENT, length ? length : 3);
	*n += length ? length : 3;
	return length ? length : bad;
}

/* Whether each eight bytes of the block have a special one: short lines, as `yes` writes them. */
static bool is_dense(uint64_t mask)
{
	const uint64_t ones = UINT64_MAX / 255;

	return ((mask - ones) & ~mask & ones << 7) == 0;
}

/*
 * Write one block, which another one follows in the input. Each run of plain bytes is copied as a
 * whole block, which is faster than its exact length; the next run overwrites the excess. Returns
 * how many bytes of the input were used: not a whole block if a character crosses its end.
 */
static size_t block(char *to, size_t *n, struct str in)
{
	uint64_t mask = bytes_special(in.p);
	size_t from = 0, end = *n;

	if (is_dense(mask)) {
		const size_t written = bytes_escape(to + end, in.p, mask);
		*n += written;
		if (written)
			return BLOCK;
	}
	for (; mask; mask &= mask - 1) {
		const size_t at = (size_t)__builtin_ctzll(mask);
		memcpy(to + end, in.p + from, BLOCK);
		end += at - from;
		const unsigned char c = (unsigned char)in.p[at];
		if (c >= 0x80) {
			*n = end;
			return at + special(to, n, str_from(in, at));
		}
		memcpy(to + end, &escapes[c], sizeof escapes[c]);
		end += escapes[c].n;
		from = at + 1;
	}
	memcpy(to + end, in.p + from, BLOCK);
	*n = end + BLOCK - from;
	return BLOCK;
}

/* Whether the next eight bytes are written as they are. */
static bool is_plain_word(const char *p)
{
	const uint64_t ones = UINT64_MAX / 255;
	uint64_t x;

	memcpy(&x, p, sizeof x);
	/* A byte below the subtrahend borrows; the last term is for bytes that are not ASCII. */
	return (((x - ones * ' ') | ((x ^ ones * '"') - ones) | ((x ^ ones * '\\') - ones) | x) &
		ones << 7) == 0;
}

/* Escape from the front of *in as long as there is room for another step. Returns how many bytes
 * were written. */
static size_t steps(char *to, size_t room, struct str *in)
{
	struct str s = *in;
	size_t n = 0;

	while (s.n && room - n >= STEP_MAX) {
		const unsigned char c = (unsigned char)s.p[0];
		size_t used = 1;
		if (s.n >= 2 * (size_t)BLOCK) {
			used = block(to, &n, s);
		} else if (s.n >= sizeof(uint64_t) && is_plain_word(s.p)) {
			used = sizeof(uint64_t);
			memcpy(to + n, s.p, sizeof(uint64_t));
			n += used;
		} else if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
			to[n++] = s.p[0];
		} else {
			used = special(to, &n, s);
		}
		s = (struct str){ s.p + used, s.n - used };
	}
	*in = s;
	return n;
}

void jw_escape(struct buf *out, struct str s)
{
	while (s.n && !out->failed) {
		const size_t left = out->max - out->n;
		if (left < STEP_MAX) {
			/* Near the maximum only the bytes really needed count: step aside. */
			char aside[STEP_MAX];
			buf_add(out, (struct str){ aside, steps(aside, sizeof aside, &s) });
			continue;
		}
		/* Room for the rest as it is, and for one step at its longest. */
		const size_t want = s.n + STEP_MAX;
		char *to = buf_room(out, want < left ? want : left);
		if (!to)
			return;
		buf_filled(out, steps(to, out->cap - out->n, &s));
	}
}

/* How many bytes more than one a byte takes when it is escaped. */
static size_t escape_adds(char byte)
{
	const unsigned char c = (unsigned char)byte;

	return c < 0x80 && escapes[c].n ? escapes[c].n - 1u : 0;
}

size_t jw_escaped_length(struct str s)
{
	size_t n = utf8_replaced_length(s);

	for (; s.n >= BLOCK; s = str_from(s, BLOCK))
		for (uint64_t mask = bytes_special(s.p); mask; mask &= mask - 1)
			n += escape_adds(s.p[__builtin_ctzll(mask)]);
	for (size_t i = 0; i < s.n; i++)
		n += escape_adds(s.p[i]);
	return n;
}

/* Most names are short and plain: they are written as they are looked at. */
static bool add_plain_name(struct buf *out, const char *name)
{
	enum { LONGEST = 32 };
	char *to = out->max - out->n < LONGEST + 3 ? NULL : buf_room(out, LONGEST + 3);
	size_t n = 0;

	if (!to)
		return false;
	to[0] = '"';
	for (; name[n]; n++) {
		const unsigned char c = (unsigned char)name[n];
		if (n == LONGEST || c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
			return false;
		to[1 + n] = name[n];
	}
	to[1 + n] = '"';
	to[2 + n] = ':';
	buf_filled(out, n + 3);
	return true;
}

static void begin(struct jw *w, const char *name)
{
	assert(w->depth == 0 || !(w->objects & 1) == !name);
	if (w->comma)
		buf_addc(w->out, ',');
	w->comma = true;
	if (name && !add_plain_name(w->out, name)) {
		buf_addc(w->out, '"');
		jw_escape(w->out, str_of(name));
		buf_add(w->out, STR("\":"));
	}
}

static void open_container(struct jw *w, const char *name, bool object)
{
	begin(w, name);
	assert(w->depth < 64);
	buf_addc(w->out, object ? '{' : '[');
	w->objects = w->objects << 1 | object;
	w->depth++;
	w->comma = false;
}

void jw_object(struct jw *w, const char *name)
{
	open_container(w, name, true);
}

void jw_array(struct jw *w, const char *name)
{
	open_container(w, name, false);
}

void jw_end(struct jw *w)
{
	assert(w->depth > 0);
	buf_addc(w->out, w->objects & 1 ? '}' : ']');
	w->objects >>= 1;
	w->depth--;
	w->comma = true;
}

static void write_str(struct jw *w, struct str value)
{
	buf_addc(w->out, '"');
	jw_escape(w->out, w->filter ? w->filter->apply(w->filter->arg, value) : value);
	buf_addc(w->out, '"');
}

void jw_str(struct jw *w, const char *name, struct str value)
{
	begin(w, name);
	write_str(w, value);
}

void jw_open_str(struct jw *w, const char *name)
{
	begin(w, name);
	if (w->filter)
		buf_reset(w->filter->pieces, SIZE_MAX);
	else
		buf_addc(w->out, '"');
}

void jw_piece(struct jw *w, struct str piece)
{
	/* The filter must see the whole string: a secret may lie across pieces. */
	if (w->filter)
		buf_add(w->filter->pieces, piece);
	else
		jw_escape(w->out, piece);
}

void jw_close_str(struct jw *w)
{
	if (!w->filter) {
		buf_addc(w->out, '"');
		return;
	}
	if (w->filter->pieces->failed)
		w->out->failed = true;
	else
		write_str(w, buf_str(w->filter->pieces));
}

void jw_int(struct jw *w, const char *name, int64_t value)
{
	begin(w, name);
	buf_addi(w->out, value);
}

void jw_num(struct jw *w, const char *name, double value)
{
	char text[32];

	begin(w, name);
	if (!isfinite(value)) {
		buf_add(w->out, STR("null"));
		return;
	}
	/* The fewest digits that read back as the same number; %g alone would write 10 as 1e+01. */
	int digits = fabs(value) < 1e15 && value == trunc(value) ? 15 : 1;
	do
		(void)snprintf(text, sizeof text, "%.*g", digits, value);
	while (strtod(text, NULL) != value && ++digits <= 17);
	buf_add(w->out, str_of(text));
}

void jw_bool(struct jw *w, const char *name, bool value)
{
	begin(w, name);
	buf_add(w->out, value ? STR("true") : STR("false"));
}

void jw_null(struct jw *w, const char *name)
{
	begin(w, name);
	buf_add(w->out, STR("null"));
}

void jw_raw(struct jw *w, const char *name, struct str json)
{
	begin(w, name);
	buf_add(w->out, json);
}

static void write_value(struct jw *w, const struct json *v, bool named, int depth)
{
	enum { DEEPEST = 16 };
	char room[256] UNINITIALISED;
	const char *name = NULL;

	if (named) {
		const struct str cut = str_upto(v->name, sizeof room - 1);
		if (cut.n)
			memcpy(room, cut.p, cut.n);
		room[cut.n] = '\0';
		name = room;
	}
	switch (v->type) {
	case JSON_STRING:
		jw_str(w, name, v->string);
		return;
	case JSON_BOOL:
		jw_bool(w, name, v->boolean);
		return;
	case JSON_NUMBER:
		if (v->whole)
			jw_int(w, name, v->integer);
		else
			jw_num(w, name, v->number);
		return;
	case JSON_NULL:
		jw_null(w, name);
		return;
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	open_container(w, name, v->type == JSON_OBJECT);
	for (const struct json *item = depth < DEEPEST ? v->first : NULL; item; item = item->next)
		write_value(w, item, v->type == JSON_OBJECT, depth + 1);
	jw_end(w);
}

void jw_value(struct jw *w, const struct json *value, bool named)
{
	write_value(w, value, named, 0);
}

void jw_base64(struct jw *w, const char *name, struct str bytes)
{
	const size_t length = base64_length(bytes.n);

	begin(w, name);
	char *to = buf_room(w->out, length + 2);
	if (!to)
		return;
	to[0] = to[length + 1] = '"';
	base64_encode(bytes, to + 1);
	buf_filled(w->out, length + 2);
}
