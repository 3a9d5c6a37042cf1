/* SPDX-License-Identifier: MIT */
/* screen: one line, a cursor in it, and the few sequences that matter within a line. */

#include "tools/screen.h"

#include "base/bytes.h"
#include "base/limits.h"
#include "base/width.h"

enum { TAB_STOP = 8, NUMBER_MOST = 9999 };

enum { BACKSPACE = '\b', BELL = 7, CANCEL = 0x18, SUBSTITUTE = 0x1a, ESC = 0x1b, DELETE = 0x7f };

/* The first byte of U+0080 to U+00BF, and the second one of the CSI among them. */
enum { C1_LEAD = 0xc2, C1_CSI = 0x9b };

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

static struct str line_from(const struct screen *s, size_t at)
{
	return str_from(buf_str(&s->line), at);
}

/* How many characters from the start are one byte in one column. */
static size_t even(struct str text)
{
	const struct str ascii = str_upto(text, utf8_ascii(text));
	const char *const tab = ascii.n ? memchr(ascii.p, '\t', ascii.n) : NULL;

	return tab ? (size_t)(tab - ascii.p) : ascii.n;
}

/* Whether the line is even. What was added is looked at only now: most lines are never redrawn. */
static bool is_even(struct screen *s)
{
	if (s->even < s->line.n)
		s->even += even(line_from(s, s->even));
	return s->even == s->line.n;
}

/* The column of a place in the line. */
static size_t column_of(struct screen *s, size_t place)
{
	size_t column = 0, length;

	if (is_even(s))
		return place;
	for (size_t i = 0; i < place; i += length)
		column += measure(line_from(s, i), column, &length);
	return column;
}

static size_t cursor_column(struct screen *s)
{
	return column_of(s, s->at) + s->over;
}

/* Put the cursor on a column, which may be within a character or after the end of the line. */
static void move_to(struct screen *s, size_t column)
{
	size_t at = 0, reached = 0, length, width;

	if (is_even(s))
		at = reached = column < s->line.n ? column : s->line.n;
	else if (column)
		for (; at < s->line.n; at += length, reached += width) {
			width = measure(line_from(s, at), reached, &length);
			/* Marks belong to the character before the cursor. */
			if (reached + width > column)
				break;
		}
	s->at = at;
	s->over = column - reached;
}

/* The same for what a program asked for: far to the right there is the edge of the terminal. */
static void jump_to(struct screen *s, size_t column)
{
	move_to(s, column);
	if (s->at < s->line.n || column <= LIMIT_SCREEN_COLUMNS)
		return;
	const size_t end = column - s->over;
	s->over = end < LIMIT_SCREEN_COLUMNS ? LIMIT_SCREEN_COLUMNS - end : 0;
}

static void clear(struct screen *s)
{
	s->line.n = s->at = s->over = s->even = 0;
	s->erased = false;
}

/* Show the line as it stands and begin another. */
static void pass_on(struct screen *s, struct buf *out)
{
	char *const p = s->line.p;

	for (size_t i = 0; s->erased && i < s->line.n; i++)
		p[i] = p[i] ? p[i] : ' ';
	buf_add(out, buf_str(&s->line));
	clear(s);
}

/* Replace the bytes from `at` to `to` by a text and erased columns; the cursor stays. False: the
 * line has become too long, was passed on, and the cursor is in an empty line. */
static bool splice(struct screen *s, size_t to, struct str text, size_t erased, struct buf *out)
{
	const struct str tail = line_from(s, to);
	const size_t added = text.n + erased, dropped = to - s->at;

	if (s->line.n - dropped + added > LIMIT_SCREEN_LINE) {
		pass_on(s, out);
		return false;
	}
	if (added > dropped && !buf_room(&s->line, added - dropped))
		return false;
	char *const p = s->line.p + s->at;
	memmove(p + added, s->line.p + to, tail.n);
	if (text.n)
		memcpy(p, text.p, text.n);
	memset(p + text.n, 0, erased);
	s->line.n += added - dropped;
	s->even = s->even < s->at ? s->even : s->at;
	s->erased |= erased > 0;
	return true;
}

/* The end of the marks at a place of the line. */
static size_t skip_marks(const struct screen *s, size_t place)
{
	size_t length;

	while (place < s->line.n && measure(line_from(s, place), 0, &length) == 0)
		place += length;
	return place;
}

