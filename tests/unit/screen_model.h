/* SPDX-License-Identifier: MIT */
/*
 * screen_model: what a terminal does with a line, the slow way: an array of cells, and the whole
 * text at once. It knows no bound for a line, and takes only UTF-8.
 */
#ifndef TESTS_SCREEN_MODEL_H
#define TESTS_SCREEN_MODEL_H

#include <stdlib.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "tools/limits.h"

enum { MODEL_COLUMNS = 1 << 16, MODEL_TEXT = 64, MODEL_EDGE = LIMIT_SCREEN_COLUMNS };

struct model_cell {
	char text[MODEL_TEXT]; /* a character and its marks */
	size_t n;	       /* 0: erased, or never written */
	size_t marks;	       /* where the marks begin */
	bool tail;	       /* it belongs to the character on its left */
};

struct model {
	struct model_cell *cells;
	size_t width, cursor;
	char orphans[MODEL_TEXT]; /* marks at the beginning of the line */
	size_t orphan_bytes;
	bool moved; /* the cursor did not come to its place by writing */
	struct buf *out;
};

static inline void model_end_line(struct model *m, const char *end)
{
	size_t width = m->width;

	while (width && m->cells[width - 1].n == 0 && !m->cells[width - 1].tail)
		width--;
	buf_add(m->out, (struct str){ m->orphans, m->orphan_bytes });
	for (size_t i = 0; i < width; i++) {
		const struct model_cell *c = &m->cells[i];
		if (!c->tail && c->marks == 0)
			buf_addc(m->out, ' ');
		if (!c->tail)
			buf_add(m->out, (struct str){ c->text, c->n });
	}
	buf_add(m->out, str_of(end));
	m->width = m->cursor = m->orphan_bytes = 0;
	m->moved = false;
}

/* Erase all of the character that a column is part of. */
static inline void model_break(struct model *m, size_t column)
{
	size_t first = column;

	if (column >= m->width)
		return;
	while (m->cells[first].tail)
		first--;
	do {
		m->cells[first] = (struct model_cell){ .n = 0 };
		first++;
	} while (first < m->width && m->cells[first].tail);
}

static inline void model_widen(struct model *m, size_t width)
{
	while (m->width < width)
		m->cells[m->width++] = (struct model_cell){ .n = 0 };
}

static inline bool model_inside(const struct model *m)
{
	return m->cursor < m->width && m->cells[m->cursor].tail;
}

static inline void model_mark(struct model *m, struct str text)
{
	if (model_inside(m))
		model_break(m, m->cursor);
	model_widen(m, m->cursor);
	if (m->cursor == 0) {
		const bool empty = m->width == 0 && m->orphan_bytes == 0;
		if ((m->moved && !empty) || m->orphan_bytes + text.n > MODEL_TEXT)
			return;
		memcpy(m->orphans + m->orphan_bytes, text.p, text.n);
		m->orphan_bytes += text.n;
		m->moved = false;
		return;
	}
	size_t at = m->cursor - 1;
	while (m->cells[at].tail)
		at--;
	struct model_cell *c = &m->cells[at];
	if (c->n + text.n > MODEL_TEXT)
		abort(); /* the caller gives no such text */
	memcpy(c->text + c->n, text.p, text.n);
	c->n += text.n;
}

static inline void model_put(struct model *m, struct str text, size_t width)
{
	if (width == 0) {
		model_mark(m, text);
		return;
	}
	if (m->cursor == 0 && m->moved)
		m->orphan_bytes = 0;
	if (model_inside(m))
		model_break(m, m->cursor);
	model_widen(m, m->cursor);
	for (size_t i = 0; i < width; i++)
		model_break(m, m->cursor + i);
	model_widen(m, m->cursor + width);
	struct model_cell *c = &m->cells[m->cursor];
	memcpy(c->text, text.p, text.n);
	c->n = c->marks = text.n;
	for (size_t i = 1; i < width; i++)
		c[i] = (struct model_cell){ .tail = true };
	m->cursor += width;
	m->moved = false;
}

