/* SPDX-License-Identifier: MIT */
/* shquote: quotes, escapes, expansions and substitutions, the parts of a shell word. */

#include "policy/shlex.h"

#include "base/utf8.h"

void shquote_unknown(struct shlex *s, struct making *m)
{
	m->flags |= SHELL_UNKNOWN;
	buf_addc(&s->text, '\0');
}

/* The value of a parameter. */
static void value(struct shlex *s, struct making *m, bool home)
{
	m->flags |= SHELL_UNKNOWN;
	buf_addc(&s->text, home ? '~' : '\0');
}

/* The commands of $(, <( or >(, the parenthesis taken. */
void shquote_commands(struct shlex *s, struct making *m)
{
	struct heredoc *const first = s->first;
	struct heredoc **const last = s->last;
	const bool in_paren = s->in_paren;

	shlex_chain(s, STR("$( )"));
	shquote_unknown(s, m);
	if (!shlex_deeper(s))
		return;
	s->first = NULL;
	s->last = &s->first;
	s->in_paren = true;
	shell_list(s, LIST_PAREN);
	/* Bash reads such a body from the lines behind the one that is being read. */
	if (s->first && s->p < s->end)
		shlex_trouble(s, "a here-document in $( ) has its text outside");
	s->first = first;
	s->last = first ? last : &s->first;
	s->in_paren = in_paren;
	s->depth--;
}

/* Anything that expands in double quotes, in ${ } and in arithmetic alike; else the byte. */
void shquote_inner(struct shlex *s, struct making *m)
{
	const int c = shlex_take(s);

	if (c == '$') {
		shquote_dollar(s, m);
	} else if (c == '`') {
		shquote_back(s, m);
	} else if (c == '\\') {
		const int next = s->p < s->end ? (unsigned char)*s->p++ : '\\';
		if (next != '$' && next != '`' && next != '"' && next != '\\')
			buf_addc(&s->text, '\\');
		buf_addc(&s->text, (char)next);
	} else if (c >= 0) {
		buf_addc(&s->text, (char)c);
	}
}

/* Single quotes in "${x:-'…'}" and in arithmetic pair up but do not protect: bash runs a $( )
 * between them. */
static void weak_quoted(struct shlex *s, struct making *m)
{
	const char *close = memchr(s->p, '\'', (size_t)(s->end - s->p));
	const struct str inner = { s->p, (size_t)((close ? close : s->end) - s->p) };
	struct shlex_outer save;

	s->p = close ? close + 1 : s->end;
	shlex_enter(s, inner, &save);
	while (shlex_peek(s) >= 0)
		shquote_inner(s, m);
	shlex_leave(s, &save);
}

/* Up to the closing byte, which is taken; text read here is dropped, commands are not. */
void shquote_balanced(struct shlex *s, struct making *m, int open, int close)
{
	const size_t keep = s->text.n;
	size_t depth = 1;
	int c;

	while (depth && (c = shlex_peek(s)) >= 0) {
		if (c == '\'' || c == '"') {
			s->p++;
			c == '"' ? shquote_double(s, m) : weak_quoted(s, m);
			continue;
		}
		depth += c == open;
		depth -= c == close;
		shquote_inner(s, m);
	}
	s->text.n = keep;
}

void shquote_arithmetic(struct shlex *s)
{
	struct making m = { .quoted = true };

	shquote_balanced(s, &m, '(', ')');
	if (shlex_peek(s) == ')')
		s->p++;
	else if (s->p < s->end)
		shlex_trouble(s, "its arithmetic is unclear");
}

/* ${…}, the brace taken. */
static void parameter(struct shlex *s, struct making *m)
{
	const size_t keep = s->text.n;
	int c = shlex_peek(s);

	if (c == ' ' || c == '\t' || c == '\n' || c == '|') {
		s->p += c == '|';
		shlex_chain(s, STR("${ }"));
		if (shlex_deeper(s)) {
			shell_list(s, LIST_BRACE);
			s->depth--;
		}
		return;
	}
	while ((c = shlex_peek(s)) >= 0 && c != '}') {
		if (c == '\'' || c == '"') {
			s->p++;
			if (c == '"')
				shquote_double(s, m);
			else
				m->quoted ? weak_quoted(s, m) : shquote_single(s, m);
		} else if (!m->quoted && (c == '<' || c == '>') && shlex_peek2(s) == '(') {
			s->p++;
			(void)shlex_take(s);
			shquote_commands(s, m);
		} else {
			shquote_inner(s, m);
		}
	}
	if (c == '}')
		s->p++;
	s->text.n = keep;
}

/* The name of a plain parameter under the head is taken; is it HOME? */
static bool take_name(struct shlex *s)
{
	char name[5] = "";
	size_t n = 0;
	int c;

	while (shlex_is_name(c = shlex_peek(s))) {
		if (n < sizeof name)
			name[n] = (char)c;
		n++;
		s->p++;
		if (n == 1 && c >= '0' && c <= '9')
			break;
	}
	return n == 4 && memcmp(name, "HOME", 4) == 0;
}

