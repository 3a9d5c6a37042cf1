/* SPDX-License-Identifier: MIT */
/* screen: the few control characters and sequences that matter within a line. */

#include "tools/screen.h"

#include "base/bytes.h"
#include "tools/limits.h"

enum { NUMBER_MOST = 9999 };

enum { BELL = 7, CANCEL = 0x18, SUBSTITUTE = 0x1a, ESC = 0x1b, DELETE = 0x7f };

/* The first byte of U+0080 to U+00BF, and the second one of the CSI among them. */
enum { C1_LEAD = 0xc2, C1_CSI = 0x9b };

/* Text up to the end of its first line. Returns how much that is. */
static size_t add_text(struct screen *s, struct str text, struct buf *out)
{
	const char *const end = memchr(text.p, '\n', text.n);
	const size_t n = end ? (size_t)(end - text.p) : text.n;

	redraw_put(&s->line, (struct str){ text.p, n }, out);
	if (!end)
		return n;
	redraw_end(&s->line, STR("\n"), out);
	return n + 1;
}

/* The last byte of a control sequence says what it does. */
static void control(struct screen *s, char last, struct buf *out)
{
	const size_t n = s->number ? s->number : 1;
	const size_t column = redraw_column(&s->line);

	if (s->foreign)
		return;
	switch (last) {
	case 'C':
		redraw_move(&s->line, column + n);
		return;
	case 'D':
		redraw_move(&s->line, column < n ? 0 : column - n);
		return;
	case 'G':
		redraw_move(&s->line, n - 1);
		return;
	case 'J':
	case 'K':
		redraw_erase(&s->line, (enum redraw_part)s->number, out);
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
		(void)add_text(s, STR("\xc2"), out);
		return false;
	}
	redraw_settle(&s->line, out);
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
	redraw_settle(&s->line, out);
	if (c == ESC)
		s->state = SCREEN_ESCAPE;
	if (c == '\r')
		redraw_move(&s->line, 0);
	if (c == '\b') {
		const size_t column = redraw_column(&s->line);
		redraw_move(&s->line, column ? column - 1 : 0);
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
	size_t n = bytes_plain(piece);
	if (n)
		return add_text(s, (struct str){ piece.p, n }, out);
	n = s->line.cut.n == 0 ? without_effect(piece) : 0;
	if (n)
		return n;
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
	aside->failed |= s->line.line.failed;
	return aside->failed ? (struct str){ NULL, 0 } : buf_str(aside);
}

static bool at_start(const struct screen *s)
{
	return s->state == SCREEN_TEXT && redraw_is_empty(&s->line);
}

struct str screen_feed(struct screen *s, struct str piece, struct buf *aside)
{
	bool start = at_start(s); /* of a line */

	buf_reset(aside, aside->cap);
	if (s->sampled < LIMIT_SCREEN_SAMPLE)
		sample(s, piece);
	if (start && piece.n && piece.p[piece.n - 1] == '\n' && bytes_plain(piece) == piece.n)
		return piece;
	while (piece.n && !s->line.line.failed && !aside->failed) {
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
	redraw_end(&s->line, (struct str){ NULL, 0 }, aside);
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
	redraw_done(&s->line);
	*s = (struct screen){ 0 };
}
