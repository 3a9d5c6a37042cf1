/* SPDX-License-Identifier: MIT */
/* shword: read one word: its quotes, expansions and substitutions, array values and patterns. */

#include "policy/shlex.h"

#include "base/utf8.h"

/* A word that is being read: its text is what s->text holds from `start`. */
struct making {
	size_t start;
	unsigned flags; /* SHELL_… */
	bool quoted;	/* inside double quotes, or where text is read as if it were */
};

static void dollar(struct shlex *s, struct making *m);
static void backquoted(struct shlex *s, struct making *m);
static void double_quoted(struct shlex *s, struct making *m);

/* A part that is only known at run time. */
static void unknown(struct shlex *s, struct making *m)
{
	m->flags |= SHELL_UNKNOWN;
	buf_addc(&s->text, '\0');
}

/* The value of a parameter; only that of HOME is known well enough. */
static void value(struct shlex *s, struct making *m, bool home)
{
	m->flags |= SHELL_UNKNOWN;
	buf_addc(&s->text, home ? '~' : '\0');
}

/* The commands of $( <( or >(, after the parenthesis. */
static void commands(struct shlex *s, struct making *m)
{
	struct heredoc *const first = s->first;
	struct heredoc **const last = s->last;
	const bool in_paren = s->in_paren;

	shlex_chain(s, STR("$( )"));
	unknown(s, m);
	if (!shlex_deeper(s))
		return;
	s->first = NULL;
	s->last = &s->first;
	s->in_paren = true;
	(void)s->read_list(s, LIST_PAREN);
	/* Bash reads such a body from the lines after the one that is being read. */
	if (s->first && s->p < s->end)
		shlex_give_up(s, "a here-document in $( ) has its text outside");
	s->first = first;
	s->last = first ? last : &s->first;
	s->in_paren = in_paren;
	s->depth--;
}

static void single_quoted(struct shlex *s, struct making *m)
{
	const char *close = memchr(s->p, '\'', (size_t)(s->end - s->p));
	const char *end = close ? close : s->end;

	m->flags |= SHELL_QUOTED;
	buf_add(&s->text, (struct str){ s->p, (size_t)(end - s->p) });
	s->p = close ? close + 1 : s->end;
	s->unclosed = close ? 0 : '\'';
}

/* One byte, or one expansion, as it is read in double quotes, in ${ } and in arithmetic. */
static void inner(struct shlex *s, struct making *m)
{
	const int c = shlex_take(s);

	if (c == '$' && !s->literal) {
		dollar(s, m);
	} else if (c == '`' && !s->literal) {
		backquoted(s, m);
	} else if (c == '\\') {
		const int next = s->p < s->end ? (unsigned char)*s->p++ : '\\';
		if (next != '"' && next != '\\' && (s->literal || (next != '$' && next != '`')))
			buf_addc(&s->text, '\\');
		buf_addc(&s->text, (char)next);
	} else if (c >= 0) {
		buf_addc(&s->text, (char)c);
	}
}

/* Single quotes in "${x:-'…'}" and in arithmetic must be paired but protect nothing: bash runs a $(
 * ) between them. */
static void weak_quoted(struct shlex *s, struct making *m)
{
	const char *close = memchr(s->p, '\'', (size_t)(s->end - s->p));
	const struct str quoted = { s->p, (size_t)((close ? close : s->end) - s->p) };
	struct shlex_outer save;

	s->p = close ? close + 1 : s->end;
	shlex_enter(s, quoted, &save);
	while (shlex_peek(s) >= 0)
		inner(s, m);
	shlex_leave(s, &save);
}

/* Move up to and over the closing byte. The text is dropped; the commands in it are not. */
static void balanced(struct shlex *s, struct making *m, int open, int close)
{
	const size_t keep = s->text.n;
	size_t depth = 1;
	int c;

	while (depth && (c = shlex_peek(s)) >= 0) {
		if (c == '\'' || c == '"') {
			s->p++;
			c == '"' ? double_quoted(s, m) : weak_quoted(s, m);
			continue;
		}
		depth += c == open;
		depth -= c == close;
		inner(s, m);
	}
	s->text.n = keep;
}

void shword_arithmetic(struct shlex *s)
{
	struct making m = { .quoted = true };

	balanced(s, &m, '(', ')');
	if (shlex_peek(s) == ')')
		s->p++;
	else if (s->p < s->end)
		shlex_give_up(s, "its arithmetic is unclear");
}

