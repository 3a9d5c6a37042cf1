/* SPDX-License-Identifier: MIT */
/* jw: a JSON writer with a small stack of open containers. */

#include "base/jw.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/utf8.h"

/* Write one byte that needs an escape; `to` has room for six. */
static size_t escape_byte(char *to, unsigned char c)
{
	static const char short_form[32] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
	};
	static const char hex[] = "0123456789abcdef";
	const char s = c < 32 ? short_form[c] : (char)c;

	to[0] = '\\';
	if (s) {
		to[1] = s;
		return 2;
	}
	memcpy(to + 1, "u00", 3);
	to[4] = hex[c >> 4];
	to[5] = hex[c & 15];
	return 6;
}

/* What one step writes at most: sixteen bytes copied, the last of which is then escaped. */
enum { STEP_MAX = 16 + 6 };

/* One special byte or character at the start of in: escape or validate it. Returns how much of the
 * input it was. */
static size_t special(char *to, size_t *n, struct str in)
{
	const unsigned char c = (unsigned char)in.p[0];
	size_t bad;

	if (c < 0x80) {
		*n += escape_byte(to + *n, c);
		return 1;
	}
	const size_t length = utf8_next(in, &bad);
	memcpy(to + *n, length ? in.p : UTF8_REPLACEMENT, length ? length : 3);
	*n += length ? length : 3;
	return length ? length : bad;
}

/* Escape from the front of *in as long as there is room for another step. Returns how much was
 * written. */
static size_t steps(char *to, size_t room, struct str *in)
{
	const struct str s = *in;
	size_t i = 0, n = 0;

	while (i < s.n && room - n >= STEP_MAX) {
		if (s.n - i >= 16) {
			/* Copy sixteen, then keep those before the first special one. */
			const uint64_t mask = bytes_special(s.p + i);
			memcpy(to + n, s.p + i, 16);
			const size_t plain = mask ? (size_t)__builtin_ctzll(mask) / BYTES_STEP : 16;
			n += plain;
			i += plain;
			if (!mask)
				continue;
		} else {
			const unsigned char c = (unsigned char)s.p[i];
			if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
				to[n++] = s.p[i++];
				continue;
			}
		}
		i += special(to, &n, str_from(s, i));
	}
	*in = str_from(s, i);
	return n;
}

void jw_escape(struct buf *out, struct str s)
{
	while (s.n && !out->failed) {
		const size_t left = out->max - out->n;
		if (left < STEP_MAX) {
			/* At the maximum only what is really needed counts: a step on the side. */
			char aside[STEP_MAX];
			buf_add(out, (struct str){ aside, steps(aside, sizeof aside, &s) });
			continue;
		}
		/* Room for the rest as it is, and for one step at its worst. */
		const size_t want = s.n + STEP_MAX;
		char *to = buf_room(out, want < left ? want : left);
		if (!to)
			return;
		buf_filled(out, steps(to, out->cap - out->n, &s));
	}
}

static void begin(struct jw *w, const char *name)
{
	if (w->comma)
		buf_addc(w->out, ',');
	w->comma = true;
	assert(w->depth == 0 || !(w->objects & 1) == !name);
	if (name) {
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

void jw_str(struct jw *w, const char *name, struct str value)
{
	if (w->filter)
		value = w->filter->apply(w->filter->arg, value);
	jw_open_str(w, name);
	jw_escape(w->out, value);
	jw_close_str(w);
}

void jw_open_str(struct jw *w, const char *name)
{
	begin(w, name);
	buf_addc(w->out, '"');
}

void jw_piece(struct jw *w, struct str piece)
{
	assert(!w->filter); /* a secret may lie across pieces: only whole strings can be filtered */
	jw_escape(w->out, piece);
}

void jw_close_str(struct jw *w)
{
	buf_addc(w->out, '"');
}

void jw_int(struct jw *w, const char *name, int64_t value)
{
	begin(w, name);
	buf_addf(w->out, "%" PRId64, value);
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

void jw_base64(struct jw *w, const char *name, struct str bytes)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = (const unsigned char *)bytes.p;
	const size_t length = (bytes.n + 2) / 3 * 4;

	begin(w, name);
	char *to = buf_room(w->out, length + 2);
	if (!to)
		return;
	*to++ = '"';
	for (size_t i = 0; i < bytes.n; i += 3, to += 4) {
		const size_t left = bytes.n - i;
		const uint32_t group = (uint32_t)in[i] << 16 |
				       (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
				       (left > 2 ? in[i + 2] : 0);
		to[0] = digit[group >> 18];
		to[1] = digit[group >> 12 & 63];
		to[2] = left > 1 ? digit[group >> 6 & 63] : '=';
		to[3] = left > 2 ? digit[group & 63] : '=';
	}
	*to = '"';
	buf_filled(w->out, length + 2);
}
