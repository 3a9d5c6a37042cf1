/* SPDX-License-Identifier: MIT */
/* redraw: bytes in which a place stands for a column. */

#include "tools/redraw.h"

#include <stdint.h>

#include "base/utf8.h"
#include "tools/limits.h"

enum { TAB_STOP = 8, DELETE = 0x7f };

/* The columns of the character at p, which has *length bytes. */
static size_t measure(struct str p, size_t column, size_t *length)
{
	const unsigned char c = (unsigned char)p.p[0];
	size_t bad;

	*length = 1;
	if (c == '\t')
		return TAB_STOP - column % TAB_STOP;
	if (c < 0x80)
		return 1;
	*length = utf8_next(p, &bad);
	if (*length)
		return width_of(utf8_decode(p.p, *length));
	*length = bad;
	return 1;
}

static struct str line_from(const struct redraw *r, size_t at)
{
	return str_from(buf_str(&r->line), at);
}

/* How many characters from the start are one byte in one column. */
static size_t even(struct str text)
{
	const struct str ascii = str_upto(text, utf8_ascii(text));
	const char *const tab = ascii.n ? memchr(ascii.p, '\t', ascii.n) : NULL;

	return tab ? (size_t)(tab - ascii.p) : ascii.n;
}

/* Whether the line is even. What was added is looked at only now: most lines are never redrawn. */
static bool is_even(struct redraw *r)
{
	if (r->even < r->line.n)
		r->even += even(line_from(r, r->even));
	return r->even == r->line.n;
}

/* The column of a place in the line. */
static size_t column_of(struct redraw *r, size_t place)
{
	size_t column = 0, length;

	if (is_even(r))
		return place;
	for (size_t i = 0; i < place; i += length)
		column += measure(line_from(r, i), column, &length);
	return column;
}

size_t redraw_column(struct redraw *r)
{
	return column_of(r, r->at) + r->over;
}

/* Put the cursor on a column, which may be within a character or after the end of the line. */
static void move_to(struct redraw *r, size_t column)
{
	size_t at = 0, reached = 0, length, width;

	if (is_even(r))
		at = reached = column < r->line.n ? column : r->line.n;
	else if (column)
		for (; at < r->line.n; at += length, reached += width) {
			width = measure(line_from(r, at), reached, &length);
			/* Marks belong to the character before the cursor. */
			if (reached + width > column)
				break;
		}
	r->at = at;
	r->over = column - reached;
}

void redraw_move(struct redraw *r, size_t column)
{
	move_to(r, column);
	if (r->at < r->line.n || column <= LIMIT_SCREEN_COLUMNS)
		return;
	const size_t end = column - r->over;
	r->over = end < LIMIT_SCREEN_COLUMNS ? LIMIT_SCREEN_COLUMNS - end : 0;
}

static void clear(struct redraw *r)
{
	r->line.n = r->at = r->over = r->even = 0;
	r->erased = false;
}

/* Show the line as it stands and begin another. */
static void pass_on(struct redraw *r, struct buf *out)
{
	char *const p = r->line.p;

	for (size_t i = 0; r->erased && i < r->line.n; i++)
		p[i] = p[i] ? p[i] : ' ';
	buf_add(out, buf_str(&r->line));
	clear(r);
}

/* Replace the bytes from `at` to `to` by a text and erased columns; the cursor stays. False: the
 * line has become too long, was passed on, and the cursor is in an empty line. */
static bool splice(struct redraw *r, size_t to, struct str text, size_t erased, struct buf *out)
{
	const struct str tail = line_from(r, to);
	const size_t added = text.n + erased, dropped = to - r->at;

	if (r->line.n - dropped + added > LIMIT_SCREEN_LINE) {
		pass_on(r, out);
		return false;
	}
	if (added > dropped && !buf_room(&r->line, added - dropped))
		return false;
	char *const p = r->line.p + r->at;
	memmove(p + added, r->line.p + to, tail.n);
	if (text.n)
		memcpy(p, text.p, text.n);
	memset(p + text.n, 0, erased);
	r->line.n += added - dropped;
	r->even = r->even < r->at ? r->even : r->at;
	r->erased |= erased > 0;
	return true;
}