static inline void model_tab(struct model *m)
{
	const size_t stop = m->cursor - m->cursor % 8 + 8;

	if (m->cursor > m->width) {
		m->cursor = stop;
	} else if (stop <= m->width) {
		m->cursor = stop;
	} else {
		/* It begins where the line ends; orphans stay. */
		m->cursor = m->width;
		m->moved = false;
		model_put(m, STR("\t"), stop - m->width);
	}
}

static inline void model_erase(struct model *m, unsigned what)
{
	if (what == 0) {
		if (model_inside(m))
			model_break(m, m->cursor);
		if (m->cursor == 0 && m->moved)
			m->orphan_bytes = 0;
		if (m->width > m->cursor)
			m->width = m->cursor;
		return;
	}
	if (what == 1 && m->cursor < m->width) {
		for (size_t i = 0; i <= m->cursor; i++)
			model_break(m, i);
	} else {
		m->width = 0;
	}
	m->orphan_bytes = 0;
	m->moved = true;
}

static inline void model_move(struct model *m, size_t column)
{
	const size_t most = m->width > MODEL_EDGE ? m->width : MODEL_EDGE;

	m->cursor = column > most ? most : column;
	m->moved = true;
}

/* The sequence after its introducer. Returns how long it is. */
static inline size_t model_csi(struct model *m, struct str s)
{
	size_t i = 0, number = 0;
	bool first = true, known = true;

	for (; i < s.n && s.p[i] >= 0x20 && s.p[i] < 0x40; i++) {
		const char c = s.p[i];
		if (c >= '0' && c <= '9' && first)
			number = number < 9999 ? number * 10 + (size_t)(c - '0') : number;
		else if (c == ';')
			first = false;
		else if (c < '0' || c > '9')
			known = false;
	}
	if (i == s.n || s.p[i] < 0x40 || s.p[i] == 0x7f)
		return i;
	const size_t n = number ? number : 1;
	const char last = known ? s.p[i] : 0;
	if (last == 'C')
		model_move(m, m->cursor + n);
	if (last == 'D')
		model_move(m, m->cursor < n ? 0 : m->cursor - n);
	if (last == 'G')
		model_move(m, n - 1);
	if (last == 'K' || last == 'J')
		model_erase(m, (unsigned)number);
	return i + 1;
}

/* What follows an ESC. Returns how long it is. */
static inline size_t model_escape(struct model *m, struct str s)
{
	size_t i = 0;

	if (s.n && s.p[0] == '[')
		return 1 + model_csi(m, str_from(s, 1));
	if (s.n && s.p[0] && strchr("]PX^_", s.p[0])) {
		for (i = 1; i < s.n; i++) {
			if (s.p[i] == 7 || s.p[i] == 0x18 || s.p[i] == 0x1a)
				return i + 1;
			if (s.p[i] == '\n' || s.p[i] == 0x1b)
				return i;
		}
		return i;
	}
	while (i < s.n && s.p[i] >= 0x20 && s.p[i] < 0x30)
		i++;
	return i + (i < s.n && s.p[i] >= 0x30 && s.p[i] < 0x7f);
}

/* What a character does that is not text. Returns how many bytes after it belong to it. */
static inline size_t model_control(struct model *m, uint32_t c, struct str after)
{
	if (c == '\n')
		model_end_line(m, "\n");
	if (c == '\t')
		model_tab(m);
	if (c == '\r')
		model_move(m, 0);
	if (c == '\b')
		model_move(m, m->cursor ? m->cursor - 1 : 0);
	if (c == 0x1b)
		return model_escape(m, after);
	return c == 0x9b ? model_csi(m, after) : 0;
}

/* Adds to out what the screen must show of a text, which is UTF-8 and shorter than a line may be.
 */
static inline void model_show(struct str text, struct buf *out)
{
	struct model m = { .cells = malloc(MODEL_COLUMNS * sizeof(struct model_cell)), .out = out };
	size_t bad;

	if (!m.cells)
		abort();
	while (text.n) {
		const size_t n = utf8_next(text, &bad);
		const uint32_t c = utf8_decode(text.p, n);
		const struct str one = str_upto(text, n);
		text = str_from(text, n);
		if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			text = str_from(text, model_control(&m, c, text));
		else
			model_put(&m, one, width_of(c));
	}
	model_end_line(&m, "");
	free(m.cells);
}

#endif