/* The end of the character at a place; *width has its columns. */
static size_t skip_one(struct screen *s, size_t place, size_t *width)
{
	const struct str rest = line_from(s, place);
	size_t length;

	*width = measure(rest, rest.p[0] == '\t' ? column_of(s, place) : 0, &length);
	return place + length;
}

/* If the cursor is inside of a wide character or a tab: erase that, so that the cursor is at the
 * beginning of a column. */
static bool break_up(struct screen *s, struct buf *out)
{
	size_t width;

	if (s->over == 0 || s->at == s->line.n)
		return true;
	const size_t over = s->over;
	const size_t end = skip_marks(s, skip_one(s, s->at, &width));
	if (!splice(s, end, (struct str){ NULL, 0 }, width, out))
		return false;
	s->at += over;
	s->over = 0;
	return true;
}

/* Put one character where another one is. Returns 0 if the cursor has gone to an empty line. */
static size_t replace(struct screen *s, struct str text, struct buf *out)
{
	size_t length, erased = 0, columns = 0, end, width;

	if (!break_up(s, out))
		return 0;
	const size_t needs = measure(text, 0, &length);
	if (needs == 0 && s->at == 0)
		return length; /* there is no character before it */
	for (end = s->at; end < s->line.n && columns < needs; columns += width)
		end = skip_one(s, end, &width);
	if (needs)
		end = skip_marks(s, end);
	if (columns > needs)
		erased = columns - needs;
	if (!splice(s, end, str_upto(text, length), erased, out))
		return 0;
	s->at += length;
	return length;
}