/* ${…}, after the brace. */
static void parameter(struct shlex *s, struct making *m)
{
	const size_t keep = s->text.n;
	int c = shlex_peek(s);

	if (c == ' ' || c == '\t' || c == '\n' || c == '|') {
		s->p += c == '|';
		shlex_chain(s, STR("${ }"));
		if (shlex_deeper(s)) {
			(void)s->read_list(s, LIST_BRACE);
			s->depth--;
		}
		return;
	}
	while ((c = shlex_peek(s)) >= 0 && c != '}') {
		if (c == '\'' || c == '"') {
			s->p++;
			if (c == '"')
				double_quoted(s, m);
			else
				m->quoted ? weak_quoted(s, m) : single_quoted(s, m);
		} else if (!m->quoted && (c == '<' || c == '>') && shlex_peek2(s) == '(') {
			s->p++;
			(void)shlex_take(s);
			commands(s, m);
		} else {
			inner(s, m);
		}
	}
	if (c == '}')
		s->p++;
	s->text.n = keep;
}

/* Move over the name of a parameter. Is it HOME? */
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

/* The number at the position, of up to `most` digits in that base. */
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

/* An escape in $'…', after its backslash. */
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

/* What follows a $. */
static void dollar(struct shlex *s, struct making *m)
{
	const int c = shlex_peek(s);

	if (c == '(') {
		s->p++;
		const bool twice = shlex_peek(s) == '(';
		const char *here = s->p;
		if (twice && (s->p++, shlex_is_arithmetic(s)) && shlex_deeper(s)) {
			unknown(s, m);
			shword_arithmetic(s);
			s->depth--;
			return;
		}
		if (s->trouble)
			return;
		s->p = here;
		commands(s, m);
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
		balanced(s, m, '[', ']');
		unknown(s, m);
		s->depth--;
	} else if (c == '\'' && !m->quoted) {
		s->p++;
		ansi_quoted(s, m);
	} else if (c == '"' && !m->quoted) {
		s->p++;
		double_quoted(s, m);
	} else if (shlex_is_name(c)) {
		value(s, m, take_name(s));
	} else if (c > 0 && strchr("@*#?-$!", c)) {
		s->p++;
		unknown(s, m);
	} else {
		buf_addc(&s->text, '$');
	}
}

/* `…`, after the first backquote: the text inside loses one layer of backslashes. */
static void backquoted(struct shlex *s, struct making *m)
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
	const struct str text = shlex_finish(s, start);
	unknown(s, m);
	shlex_chain(s, STR("` `"));
	if (!shlex_deeper(s))
		return;
	shlex_enter(s, text, &save);
	(void)s->read_list(s, LIST_TEXT);
	shlex_leave(s, &save);
	s->depth--;
}

static void double_quoted(struct shlex *s, struct making *m)
{
	const bool outer = m->quoted;
	int c;

	m->flags |= SHELL_QUOTED;
	m->quoted = true;
	while ((c = shlex_peek(s)) >= 0 && c != '"')
		inner(s, m);
	if (c == '"')
		s->p++;
	s->unclosed = c == '"' ? 0 : '"';
	m->quoted = outer;
}

/* The text of a word that ends here. */
static struct str finish(struct shlex *s, const struct making *m, struct str raw)
{
	struct str text = raw;

	/* Every quote and expansion makes the text shorter: equal length means equal text. */
	if (s->text.n - m->start == raw.n && !(m->flags & SHELL_UNKNOWN))
		s->text.n = m->start;
	else
		text = shlex_finish(s, m->start);
	if (s->text.failed || s->arena->failed)
		shlex_give_up(s, "it is too large");
	return text.n ? text : STR("");
}

/* Does the text so far have the form NAME= NAME+= or NAME[]= (what was in the brackets is gone)? */
static bool is_assignment(const struct shlex *s, const struct making *m)
{
	const struct str made = str_from(buf_str(&s->text), m->start);
	const char *p = made.p;
	size_t n = made.n;

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

/* Is the text so far a NAME, so that a [ after it opens a subscript? */
static bool is_name(const struct shlex *s, const struct making *m)
{
	for (size_t i = m->start; i < s->text.n; i++) {
		if (!shlex_is_name((unsigned char)s->text.p[i]))
			return false;
	}
	return !m->flags && s->text.n > m->start;
}

/* NAME=( … ), after the parenthesis: words on any number of lines. */
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
	unknown(s, m);
}

