/* SPDX-License-Identifier: MIT */
/* screen: the line as bytes, which are found by their columns only when it is redrawn; and the few
 * control characters and sequences that matter within a line. */

#include "tools/screen.h"

#include "base/bytes.h"
#include "base/utf8.h"
#include "tools/limits.h"

enum { NUMBER_MOST = 9999, TAB_STOP = 8 };

enum { BELL = 7, CANCEL = 0x18, SUBSTITUTE = 0x1a, ESC = 0x1b, DELETE = 0x7f };

/* The first byte of U+0080 to U+00BF, and the second one of the CSI among them. */
enum { C1_LEAD = 0xc2, C1_CSI = 0x9b };

static struct str line_from(const struct screen *s, size_t at)
{
	return str_from(buf_str(&s->line), at);
}

/* The columns of the character at the start of a text, which has *length bytes. */
static size_t measure(struct str text, size_t column, size_t *length)
{
	const unsigned char c = (unsigned char)text.p[0];
	size_t bad;

	*length = 1;
	if (c == '\t')
		return TAB_STOP - column % TAB_STOP;
	if (c < 0x80)
		return 1;
	*length = utf8_next(text, &bad);
	if (*length)
		return width_of(utf8_decode(text.p, *length));
	*length = bad;
	return 1;
}

static size_t before_tab(struct str text)
{
	const char *const tab = text.n ? memchr(text.p, '\t', text.n) : NULL;

	return tab ? (size_t)(tab - text.p) : text.n;
}

/* How many characters from the start are one byte in one column. */
static size_t even(struct str text)
{
	return before_tab(str_upto(text, utf8_ascii(text)));
}

/* The place of a column in a text that begins at the column `start`: after the character before it
 * and that one's marks. *reached is the column where the place is: the one that is looked for may be
 * inside of a character or after the end. */
static size_t find(struct str text, size_t start, size_t column, size_t *reached)
{
	size_t at = 0, length;

	*reached = start;
	while (at < text.n && column > start) {
		const size_t n = even(str_upto(str_from(text, at), column - *reached));
		at += n;
		*reached += n;
		if (at == text.n)
			break;
		const size_t width = measure(str_from(text, at), *reached, &length);
		if (*reached + width > column)
			break;
		at += length;
		*reached += width;
	}
	return at;
}

static size_t width_of_text(struct str text)
{
	size_t width;

	(void)find(text, 0, SIZE_MAX, &width);
	return width;
}

static size_t cursor(const struct screen *s)
{
	return width_of_text(str_upto(buf_str(&s->line), s->at)) + s->over;
}

/* Put the cursor on a column, which may be within a character or after the end of the line. */
static void move_to(struct screen *s, size_t column)
{
	size_t reached;

	s->at = find(buf_str(&s->line), 0, column, &reached);
	s->over = column - reached;
}

/* The same for a program that moves it. The space after the end of the line goes to the column
 * LIMIT_SCREEN_COLUMNS: there is the edge of the terminal. */
static void move(struct screen *s, size_t column)
{
	move_to(s, column);
	if (s->at < s->line.n || column <= LIMIT_SCREEN_COLUMNS)
		return;
	const size_t end = column - s->over;
	s->over = end < LIMIT_SCREEN_COLUMNS ? LIMIT_SCREEN_COLUMNS - end : 0;
}

/* Show the line as it stands and begin another. */
static void pass_on(struct screen *s, struct buf *out)
{
	char *const p = s->line.p;
	const bool erased = s->line.n && memchr(p, 0, s->line.n);

	for (size_t i = 0; erased && i < s->line.n; i++)
		p[i] = p[i] ? p[i] : ' ';
	buf_add(out, buf_str(&s->line));
	s->line.n = s->at = s->over = 0;
}

/* Replace the bytes between two places by erased columns and a text. False: the line has become
 * too long, was passed on, and the cursor is in an empty line. */
static bool splice(struct screen *s, size_t from, size_t to, size_t erased, struct str text,
		   struct buf *out)
{
	const size_t tail = s->line.n - to, n = from + erased + text.n + tail;

	if (n > LIMIT_SCREEN_LINE) {
		pass_on(s, out);
		return false;
	}
	if (n > s->line.n && !buf_room(&s->line, n - s->line.n))
		return false;
	char *const p = s->line.p + from;
	memmove(p + erased + text.n, s->line.p + to, tail);
	memset(p, 0, erased);
	memcpy(p + erased, text.p, text.n);
	s->line.n = n;
	return true;
}

/* The place `columns` columns after that of the cursor, or the end of the line. What a wide character
 * or a tab has on both sides of it is erased. False as above. */