/* A tab moves the cursor; after the last character it becomes part of the line. */
static size_t tabulate(struct screen *s)
{
	const size_t column = cursor_column(s);

	move_to(s, column - column % TAB_STOP + TAB_STOP);
	if (s->at < s->line.n || s->over == 0)
		return 1;
	s->over = 0;
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
static size_t append(struct screen *s, struct str text, struct buf *out)
{
	if (s->over && text.p[0] == '\t') {
		s->over += TAB_STOP - cursor_column(s) % TAB_STOP;
		return 1;
	}
	if (s->over) {
		const size_t over = s->over;
		s->over = 0;
		if (splice(s, s->at, (struct str){ NULL, 0 }, over, out))
			s->at = s->line.n;
		return 0;
	}
	const size_t n = fitting(text, LIMIT_SCREEN_LINE - s->line.n);
	if (n == 0) {
		pass_on(s, out);
		return 0;
	}
	buf_add(&s->line, str_upto(text, n));
	s->at = s->line.n;
	return n;
}

/* A program that redraws a line changes little of it: how many bytes are already there, in whole
 * characters, without one that a mark may follow. */
static size_t same(const struct screen *s, struct str text)
{
	const struct str there = line_from(s, s->at);
	const size_t most = there.n < text.n ? there.n : text.n;
	size_t n = 0, length;

	while (n < most && there.p[n] == text.p[n])
		n++;
	do {
		while (n && ((unsigned char)there.p[--n] & 0xc0) == 0x80)
			;
	} while (n && measure(str_from(there, n), 0, &length) == 0);
	return n;
}

/* Write over what is there. Returns how much was taken. */
static size_t overwrite(struct screen *s, struct str text, struct buf *out)
{
	if (text.p[0] == '\t')
		return tabulate(s);
	size_t n = 0;
	if (is_even(s)) {
		n = even(str_upto(text, s->line.n - s->at));
		memcpy(s->line.p + s->at, text.p, n);
	} else if (s->over == 0) {
		n = same(s, text);
	}
	s->at += n;
	return n ? n : replace(s, text, out);
}

/* Whole characters, without a line end. */
static void put(struct screen *s, struct str text, struct buf *out)
{
	while (text.n && !s->line.failed) {
		const bool end = s->at == s->line.n;
		text = str_from(text, end ? append(s, text, out) : overwrite(s, text, out));
	}
}

/* Text of a line, which may end in the middle of a character. */
static void put_piece(struct screen *s, struct str text, struct buf *out)
{
	struct str part;

	/* The short way for nearly all text: it goes to the end of the line and is complete. */
	if (text.n && s->at == s->line.n && s->over == 0 && s->cut.n == 0 &&
	    text.n <= LIMIT_SCREEN_LINE - s->line.n && !(text.p[text.n - 1] & 0x80)) {
		buf_add(&s->line, text);
		s->at = s->line.n;
		return;
	}
	while ((part = utf8_take(&s->cut, &text)).n)
		put(s, part, out);
}

/* What came of a character before something else. */
static void put_cut(struct screen *s, struct buf *out)
{
	put(s, utf8_rest(&s->cut), out);
}

static void end_line(struct screen *s, struct str end, struct buf *out)
{
	put_cut(s, out);
	while (s->erased && s->line.n && s->line.p[s->line.n - 1] == 0)
		s->line.n--;
	pass_on(s, out);
	buf_add(out, end);
}

static bool at_start(const struct screen *s)
{
	return s->line.n == 0 && s->over == 0 && s->cut.n == 0 && s->state == SCREEN_TEXT;
}

/* Text with line ends: lines that begin and end in it are shown as they are. */
static void add_text(struct screen *s, struct str text, struct buf *out)
{
	const char *const first = memchr(text.p, '\n', text.n);

	if (!at_start(s) && first) {
		const size_t n = (size_t)(first - text.p);
		put_piece(s, str_upto(text, n), out);
		end_line(s, STR("\n"), out);
		text = str_from(text, n + 1);
	}
	const char *const last = first && text.n ? memrchr(text.p, '\n', text.n) : NULL;
	if (last) {
		const size_t n = (size_t)(last - text.p) + 1;
		buf_add(out, str_upto(text, n));
		text = str_from(text, n);
	}
	put_piece(s, text, out);
}

/* Erase from the cursor on (0), up to and with it (1), or everything (2). */
static void erase(struct screen *s, unsigned what, struct buf *out)
{
	const size_t column = cursor_column(s);

	if (what == 0) {
		if (break_up(s, out))
			s->line.n = s->at;
		s->even = s->even < s->line.n ? s->even : s->line.n;
		return;
	}
	const size_t first = skip_marks(s, s->at);
	if (what == 1 && first < s->line.n) {
		size_t width;
		const size_t end = skip_marks(s, skip_one(s, first, &width));
		s->at = 0;
		if (splice(s, end, (struct str){ NULL, 0 }, column - s->over + width, out))
			move_to(s, column);
		return;
	}
	clear(s);
	s->over = column;
}

/* The last byte of a control sequence says what it does. */
static void control(struct screen *s, char last, struct buf *out)
{
	const size_t n = s->number ? s->number : 1;
	const size_t column = cursor_column(s);

	if (s->foreign)
		return;
	switch (last) {
	case 'C':
		jump_to(s, column + n);
		return;
	case 'D':
		move_to(s, column < n ? 0 : column - n);
		return;
	case 'G':
		jump_to(s, n - 1);
		return;
	case 'J':
	case 'K':
		erase(s, s->number, out);
		return;
	default:
		return;
	}
}

/* A byte of a control sequence. False: it is not, and the sequence has ended before it. */
static bool take_csi(struct screen *s, unsigned char c, struct buf *out)
{
	if (c < 0x20 || c >= DELETE) {
		s->state = SCREEN_TEXT;
		return false;
	}
	if (c >= '0' && c <= '9' && !s->second && s->number < NUMBER_MOST)
		s->number = s->number * 10 + (c - '0');
	else if (c == ';')
		s->second = true;
	else if (c < '0' || (c > '9' && c < '@'))
		s->foreign = true;
	if (c < '@')
		return true;
	s->state = SCREEN_TEXT;
	control(s, (char)c, out);
	return true;
}

static void begin_csi(struct screen *s)
{
	s->state = SCREEN_CSI;
	s->number = 0;
	s->second = s->foreign = false;
}

/* A byte after ESC; false as above. */
static bool take_escape(struct screen *s, unsigned char c)
{
	const bool first = s->state == SCREEN_ESCAPE;

	s->state = SCREEN_TEXT;
	if (c < 0x20 || c >= DELETE)
		return false;
	if (c < '0')
		s->state = SCREEN_CHARSET;
	else if (first && c == '[')
		begin_csi(s);
	else if (first && strchr("]PX^_", c))
		s->state = SCREEN_STRING;
	return true;
}

/* A byte after C1_LEAD; false as above, and the lead begins another character. */
static bool take_c1(struct screen *s, unsigned char c, struct buf *out)
{
	s->state = SCREEN_TEXT;
	if ((c & 0xe0) != 0x80) {
		add_text(s, STR("\xc2"), out);
		return false;
	}
	put_cut(s, out);
	/* Other introducers are not believed: in text that was encoded twice they are half of a
	 * quotation mark, and would swallow the rest of the line. */
	if (c == C1_CSI)
		begin_csi(s);
	return true;
}

static bool take_string(struct screen *s, unsigned char c)
{
	if (c == '\n' || c == ESC || c == BELL || c == CANCEL || c == SUBSTITUTE)
		s->state = SCREEN_TEXT;
	return c != '\n' && c != ESC;
}

/* A control character in the text. */
static void take_control(struct screen *s, unsigned char c, struct buf *out)
{
	if (c == C1_LEAD) {
		s->state = SCREEN_C1;
		return;
	}
	put_cut(s, out);
	if (c == ESC)
		s->state = SCREEN_ESCAPE;
	if (c == '\r')
		s->at = s->over = 0;
	if (c == BACKSPACE) {
		const size_t column = cursor_column(s);
		move_to(s, column ? column - 1 : 0);
	}
}

/* The length of a sequence that only changes the colour, if the piece begins with one; else 0. */
static size_t colour(struct str piece)
{
	size_t i = 2;

	if (piece.n < 3 || piece.p[0] != ESC || piece.p[1] != '[')
		return 0;
	while (i < piece.n && piece.p[i] >= '0' && piece.p[i] <= ';')
		i++;
	return i < piece.n && piece.p[i] == 'm' ? i + 1 : 0;
}

/* Take some of the piece. Returns how much. */
static size_t take(struct screen *s, struct str piece, struct buf *out)
{
	const unsigned char c = (unsigned char)piece.p[0];

	switch (s->state) {
	case SCREEN_C1:
		return take_c1(s, c, out);
	case SCREEN_ESCAPE:
	case SCREEN_CHARSET:
		return take_escape(s, c);
	case SCREEN_CSI:
		return take_csi(s, c, out);
	case SCREEN_STRING:
		return take_string(s, c);
	case SCREEN_TEXT:
		break;
	}
	const size_t n = bytes_plain(piece);
	if (n) {
		add_text(s, str_upto(piece, n), out);
		return n;
	}
	const size_t whole = s->cut.n == 0 ? colour(piece) : 0;
	if (whole)
		return whole;
	take_control(s, c, out);
	return 1;
}

/* Count what is not text: NULs, and bytes that are in no character. */
static void sample(struct screen *s, struct str piece)
{
	piece = str_upto(piece, LIMIT_SCREEN_SAMPLE - s->sampled);
	s->sampled += piece.n;
	for (size_t i = 0; i < piece.n; i++) {
		const unsigned char c = (unsigned char)piece.p[i];
		const bool inner = (c & 0xc0) == 0x80;
		s->bad += inner ? s->due == 0 : c == 0 || s->due > 0;
		s->due -= inner && s->due > 0;
		if (!inner)
			s->due = c < 0xc0 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	}
}

/* What was added to aside, or nothing if that failed. */
static struct str added(const struct screen *s, struct buf *aside)
{
	aside->failed |= s->line.failed;
	return aside->failed ? (struct str){ NULL, 0 } : buf_str(aside);
}

struct str screen_feed(struct screen *s, struct str piece, struct buf *aside)
{
	buf_reset(aside, aside->cap);
	s->line.max = LIMIT_SCREEN_LINE;
	if (s->sampled < LIMIT_SCREEN_SAMPLE)
		sample(s, piece);
	if (piece.n && piece.p[piece.n - 1] == '\n' && at_start(s) && bytes_plain(piece) == piece.n)
		return piece;
	while (piece.n && !s->line.failed && !aside->failed)
		piece = str_from(piece, take(s, piece, aside));
	return added(s, aside);
}

struct str screen_end(struct screen *s, struct buf *aside)
{
	buf_reset(aside, aside->cap);
	if (s->state == SCREEN_C1)
		add_text(s, STR("\xc2"), aside);
	end_line(s, (struct str){ NULL, 0 }, aside);
	s->state = SCREEN_TEXT;
	return added(s, aside);
}

bool screen_binary(const struct screen *s)
{
	enum { FEW = 3 }; /* which a short text may have */

	return s->bad > FEW && s->bad * 10 > s->sampled * 3;
}

void screen_done(struct screen *s)
{
	buf_done(&s->line);
	*s = (struct screen){ 0 };
}