/* The end of the marks at a place of the line. */
static size_t skip_marks(const struct redraw *r, size_t place)
{
	size_t length;

	while (place < r->line.n && measure(line_from(r, place), 0, &length) == 0)
		place += length;
	return place;
}

/* The end of the character at a place; *width has its columns. */
static size_t skip_one(struct redraw *r, size_t place, size_t *width)
{
	const struct str rest = line_from(r, place);
	size_t length;

	*width = measure(rest, rest.p[0] == '\t' ? column_of(r, place) : 0, &length);
	return place + length;
}

/* If the cursor is inside of a wide character or a tab: erase that, so that the cursor is at the
 * beginning of a column. */
static bool break_up(struct redraw *r, struct buf *out)
{
	size_t width;

	if (r->over == 0 || r->at == r->line.n)
		return true;
	const size_t over = r->over;
	const size_t end = skip_marks(r, skip_one(r, r->at, &width));
	if (!splice(r, end, (struct str){ NULL, 0 }, width, out))
		return false;
	r->at += over;
	r->over = 0;
	return true;
}

/* Put one character where another one is. Returns 0 if the cursor has gone to an empty line. */
static size_t replace(struct redraw *r, struct str text, struct buf *out)
{
	size_t length, erased = 0, columns = 0, end, width;

	if (!break_up(r, out))
		return 0;
	const size_t needs = measure(text, 0, &length);
	if (needs == 0 && r->at == 0)
		return length; /* there is no character before it */
	for (end = r->at; end < r->line.n && columns < needs; columns += width)
		end = skip_one(r, end, &width);
	if (needs)
		end = skip_marks(r, end);
	if (columns > needs)
		erased = columns - needs;
	if (!splice(r, end, str_upto(text, length), erased, out))
		return 0;
	r->at += length;
	return length;
}

/* A tab moves the cursor; after the last character it becomes part of the line. */
static size_t tabulate(struct redraw *r)
{
	const size_t column = redraw_column(r);

	move_to(r, column - column % TAB_STOP + TAB_STOP);
	if (r->at < r->line.n || r->over == 0)
		return 1;
	r->over = 0;
	return 0;
}

/* How many bytes from the start, in whole characters, fit into `room`. */
static size_t fitting(struct str text, size_t room)
{
	size_t n = utf8_whole(str_upto(text, room)), length;

	if (n < room && n < text.n) {
		(void)measure(str_from(text, n), 0, &length);
		if (n + length <= room)
			n += length;
	}
	return n;
}

/* Add to the end of the line what fits. Returns how much was taken, 0 if the line was passed on. */
static size_t append(struct redraw *r, struct str text, struct buf *out)
{
	if (r->over && text.p[0] == '\t') {
		r->over += TAB_STOP - redraw_column(r) % TAB_STOP;
		return 1;
	}
	if (r->over) {
		const size_t over = r->over;
		r->over = 0;
		if (splice(r, r->at, (struct str){ NULL, 0 }, over, out))
			r->at = r->line.n;
		return 0;
	}
	const size_t n = fitting(text, LIMIT_SCREEN_LINE - r->line.n);
	if (n == 0) {
		pass_on(r, out);
		return 0;
	}
	buf_add(&r->line, str_upto(text, n));
	r->at = r->line.n;
	return n;
}

/* A program that redraws a line changes little of it: how many bytes are already there, in whole
 * characters, without one that a mark may follow. */
static size_t same(const struct redraw *r, struct str text)
{
	const struct str there = line_from(r, r->at);
	const size_t most = there.n < text.n ? there.n : text.n;
	size_t n = 0, length;

	/* A mark without a character before it is not written, even if it is there. */
	if (measure(text, 0, &length) == 0)
		return 0;
	while (most - n >= sizeof(uint64_t) &&
	       memcmp(there.p + n, text.p + n, sizeof(uint64_t)) == 0)
		n += sizeof(uint64_t);
	while (n < most && there.p[n] == text.p[n])
		n++;
	do {
		while (n && ((unsigned char)there.p[--n] & 0xc0) == 0x80)
			;
	} while (n && measure(str_from(there, n), 0, &length) == 0);
	return n;
}

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < DELETE;
}

