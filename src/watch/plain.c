/* SPDX-License-Identifier: MIT */
/* plain: skip escape sequences as ECMA-48 writes them. */

#include "watch/plain.h"

#include <string.h>

#include "base/utf8.h"

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

void plain_line(struct str line, struct buf *out)
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
