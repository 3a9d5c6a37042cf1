/* SPDX-License-Identifier: MIT */
/* columns: characters are counted by their width, and what a terminal would obey is replaced. */

#include "base/columns.h"

#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/utf8.h"

enum {
	COLUMNS_USUAL = 80,    /* of a terminal that does not say */
	COLUMNS_MOST = 140,    /* a longer line is hard to follow with the eye */
	COLUMNS_FOR_TIME = 60, /* a narrower terminal does without the time */
	NAME_COLUMNS = 14,     /* the longest names of tools */
	DURATION_COLUMNS = 7,
	CLOCK_COLUMNS = 10, /* with the blanks after it */
};

size_t columns_of(int fd)
{
	struct winsize w;

	if (ioctl(fd, TIOCGWINSZ, &w) < 0 || w.ws_col == 0)
		return COLUMNS_USUAL;
	return w.ws_col < COLUMNS_MOST ? w.ws_col : COLUMNS_MOST;
}

void columns_paint(struct buf *b, bool coloured, enum log_colour colour, struct str s)
{
	static const char *const codes[] = {
		[LOG_PLAIN] = "",   [LOG_DIM] = "2",	 [LOG_BOLD] = "1", [LOG_RED] = "31",
		[LOG_GREEN] = "32", [LOG_YELLOW] = "33", [LOG_CYAN] = "36"
	};
	const bool on = coloured && colour != LOG_PLAIN;

	if (on)
		buf_addf(b, "\033[%sm", codes[colour]);
	buf_add(b, s);
	if (on)
		buf_add(b, STR("\033[0m"));
}

bool columns_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f;
}

size_t columns_fit(struct buf *b, struct str s, size_t room)
{
	size_t used = 0, bad;

	for (size_t at = 0, n; at < s.n; at += n ? n : bad) {
		n = utf8_next(str_from(s, at), &bad);
		const uint32_t c = n ? utf8_decode(s.p + at, n) : 0xfffd;
		const size_t width = columns_is_control(c) ? 1 : width_of(c);
		const bool last = at + (n ? n : bad) == s.n;
		if (used + width + !last > room) {
			buf_add(b, used < room ? STR("…") : STR(""));
			used += used < room;
			break;
		}
		if (!n || columns_is_control(c))
			buf_addc(b, c < 0x20 ? ' ' : '?');
		else
			buf_add(b, (struct str){ s.p + at, n });
		used += width;
	}
	return room - used;
}

void columns_cell(struct buf *b, struct str s, size_t room)
{
	buf_addf(b, "%*s", (int)columns_fit(b, s, room), "");
}

void columns_wrap(struct buf *b, struct str text, size_t indent, size_t columns)
{
	struct str word;
	size_t at = indent;

	while (text.n) {
		(void)str_cut(text, ' ', &word, &text);
		if (columns && at > indent && at + 1 + word.n >= columns) {
			buf_addf(b, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			buf_addc(b, ' ');
			at++;
		}
		buf_add(b, word);
		at += word.n;
	}
	buf_addc(b, '\n');
}

void columns_line(struct buf *b, bool coloured, size_t columns, struct str clock,
		  const struct log_line *l)
{
	const bool timed = columns >= COLUMNS_FOR_TIME;
	const bool narrow = !timed && l->duration.n < DURATION_COLUMNS;
	const size_t took =
		narrow || l->duration.n > DURATION_COLUMNS ? l->duration.n : DURATION_COLUMNS;
	/* In the last column some terminals would begin a line. */
	const size_t fixed = (timed ? CLOCK_COLUMNS : 0) + 2 + 2 + l->outcome.n + 2 + took + 1;
	const size_t room = columns > fixed ? columns - fixed : 0;
	const size_t name = room < NAME_COLUMNS ? room : NAME_COLUMNS;

	if (timed) {
		columns_paint(b, coloured, LOG_DIM, clock);
		buf_add(b, STR("  "));
	}
	columns_cell(b, l->name, name);
	buf_add(b, STR("  "));
	columns_cell(b, l->subject, room - name);
	buf_add(b, STR("  "));
	columns_paint(b, coloured, l->colour, l->outcome);
	buf_addf(b, "  %*.*s\n", (int)took, STR_FMT(l->duration));
}

enum { ESCAPE = 0x1b, BELL = 0x07, TAB = 8 };

/* The length of the escape sequence at the start of s, which begins with ESC. One that does not end
 * takes all of s. */
static size_t sequence(struct str s)
{
	size_t i = 2;

	if (s.n < 2)
		return s.n;
	if (s.p[1] == '[') {
		while (i < s.n && !(s.p[i] >= '@' && s.p[i] <= '~'))
			i++;
		return i < s.n ? i + 1 : s.n;
	}
	/* A text for the terminal: its title, a link, a colour. */
	if (strchr("]P_^X", s.p[1])) {
		while (i < s.n && s.p[i] != BELL && s.p[i] != ESCAPE)
			i++;
		return i < s.n && s.p[i] == ESCAPE ? i + 2 < s.n ? i + 2 : s.n
		       : i < s.n		   ? i + 1
						   : s.n;
	}
	/* Intermediate bytes, then a final one. */
	for (i = 1; i < s.n && s.p[i] >= ' ' && s.p[i] <= '/'; i++)
		;
	return i < s.n ? i + 1 : s.n;
}

/* What a program has drawn over is not shown. */
static struct str last_drawn(struct str line)
{
	while (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	const char *back = line.n ? memrchr(line.p, '\r', line.n) : NULL;

	return back ? str_from(line, (size_t)(back + 1 - line.p)) : line;
}

void columns_plain(struct str line, struct buf *out)
{
	const size_t from = out->n;

	line = last_drawn(line);
	while (line.n) {
		size_t bad = 0, n = utf8_next(line, &bad);
		n = n ? n : bad;
		if (line.p[0] == ESCAPE) {
			line = str_from(line, sequence(line));
			continue;
		}
		if (out->max - out->n < TAB)
			break;
		if (line.p[0] == '\t')
			buf_addf(out, "%*s", (int)(TAB - (out->n - from) % TAB), "");
		else
			buf_add(out, str_upto(line, n));
		line = str_from(line, n);
	}
}