/* Write ASCII over ASCII, as long as no mark follows that belongs to what is there. */
static size_t overwrite_ascii(struct redraw *r, struct str text)
{
	char *const p = r->line.p + r->at;
	const size_t left = r->line.n - r->at;
	size_t n = 0;

	while (n < text.n && n < left && is_plain((unsigned char)text.p[n]) &&
	       is_plain((unsigned char)p[n]) && (n + 1 == left || !(p[n + 1] & 0x80))) {
		p[n] = text.p[n];
		n++;
	}
	return n;
}

/* Write over what is there. Returns how much was taken. */
static size_t overwrite(struct redraw *r, struct str text, struct buf *out)
{
	size_t n = 0;

	if (text.p[0] == '\t')
		return tabulate(r);
	if (r->over == 0)
		n = overwrite_ascii(r, text);
	if (r->over == 0 && n == 0)
		n = same(r, text);
	r->at += n;
	return n ? n : replace(r, text, out);
}

/* Whole characters, without a line end. */
static void put(struct redraw *r, struct str text, struct buf *out)
{
	while (text.n && !r->line.failed) {
		const bool end = r->at == r->line.n;
		text = str_from(text, end ? append(r, text, out) : overwrite(r, text, out));
	}
}

/* The short way for nearly all text: it is complete, and goes to the end of the line, or it is
 * ASCII like the line that it is written over. */
static bool put_simple(struct redraw *r, struct str text)
{
	const size_t left = r->line.n - r->at, over = left < text.n ? left : text.n;

	if (r->cut.n || r->over || text.n == 0 || text.n > LIMIT_SCREEN_LINE - r->at ||
	    (text.p[text.n - 1] & 0x80) || (left && !(is_even(r) && even(text) == text.n)))
		return false;
	if (over)
		memcpy(r->line.p + r->at, text.p, over);
	if (text.n > over)
		buf_add(&r->line, (struct str){ text.p + over, text.n - over });
	r->at += text.n;
	return true;
}

void redraw_put(struct redraw *r, struct str text, struct buf *out)
{
	struct str part;

	r->line.max = LIMIT_SCREEN_LINE;
	if (put_simple(r, text))
		return;
	while ((part = utf8_take(&r->cut, &text)).n)
		put(r, part, out);
}

void redraw_settle(struct redraw *r, struct buf *out)
{
	put(r, utf8_rest(&r->cut), out);
}

void redraw_end(struct redraw *r, struct str end, struct buf *out)
{
	redraw_settle(r, out);
	while (r->erased && r->line.n && r->line.p[r->line.n - 1] == 0)
		r->line.n--;
	pass_on(r, out);
	buf_add(out, end);
}

void redraw_erase(struct redraw *r, enum redraw_part what, struct buf *out)
{
	const size_t column = redraw_column(r);

	if (what == REDRAW_AFTER) {
		if (break_up(r, out))
			r->line.n = r->at;
		r->even = r->even < r->line.n ? r->even : r->line.n;
		return;
	}
	const size_t first = skip_marks(r, r->at);
	if (what == REDRAW_BEFORE && first < r->line.n) {
		size_t width;
		const size_t end = skip_marks(r, skip_one(r, first, &width));
		r->at = 0;
		if (splice(r, end, (struct str){ NULL, 0 }, column - r->over + width, out))
			move_to(r, column);
		return;
	}
	clear(r);
	r->over = column;
}

bool redraw_is_empty(const struct redraw *r)
{
	return r->line.n == 0 && r->over == 0 && r->cut.n == 0;
}

void redraw_done(struct redraw *r)
{
	buf_done(&r->line);
	*r = (struct redraw){ 0 };
}