static bool split(struct screen *s, size_t columns, size_t *place, struct buf *out)
{
	const struct str rest = line_from(s, s->at);
	/* Only tabs need to know it. */
	const size_t start = before_tab(rest) < rest.n ? cursor(s) - s->over : 0;
	size_t reached, length, after;

	const size_t n = find(rest, start, start + columns, &reached);
	*place = s->at + n;
	if (reached == start + columns || n == rest.n)
		return true;
	const size_t width = measure(str_from(rest, n), reached, &length);
	const size_t end = s->at + find(rest, start, reached + width, &after);
	if (!splice(s, *place, end, width, STR(""), out))
		return false;
	*place += start + columns - reached;
	return true;
}

static bool is_plain(char c)
{
	return c >= ' ' && !(c & 0x80);
}

/* Whether each of eight bytes is as above. A smaller one borrows from its highest bit. */
static bool are_plain(uint64_t bytes)
{
	return !((bytes | (bytes - 0x2020202020202020u)) & 0x8080808080808080u);
}

/* A program that redraws a line changes little of it: write what takes the place of as many bytes,
 * because it is there already or is ASCII over ASCII. Returns how much that is. */
static size_t write_even(struct screen *s, struct str text)
{
	const struct str there = line_from(s, s->at);
	const size_t most = there.n < text.n ? there.n : text.n;
	uint64_t a, b;
	size_t n = 0;

	for (;;) {
		for (; most - n >= sizeof a; n += sizeof a) {
			memcpy(&a, there.p + n, sizeof a);
			memcpy(&b, text.p + n, sizeof b);
			if (a != b && !(are_plain(a) && are_plain(b)))
				break;
		}
		if (n == most ||
		    (there.p[n] != text.p[n] && !(is_plain(there.p[n]) && is_plain(text.p[n]))))
			break;
		n++;
	}
	/* It ends with whole characters, and not before a mark of what was there. */
	while (n && ((n < there.n && (there.p[n] & 0x80)) ||
		     (n < text.n && ((unsigned char)text.p[n] & 0xc0) == 0x80)))
		n--;
	memcpy(s->line.p + s->at, text.p, n);
	return n;
}

/* Put one character where another one is. Returns 0 if the cursor has gone to an empty line. */
static size_t replace(struct screen *s, struct str text, struct buf *out)
{
	size_t length, from = s->at, end;
	const size_t needs = measure(text, 0, &length);

	if (s->over && !split(s, s->over, &from, out))
		return 0;
	s->at = from;
	s->over = 0;
	if (!split(s, needs, &end, out) || !splice(s, s->at, end, 0, str_upto(text, length), out))
		return 0;
	s->at += length;
	return length;
}

/* Whether a tab moved the cursor; after the last character it becomes part of the line. */
static bool tabulate(struct screen *s)
{
	const bool end = s->at == s->line.n;

	if (end && s->over == 0)
		return false;
	const size_t column = cursor(s);
	move_to(s, column - column % TAB_STOP + TAB_STOP);
	if (end || s->at < s->line.n || s->over == 0)
		return true;
	s->over = 0;
	return false;
}