/* Up to `most` digits of the base under the head. */
static uint32_t number(struct shlex *s, int base, int most)
{
	uint32_t value = 0;
	int digit;

	while (most-- > 0 && s->p < s->end && (digit = str_hex(*s->p)) >= 0 && digit < base) {
		value = value * (uint32_t)base + (uint32_t)digit;
		s->p++;
	}
	return value;
}

/* The escape of $'…' behind its backslash. */
static void ansi_escape(struct shlex *s)
{
	static const char from[] = "abeEfnrtv", to[] = "\a\b\033\033\f\n\r\t\v";
	const int c = (unsigned char)*s->p++;
	const char *simple = c ? strchr(from, c) : NULL;
	char utf8[4];

	if (simple) {
		buf_addc(&s->text, to[simple - from]);
	} else if (c >= '0' && c <= '7') {
		s->p--;
		buf_addc(&s->text, (char)number(s, 8, 3));
	} else if (c == 'x') {
		buf_addc(&s->text, (char)number(s, 16, 2));
	} else if (c == 'u' || c == 'U') {
		const size_t n = utf8_encode(number(s, 16, c == 'u' ? 4 : 8), utf8);
		buf_add(&s->text, (struct str){ utf8, n });
	} else if (c == 'c' && s->p < s->end) {
		buf_addc(&s->text, (char)(*s->p++ & 0x1f));
	} else {
		if (c != '\\' && c != '\'' && c != '"' && c != '?')
			buf_addc(&s->text, '\\');
		buf_addc(&s->text, (char)c);
	}
}

static void ansi_quoted(struct shlex *s, struct making *m)
{
	m->flags |= SHELL_QUOTED;
	while (s->p < s->end && *s->p != '\'') {
		if (*s->p == '\\' && s->end - s->p > 1) {
			s->p++;
			ansi_escape(s);
		} else {
			buf_addc(&s->text, *s->p++);
		}
	}
	if (s->p < s->end)
		s->p++;
}

/* What follows a $, which is taken. */
void shquote_dollar(struct shlex *s, struct making *m)
{
	const int c = shlex_peek(s);

	if (c == '(') {
		s->p++;
		const bool twice = shlex_peek(s) == '(';
		const char *here = s->p;
		if (twice && (s->p++, shlex_arithmetic(s)) && shlex_deeper(s)) {
			shquote_unknown(s, m);
			shquote_arithmetic(s);
			s->depth--;
			return;
		}
		if (s->trouble)
			return;
		s->p = here;
		shquote_commands(s, m);
	} else if (c == '{' && shlex_deeper(s)) {
		s->p++;
		const char *here = s->p;
		const bool home = take_name(s);
		s->p = here;
		parameter(s, m);
		value(s, m, home);
		s->depth--;
	} else if (c == '[' && shlex_deeper(s)) {
		s->p++;
		shquote_balanced(s, m, '[', ']');
		shquote_unknown(s, m);
		s->depth--;
	} else if (c == '\'' && !m->quoted) {
		s->p++;
		ansi_quoted(s, m);
	} else if (c == '"' && !m->quoted) {
		s->p++;
		shquote_double(s, m);
	} else if (shlex_is_name(c)) {
		value(s, m, take_name(s));
	} else if (c > 0 && strchr("@*#?-$!", c)) {
		s->p++;
		shquote_unknown(s, m);
	} else {
		buf_addc(&s->text, '$');
	}
}

/* `…`, the first backquote taken: what is between loses one layer of backslashes. */
void shquote_back(struct shlex *s, struct making *m)
{
	const size_t start = s->text.n;
	struct shlex_outer save;

	while (s->p < s->end && *s->p != '`') {
		if (*s->p == '\\' && s->end - s->p > 1) {
			const char next = s->p[1];
			if (next != '`' && next != '\\' && next != '$' &&
			    !(next == '"' && m->quoted))
				buf_addc(&s->text, '\\');
			buf_addc(&s->text, next);
			s->p += 2;
		} else {
			buf_addc(&s->text, *s->p++);
		}
	}
	if (s->p < s->end)
		s->p++;
	const struct str made = { s->text.p + start, s->text.n - start };
	const struct str inner = made.n ? arena_dup(s->arena, made) : STR("");
	s->text.n = start;
	shquote_unknown(s, m);
	shlex_chain(s, STR("` `"));
	if (!inner.p || !shlex_deeper(s))
		return;
	shlex_enter(s, inner, &save);
	shell_list(s, LIST_TEXT);
	shlex_leave(s, &save);
	s->depth--;
}

void shquote_single(struct shlex *s, struct making *m)
{
	const char *close = memchr(s->p, '\'', (size_t)(s->end - s->p));
	const char *end = close ? close : s->end;

	m->flags |= SHELL_QUOTED;
	buf_add(&s->text, (struct str){ s->p, (size_t)(end - s->p) });
	s->p = close ? close + 1 : s->end;
}

void shquote_double(struct shlex *s, struct making *m)
{
	const bool outer = m->quoted;
	int c;

	m->flags |= SHELL_QUOTED;
	m->quoted = true;
	while ((c = shlex_peek(s)) >= 0 && c != '"')
		shquote_inner(s, m);
	if (c == '"')
		s->p++;
	m->quoted = outer;
}
