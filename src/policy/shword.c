/* SPDX-License-Identifier: MIT */
/* shword: read one shell word: its parts, array values, subscripts and patterns. */

#include "policy/shlex.h"

/* The text made so far as a word of its own; the words in the making lose it. */
static struct str finish(struct shlex *s, size_t start, struct str raw, unsigned flags)
{
	const struct str made = { s->text.p + start, s->text.n - start };
	struct str text;

	/* Every quote and expansion makes the text shorter: of equal length means equal. */
	if (made.n == raw.n && !(flags & SHELL_UNKNOWN))
		text = raw;
	else
		text = made.n ? arena_dup(s->arena, made) : STR("");
	s->text.n = start;
	if (s->text.failed || s->arena->failed)
		shlex_trouble(s, "it is too large");
	return text.p ? text : STR("");
}

/* Does the text made so far have the form NAME= or NAME+= (a subscript has left nothing)? */
static bool is_assignment(const struct shlex *s, const struct making *m)
{
	const char *p = s->text.p + m->start;
	size_t n = s->text.n - m->start;

	if (m->flags & SHELL_QUOTED || n < 2 || p[n - 1] != '=' || (p[0] >= '0' && p[0] <= '9'))
		return false;
	n--;
	if (n > 1 && p[n - 1] == '+')
		n--;
	if (p[n - 1] == ']') {
		const char *open = memchr(p, '[', n);
		n = open ? (size_t)(open - p) : n;
	}
	for (size_t i = 0; i < n; i++) {
		if (!shlex_is_name((unsigned char)p[i]))
			return false;
	}
	return n > 0;
}

/* Is the text made so far a plain NAME, so that a [ behind it opens a subscript? */
static bool is_name(const struct shlex *s, const struct making *m)
{
	for (size_t i = m->start; i < s->text.n; i++) {
		if (!shlex_is_name((unsigned char)s->text.p[i]))
			return false;
	}
	return !m->flags && s->text.n > m->start;
}

/* NAME=( … ): words over many lines, the parenthesis taken. */
static void array(struct shlex *s, struct making *m)
{
	if (!shlex_deeper(s))
		return;
	for (;;) {
		const enum token token = shlex_token(s);
		if (token == TOKEN_END || token == TOKEN_CLOSE)
			break;
		if (token == TOKEN_WORD)
			(void)shword_read(s, 0);
		else if (token == TOKEN_REDIRECT)
			s->p++;
	}
	s->depth--;
	shquote_unknown(s, m);
}

/* An extended pattern such as @(a|b), the parenthesis taken. */
static void pattern(struct shlex *s, struct making *m)
{
	const bool quoted = m->quoted;

	if (!shlex_deeper(s))
		return;
	m->quoted = false;
	shquote_balanced(s, m, '(', ')');
	m->quoted = quoted;
	shquote_unknown(s, m);
	s->depth--;
}

/* What has been met outside quotes. Only the first [ and the first = can make an assignment; to
 * look at later ones would take square time. */
struct met {
	bool brace, bracket, equals;
};

/* One byte or part outside quotes; false where the word ends. */
static bool take_part(struct shlex *s, unsigned mode, struct making *m, struct met *met)
{
	const int c = shlex_peek(s);

	if ((c == '<' || c == '>') && shlex_peek2(s) == '(') {
		s->p++;
		(void)shlex_take(s);
		shquote_commands(s, m);
		return true;
	}
	if (c == '(' && is_assignment(s, m)) {
		s->p++;
		array(s, m);
		return true;
	}
	if (shlex_is_meta(c))
		return false;
	if (c > 0 && strchr("?*+@!", c) && shlex_peek2(s) == '(' &&
	    !(c == '!' && mode & WORD_COMMAND && s->text.n == m->start)) {
		s->p++;
		(void)shlex_take(s);
		pattern(s, m);
		return true;
	}
	const bool subscript = c == '[' && !met->bracket && mode & WORD_SUBSCRIPT && is_name(s, m);
	met->brace |= c == '{';
	met->bracket |= c == '[';
	(void)shlex_take(s);
	if (c == '\'') {
		shquote_single(s, m);
	} else if (c == '"') {
		shquote_double(s, m);
	} else if (c == '`') {
		shquote_back(s, m);
	} else if (c == '$') {
		shquote_dollar(s, m);
	} else if (c == '\\') {
		m->flags |= SHELL_QUOTED;
		if (s->p < s->end)
			buf_addc(&s->text, *s->p++);
	} else if (subscript) {
		buf_addc(&s->text, '[');
		shquote_balanced(s, m, '[', ']');
		buf_addc(&s->text, ']');
	} else {
		buf_addc(&s->text, (char)c);
	}
	return true;
}

struct word shword_read(struct shlex *s, unsigned mode)
{
	const char *const from = (shlex_peek(s), s->p);
	struct making m = { .start = s->text.n };
	struct word w = { .flags = 0 };
	struct met met = { false };
	unsigned assign = 0;

	while (take_part(s, mode, &m, &met)) {
		if (!met.equals && s->text.n > m.start && s->text.p[s->text.n - 1] == '=') {
			met.equals = true;
			assign = is_assignment(s, &m) ? SHELL_ASSIGN : 0;
		}
	}
	w.raw = (struct str){ from, (size_t)(s->p - from) };
	w.flags = m.flags | assign;
	w.brace = met.brace;
	w.text = finish(s, m.start, w.raw, m.flags);
	return w;
}

struct str shword_document(struct shlex *s, struct str text)
{
	struct making m = { .start = s->text.n, .quoted = true };
	struct shlex_outer save;

	shlex_enter(s, text, &save);
	while (shlex_peek(s) >= 0)
		shquote_inner(s, &m);
	shlex_leave(s, &save);
	return finish(s, m.start, text, m.flags);
}