/* Write over what is there. Returns how much was taken. */
static size_t overwrite(struct screen *s, struct str text, struct buf *out)
{
	size_t length, n = 0;

	/* A mark without a character before it is not written. */
	if (s->at == 0 && s->over == 0 && measure(text, 0, &length) == 0)
		return length;
	if (s->over == 0)
		n = write_even(s, text);
	s->at += n;
	return n ? n : replace(s, text, out);
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
	if (s->over) {
		const size_t over = s->over;
		s->over = 0;
		if (splice(s, s->at, s->at, over, STR(""), out))
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

/* Write whole characters, without a line end. */
static void put(struct screen *s, struct str text, struct buf *out)
{
	while (text.n && !s->line.failed) {
		if (text.p[0] == '\t' && tabulate(s))
			text = str_from(text, 1);
		else if (s->at == s->line.n)
			text = str_from(text, append(s, text, out));
		else
			text = str_from(text, overwrite(s, text, out));
	}
}

/* To be called before the cursor is moved: what has come of a character is all of it. */
static void settle(struct screen *s, struct buf *out)
{
	if (s->cut.n)
		put(s, utf8_rest(&s->cut), out);
}

/* As the numbers of CSI K and J say it: 0 erases the cursor and everything after it, 1 the cursor
 * and everything before it, any other number everything. The cursor stays. */
static void erase(struct screen *s, unsigned what, struct buf *out)
{
	const size_t column = cursor(s);
	size_t place;

	if (what == 0) {
		if (s->at == s->line.n || !split(s, s->over, &place, out))
			return;
		s->line.n = s->at = place;
		s->over = 0;
	} else if (what == 1 && column < width_of_text(buf_str(&s->line))) {
		if (split(s, s->over + 1, &place, out) &&
		    splice(s, 0, place, column + 1, STR(""), out))
			move_to(s, column);
	} else {
		s->line.n = s->at = 0;
		s->over = column;
	}
}

/* Add the line to out. */
static void end_line(struct screen *s, struct buf *out)
{
	settle(s, out);
	while (s->line.n && s->line.p[s->line.n - 1] == 0)
		s->line.n--;
	pass_on(s, out);
}

/* Text up to the end of its first line. Returns how much that is. */
static size_t add_text(struct screen *s, struct str text, struct buf *out)
{
	const char *const end = memchr(text.p, '\n', text.n);
	struct str rest = { text.p, end ? (size_t)(end - text.p) : text.n }, part;
	const size_t n = rest.n;

	s->line.max = LIMIT_SCREEN_LINE;
	/* Nearly all text ends with a whole character. */
	if (s->cut.n == 0 && n && !(text.p[n - 1] & 0x80))
		put(s, rest, out);
	else
		while ((part = utf8_take(&s->cut, &rest)).n)
			put(s, part, out);
	if (!end)
		return n;
	end_line(s, out);
	buf_addc(out, '\n');
	return n + 1;
}

/* The last byte of a control sequence says what it does. */
static void control(struct screen *s, char last, struct buf *out)
{
	const size_t n = s->number ? s->number : 1;
	const size_t column = cursor(s);

	if (s->foreign)
		return;
	if (last == 'C')
		move(s, column + n);
	else if (last == 'D')
		move(s, column < n ? 0 : column - n);
	else if (last == 'G')
		move(s, n - 1);
	else if (last == 'J' || last == 'K')
		erase(s, s->number, out);
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
		(void)add_text(s, STR("\xc2"), out);
		return false;
	}
	settle(s, out);
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
	settle(s, out);
	if (c == ESC)
		s->state = SCREEN_ESCAPE;
	if (c == '\r')
		move(s, 0);
	if (c == '\b') {
		const size_t column = cursor(s);
		move(s, column ? column - 1 : 0);
	}
}

/* The length of what a piece begins with, if that has no effect on a line: a sequence that changes
 * colours, or the carriage return before a line end. Else 0. */
static size_t without_effect(struct str piece)
{
	size_t i = 2;

	if (piece.n < 2)
		return 0;
	if (piece.p[0] == '\r')
		return piece.p[1] == '\n';
	if (piece.p[0] != ESC || piece.p[1] != '[')
		return 0;
	while (i < piece.n && piece.p[i] >= '0' && piece.p[i] <= ';')
		i++;
	return i < piece.n && piece.p[i] == 'm' ? i + 1 : 0;
}

/* Lines that nothing redraws: they need not be held. Returns how much of the piece they are. */
static size_t pass_lines(struct str piece, struct buf *out)
{
	char *const start = buf_room(out, piece.n);
	size_t whole = 0, shown = 0, n = 0, at = 0, skip = 1;

	if (!start)
		return 0;
	for (; skip; at += skip) {
		const struct str rest = { piece.p + at, piece.n - at };
		const size_t plain = bytes_plain(rest);
		const char *const end = plain ? memrchr(rest.p, '\n', plain) : NULL;
		memcpy(start + n, rest.p, plain);
		n += plain;
		at += plain;
		if (end) {
			whole = (size_t)(end - piece.p) + 1;
			shown = n - (at - whole);
		}
		skip = without_effect((struct str){ piece.p + at, piece.n - at });
	}
	/* The line after them may be redrawn. */
	buf_filled(out, shown);
	return whole;
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
	if (n)
		return add_text(s, (struct str){ piece.p, n }, out);
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

static bool at_start(const struct screen *s)
{
	return s->state == SCREEN_TEXT && s->line.n == 0 && s->over == 0 && s->cut.n == 0;
}

struct str screen_feed(struct screen *s, struct str piece, struct buf *aside)
{
	bool start = at_start(s); /* of a line */

	buf_reset(aside, aside->cap);
	if (s->sampled < LIMIT_SCREEN_SAMPLE)
		sample(s, piece);
	if (start && piece.n && piece.p[piece.n - 1] == '\n' && bytes_plain(piece) == piece.n)
		return piece;
	while (piece.n && !s->line.failed && !aside->failed) {
		const size_t passed = start ? pass_lines(piece, aside) : 0;
		piece = str_from(piece, passed);
		if (!piece.n)
			break;
		const size_t n = take(s, piece, aside);
		start = n && piece.p[n - 1] == '\n' && at_start(s);
		piece = str_from(piece, n);
	}
	return added(s, aside);
}

struct str screen_end(struct screen *s, struct buf *aside)
{
	buf_reset(aside, aside->cap);
	if (s->state == SCREEN_C1)
		(void)add_text(s, STR("\xc2"), aside);
	end_line(s, aside);
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