/* An extended pattern such as @(a|b), after the parenthesis. */
static void pattern(struct shlex *s, struct making *m)
{
	const bool quoted = m->quoted;

	if (!shlex_deeper(s))
		return;
	m->quoted = false;
	balanced(s, m, '(', ')');
	m->quoted = quoted;
	unknown(s, m);
	s->depth--;
}

/* What has been seen outside quotes. Only the first [ and the first = can make an assignment; to
 * look at later ones would take quadratic time. */
struct met {
	bool bracket, equals;
};

/* A substitution, array or pattern, which begins with a parenthesis at the position or after it. */
static bool take_parenthesised(struct shlex *s, unsigned mode, struct making *m)
{
	const int c = shlex_peek(s);

	if (c == '(' && is_assignment(s, m)) {
		s->p++;
		array(s, m);
		return true;
	}
	if (c <= 0 || !strchr("<>?*+@!", c) || shlex_peek2(s) != '(' ||
	    (c == '!' && mode & WORD_COMMAND && s->text.n == m->start))
		return false;
	s->p++;
	(void)shlex_take(s);
	if (c == '<' || c == '>')
		commands(s, m);
	else
		pattern(s, m);
	return true;
}

/* Does it separate words where there is no shell? */
static bool is_blank(int c)
{
	return c > 0 && strchr(" \t\r\n", c);
}

static bool is_end(const struct shlex *s, int c)
{
	return s->literal ? c < 0 || is_blank(c) : shlex_is_meta(c);
}

/* One byte or part outside quotes; false where the word ends. */
static bool take_part(struct shlex *s, unsigned mode, struct making *m, struct met *met)
{
	if (!s->literal && take_parenthesised(s, mode, m))
		return true;
	const int c = shlex_peek(s);
	if (is_end(s, c))
		return false;
	const bool subscript = c == '[' && !met->bracket && mode & WORD_SUBSCRIPT && is_name(s, m);
	met->bracket |= c == '[';
	s->p++;
	if (c == '\'') {
		single_quoted(s, m);
	} else if (c == '"') {
		double_quoted(s, m);
	} else if (c == '\\') {
		m->flags |= SHELL_QUOTED;
		if (s->p < s->end)
			buf_addc(&s->text, *s->p++);
		else
			s->unclosed = '\\';
	} else if (c == '`' && !s->literal) {
		backquoted(s, m);
	} else if (c == '$' && !s->literal) {
		dollar(s, m);
	} else if (subscript) {
		buf_addc(&s->text, '[');
		balanced(s, m, '[', ']');
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
	w.text = finish(s, &m, w.raw);
	return w;
}

struct str shword_document(struct shlex *s, struct str text)
{
	struct making m = { .start = s->text.n, .quoted = true };
	struct shlex_outer save;

	shlex_enter(s, text, &save);
	while (shlex_peek(s) >= 0)
		inner(s, &m);
	shlex_leave(s, &save);
	return finish(s, &m, text);
}

/* Every word begins after a blank, or at the start. */
static size_t count_most(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += !is_blank(text.p[i]) && (i == 0 || is_blank(text.p[i - 1]));
	return n;
}

int shword_split(struct str text, struct arena *a, struct str **ret, size_t *count, struct err *e)
{
	const size_t most = count_most(text);

	if (most == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid command");
	if (str_index(text, '\0') >= 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "The command has a NUL byte");
	struct str *list = arena_array(a, most, sizeof *list);
	char *room = arena_alloc(a, text.n);
	struct shlex s = { .p = text.p,
			   .end = text.p + text.n,
			   .arena = a,
			   .text = buf_over(room, room ? text.n : 0),
			   .literal = true };
	size_t n = 0;

	while (list && s.p < s.end) {
		if (is_blank(*s.p))
			s.p++;
		else
			list[n++] = shword_read(&s, 0).text;
	}
	if (a->failed || s.trouble)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the command, try again");
	if (s.unclosed == '\\')
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "The command ends in a backslash with nothing after it");
	if (s.unclosed)
		return err_set(e, ERR_INVALID_ARGUMENTS, "The command has a %c that is not closed",
			       s.unclosed);
	*ret = list;
	*count = n;
	return 0;
}
