/* SPDX-License-Identifier: MIT */
/* shheredoc: find the bodies of here-documents and what is expanded in them. */

#include "policy/shlex.h"

struct heredoc {
	struct heredoc *next;
	struct str delimiter;
	struct str *input;
	bool strip_tabs;
	bool literal; /* the delimiter was quoted: nothing is expanded */
};

/* A delimiter is not expanded, only its quotes go: <<"$X" ends at $X. */
static struct str unquote(struct shlex *s, struct str raw)
{
	const size_t start = s->text.n;

	for (size_t i = 0; i < raw.n; i++) {
		const char c = raw.p[i];
		if (c == '\\' && i + 1 < raw.n)
			buf_addc(&s->text, raw.p[++i]);
		else if (c != '\'' && c != '"')
			buf_addc(&s->text, c);
	}
	const struct str made = { s->text.p + start, s->text.n - start };
	const struct str text = made.n ? arena_dup(s->arena, made) : STR("");
	s->text.n = start;
	return text;
}

void shheredoc_expect(struct shlex *s, const struct word *delimiter, bool strip_tabs,
		      struct str *input)
{
	struct heredoc *h = arena_array(s->arena, 1, sizeof *h);

	if (!h) {
		shlex_trouble(s, "it is too large");
		return;
	}
	h->literal = delimiter->flags & SHELL_QUOTED;
	h->delimiter = delimiter->text;
	if (delimiter->flags & SHELL_UNKNOWN)
		h->delimiter = h->literal ? unquote(s, delimiter->raw) : delimiter->raw;
	h->strip_tabs = strip_tabs;
	h->input = input;
	*s->last = h;
	s->last = &h->next;
}

struct line {
	struct str text;
	bool joined; /* put together from several, so not a part of the source */
};

/* The next line, its newline taken; in one that expands, backslash and newline join two. */
static struct line take_line(struct shlex *s, const struct heredoc *h)
{
	const size_t start = s->text.n;
	struct line line = { .joined = false };

	for (;;) {
		const char *from = s->p;
		const char *newline = memchr(from, '\n', (size_t)(s->end - from));
		const char *end = newline ? newline : s->end;
		const char *back = end;
		while (back > from && back[-1] == '\\')
			back--;
		const bool join = !h->literal && newline && (end - back) % 2;
		s->p = newline ? newline + 1 : s->end;
		line.text = (struct str){ from, (size_t)(end - from) - join };
		if (!join && !line.joined)
			return line;
		buf_add(&s->text, line.text);
		if (!join)
			break;
		line.joined = true;
	}
	const struct str made = { s->text.p + start, s->text.n - start };
	line.text = made.n ? arena_dup(s->arena, made) : STR("");
	s->text.n = start;
	return line;
}

/* Is this the last line? Inside $( ) bash also takes "EOF)" for it, and reads on behind the F. */
static bool is_last(struct shlex *s, const struct heredoc *h, const struct line *line)
{
	if (str_eq(line->text, h->delimiter))
		return true;
	if (!s->in_paren || !str_starts(line->text, h->delimiter) ||
	    str_index(str_from(line->text, h->delimiter.n), ')') < 0)
		return false;
	if (line->joined)
		shlex_trouble(s, "the end of a here-document is unclear");
	else
		s->p = line->text.p + h->delimiter.n;
	return true;
}

static void read_one(struct shlex *s, const struct heredoc *h)
{
	AUTO_BUF body = { .max = s->text.max };

	while (s->p < s->end) {
		struct line line = take_line(s, h);
		while (h->strip_tabs && line.text.n && line.text.p[0] == '\t')
			line.text = str_from(line.text, 1);
		if (is_last(s, h, &line))
			break;
		buf_add(&body, line.text);
		buf_addc(&body, '\n');
	}
	const struct str kept = body.n ? arena_dup(s->arena, buf_str(&body)) : STR("");
	if (body.failed || !kept.p) {
		shlex_trouble(s, "it is too large");
		return;
	}
	*h->input = h->literal ? kept : shword_document(s, kept);
}

void shheredoc_read(struct shlex *s)
{
	struct heredoc *h = s->first;

	s->first = NULL;
	s->last = &s->first;
	for (; h; h = h->next)
		read_one(s, h);
}
