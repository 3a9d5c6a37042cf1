/* SPDX-License-Identifier: MIT */
/* shlex: move over shell text: bytes, blanks, comments, operators. */

#include "policy/limits.h"
#include "policy/shlex.h"

static void skip_continuations(struct shlex *s)
{
	while (!s->literal && s->end - s->p >= 2 && s->p[0] == '\\' && s->p[1] == '\n')
		s->p += 2;
}

int shlex_peek(struct shlex *s)
{
	skip_continuations(s);
	return s->p < s->end ? (unsigned char)*s->p : -1;
}

int shlex_take(struct shlex *s)
{
	const int c = shlex_peek(s);

	if (c >= 0)
		s->p++;
	return c;
}

int shlex_peek2(struct shlex *s)
{
	if (shlex_peek(s) < 0)
		return -1;
	const char *here = s->p++;
	const int c = shlex_peek(s);
	s->p = here;
	return c;
}

bool shlex_is_meta(int c)
{
	return c < 0 || (c != 0 && strchr(" \t\n;&|<>()", c));
}

bool shlex_is_name(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

void shlex_give_up(struct shlex *s, const char *why)
{
	if (!s->trouble)
		s->trouble = why;
	s->p = s->end;
}

void shlex_chain(struct shlex *s, struct str what)
{
	if (!s->chain.n)
		s->chain = what;
}

struct str shlex_finish(struct shlex *s, size_t start)
{
	const struct str made = str_from(buf_str(&s->text), start);
	const struct str kept = made.n ? arena_dup(s->arena, made) : STR("");

	s->text.n = start;
	return kept.p ? kept : STR("");
}

bool shlex_deeper(struct shlex *s)
{
	if (s->depth >= LIMIT_SHELL_DEPTH) {
		shlex_give_up(s, "it is nested too deeply");
		return false;
	}
	s->depth++;
	return true;
}

void shlex_enter(struct shlex *s, struct str inner, struct shlex_outer *save)
{
	*save = (struct shlex_outer){ s->p, s->end, s->first, s->last, s->in_paren };
	s->p = inner.p;
	s->end = inner.p + inner.n;
	s->first = NULL;
	s->last = &s->first;
	s->in_paren = false;
}

void shlex_leave(struct shlex *s, const struct shlex_outer *save)
{
	s->p = s->trouble ? save->end : save->p;
	s->end = save->end;
	s->first = save->first;
	s->last = save->first ? save->last : &s->first;
	s->in_paren = save->in_paren;
}

static void skip_blanks(struct shlex *s)
{
	int c;

	while ((c = shlex_peek(s)) == ' ' || c == '\t')
		s->p++;
	if (c != '#')
		return;
	const char *newline = memchr(s->p, '\n', (size_t)(s->end - s->p));
	s->p = newline ? newline : s->end;
}

/* Move over the operator at the position. */
static enum token take_operator(struct shlex *s)
{
	const int c = shlex_take(s);
	const int then = shlex_peek(s);

	switch (c) {
	case '\n':
		return TOKEN_NEWLINE;
	case '(':
		return TOKEN_OPEN;
	case ')':
		return TOKEN_CLOSE;
	case ';':
		if (then != ';' && then != '&')
			return TOKEN_SEMI;
		s->p++;
		if (then == ';' && shlex_peek(s) == '&')
			s->p++;
		return TOKEN_DSEMI;
	case '&':
		if (then != '&')
			return TOKEN_AMP;
		s->p++;
		return TOKEN_AND_OR;
	default: /* | */
		if (then != '|' && then != '&')
			return TOKEN_PIPE;
		s->p++;
		return then == '|' ? TOKEN_AND_OR : TOKEN_PIPE;
	}
}

enum token shlex_token(struct shlex *s)
{
	skip_blanks(s);
	const int c = shlex_peek(s);
	const int then = shlex_peek2(s);

	s->token = s->p;
	if (c < 0)
		return TOKEN_END;
	if (!shlex_is_meta(c))
		return TOKEN_WORD;
	if (c == '<' || c == '>')
		return then == '(' ? TOKEN_WORD : TOKEN_REDIRECT;
	if (c == '&' && then == '>')
		return TOKEN_REDIRECT;
	return take_operator(s);
}

enum token shlex_peek_token(struct shlex *s)
{
	skip_blanks(s);
	const char *here = s->p;
	const enum token token = shlex_token(s);

	s->p = here;
	return token;
}

bool shlex_accept(struct shlex *s, struct str bytes)
{
	const char *here = s->p;

	for (size_t i = 0; i < bytes.n; i++) {
		if (shlex_take(s) != (unsigned char)bytes.p[i]) {
			s->p = here;
			return false;
		}
	}
	return true;
}

bool shlex_accept_keyword(struct shlex *s, struct str keyword)
{
	skip_blanks(s);
	const char *here = s->p;

	if (shlex_accept(s, keyword) && shlex_is_meta(shlex_peek(s)))
		return true;
	s->p = here;
	return false;
}

/* Move over a quoted part, after its opening quote. */
static void skip_quoted(struct shlex *s, int quote)
{
	while (s->p < s->end) {
		const int c = quote == '\'' ? (unsigned char)*s->p++ : shlex_take(s);
		if (c == quote)
			return;
		if (c == '\\' && quote != '\'' && s->p < s->end)
			s->p++;
	}
}

bool shlex_is_arithmetic(struct shlex *s)
{
	const char *here = s->p;
	size_t open = 1;
	int c;

	while (open && (c = shlex_take(s)) >= 0) {
		if (c == '(')
			open++;
		else if (c == ')')
			open--;
		else if (c == '\\' && s->p < s->end)
			s->p++;
		else if (c == '\'' || c == '"' || c == '`')
			skip_quoted(s, c);
	}
	const bool yes = !open && shlex_peek(s) == ')';
	s->p = here;
	return yes;
}
