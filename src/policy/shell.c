/* SPDX-License-Identifier: MIT */
/* shell: here-documents, compound commands, simple commands and lists of them. */

#include "policy/shell.h"

#include "policy/limits.h"
#include "policy/shlex.h"

struct heredoc {
	struct heredoc *next;
	struct str delimiter;
	struct str *input;
	bool strip_tabs;
	bool literal; /* the delimiter was quoted: nothing is expanded */
};

/* A delimiter is not expanded, only its quotes are removed: <<"$X" ends at $X. */
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
	return shlex_finish(s, start);
}

static void expect_heredoc(struct shlex *s, const struct word *delimiter, bool strip_tabs,
			   struct str *input)
{
	struct heredoc *h = arena_array(s->arena, 1, sizeof *h);

	if (!h) {
		shlex_give_up(s, "it is too large");
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
	bool joined; /* made of several lines, so not a part of the text */
};

/* Take the next line and its newline. In a document that is expanded, a backslash joins lines. */
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
	line.text = shlex_finish(s, start);
	return line;
}

/* Is this the last line? Inside $( ) bash also takes "EOF)" for it, and reads on after the F. */
static bool is_last(struct shlex *s, const struct heredoc *h, const struct line *line)
{
	if (str_eq(line->text, h->delimiter))
		return true;
	if (!s->in_paren || !str_starts(line->text, h->delimiter) ||
	    str_index(str_from(line->text, h->delimiter.n), ')') < 0)
		return false;
	if (line->joined)
		shlex_give_up(s, "the end of a here-document is unclear");
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
		shlex_give_up(s, "it is too large");
		return;
	}
	*h->input = h->literal ? kept : shword_document(s, kept);
}

static void read_heredocs(struct shlex *s)
{
	struct heredoc *h = s->first;

	s->first = NULL;
	s->last = &s->first;
	for (; h; h = h->next)
		read_one(s, h);
}

static void skip_newlines(struct shlex *s)
{
	while (shlex_peek_token(s) == TOKEN_NEWLINE) {
		(void)shlex_token(s);
		read_heredocs(s);
	}
}

/* for NAME [in WORD …], select, and for (( … )). What follows is read as commands. */
static void for_head(struct shlex *s)
{
	if (shlex_peek_token(s) == TOKEN_OPEN) {
		(void)shlex_token(s);
		if (shlex_peek(s) == '(' && (s->p++, shlex_is_arithmetic(s)))
			shword_arithmetic(s);
		return;
	}
	if (shlex_peek_token(s) != TOKEN_WORD)
		return;
	(void)shword_read(s, 0);
	skip_newlines(s);
	if (!shlex_accept_keyword(s, STR("in")))
		return;
	while (shlex_peek_token(s) == TOKEN_WORD)
		(void)shword_read(s, 0);
}

/* The patterns of one branch up to their parenthesis; false if there are none. */
static bool case_patterns(struct shlex *s)
{
	skip_newlines(s);
	if (shlex_accept_keyword(s, STR("esac")))
		return false;
	if (shlex_peek_token(s) == TOKEN_OPEN)
		(void)shlex_token(s);
	for (;;) {
		const enum token token = shlex_peek_token(s);
		if (token == TOKEN_WORD) {
			(void)shword_read(s, 0);
			continue;
		}
		if (token != TOKEN_PIPE && token != TOKEN_CLOSE)
			return false;
		(void)shlex_token(s);
		if (token == TOKEN_CLOSE)
			return true;
	}
}

/* case WORD in … esac, after the keyword. */
static void case_command(struct shlex *s)
{
	if (shlex_peek_token(s) == TOKEN_WORD)
		(void)shword_read(s, 0);
	skip_newlines(s);
	if (!shlex_accept_keyword(s, STR("in")) || !shlex_deeper(s))
		return;
	while (case_patterns(s) && s->read_list(s, LIST_CASE))
		;
	s->depth--;
}

/* [[ … ]], after the keyword: its operators are not the shell's. */
static void condition(struct shlex *s)
{
	while (!shlex_accept_keyword(s, STR("]]"))) {
		const enum token token = shlex_peek_token(s);
		if (token == TOKEN_END)
			return;
		if (token == TOKEN_WORD) {
			(void)shword_read(s, 0);
			continue;
		}
		if (token == TOKEN_NEWLINE)
			skip_newlines(s);
		else
			(void)shlex_take(s);
	}
}

/* function NAME [()], after the keyword; the body is read as a command. */
static void function_head(struct shlex *s)
{
	if (shlex_peek_token(s) == TOKEN_WORD)
		(void)shword_read(s, 0);
	const char *here = s->p;
	if (shlex_peek_token(s) != TOKEN_OPEN)
		return;
	(void)shlex_token(s);
	if (shlex_peek_token(s) == TOKEN_CLOSE)
		(void)shlex_token(s);
	else
		s->p = here;
}

enum key {
	KEY_OPEN,   /* a command follows */
	KEY_PREFIX, /* a command follows, and both are one simple command: ! time */
	KEY_COPROC,
	KEY_CONDITION,
	KEY_ESAC,
	KEY_CLOSE, /* } */
};

struct keyword {
	const char *name;
	enum key key;
	void (*read)(struct shlex *s); /* up to where commands begin, or to the end; or NULL */
};

/* The keyword that the word is where a command begins, or NULL. */
static const struct keyword *find_keyword(const struct word *w)
{
	static const struct keyword table[] = {
		{ "if" },
		{ "then" },
		{ "elif" },
		{ "else" },
		{ "fi" },
		{ "while" },
		{ "until" },
		{ "do" },
		{ "done" },
		{ "{" },
		{ "for", KEY_OPEN, for_head },
		{ "select", KEY_OPEN, for_head },
		{ "case", KEY_OPEN, case_command },
		{ "function", KEY_OPEN, function_head },
		{ "[[", KEY_CONDITION, condition },
		{ "!", KEY_PREFIX },
		{ "time", KEY_PREFIX },
		{ "coproc", KEY_COPROC },
		{ "esac", KEY_ESAC },
		{ "}", KEY_CLOSE },
	};

	if (w->flags || w->text.n > STR("function").n)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (str_eq(w->text, str_of(table[i].name)))
			return &table[i];
	}
	return NULL;
}

/* A simple command that is being read. */
struct simple {
	struct buf words;   /* of struct shell_word */
	bool begun;	    /* with an assignment, redirection or word: no keyword can follow */
	bool assigns;	    /* its arguments may be assignments: declare, export … */
	bool coproc, timed; /* the keyword came just before */
	struct str *input;  /* text of its last here-document or here-string */
	bool newline;	    /* a newline ended the command before */
};

static void done(struct simple *c)
{
	buf_done(&c->words);
}

static size_t count(const struct simple *c)
{
	return c->words.n / sizeof(struct shell_word);
}

static void reset(struct simple *c)
{
	c->words.n = 0;
	c->begun = c->assigns = c->coproc = c->timed = false;
	c->input = NULL;
}

/* The command is complete: put it on the list. */
static void flush(struct shlex *s, struct simple *c)
{
	/* A first word that could not be kept leaves no word to count. */
	if (c->words.failed)
		shlex_give_up(s, "it is too large");
	if (count(c) && !s->trouble) {
		struct shell_command *made = arena_array(s->arena, 1, sizeof *made);
		const struct str words = arena_dup(s->arena, buf_str(&c->words));
		if (!made || !words.p) {
			shlex_give_up(s, "it is too large");
			return;
		}
		made->words = (struct shell_word *)(void *)(uintptr_t)words.p;
		made->n = count(c);
		made->input = c->input;
		*s->tail = made;
		s->tail = &made->next;
	}
	reset(c);
}

/* A list in parentheses, after the opening one. */
static void subshell(struct shlex *s)
{
	shlex_chain(s, STR("( )"));
	if (!shlex_deeper(s))
		return;
	(void)s->read_list(s, LIST_PAREN);
	s->depth--;
}

/* ( where a command may begin or a function is defined. */
static void open_paren(struct shlex *s, struct simple *c)
{
	if (count(c) == 1 && shlex_peek_token(s) == TOKEN_CLOSE) {
		(void)shlex_token(s);
		shlex_chain(s, STR("( )"));
		reset(c);
		return;
	}
	if (!c->begun && shlex_peek(s) == '(') {
		const char *here = s->p++;
		if (shlex_is_arithmetic(s)) {
			shlex_chain(s, STR("(( ))"));
			shword_arithmetic(s);
			return;
		}
		s->p = here;
	}
	flush(s, c);
	subshell(s);
}

/* Read what a keyword opens; true if it ends the list. */
static bool open_keyword(struct shlex *s, struct simple *c, const struct keyword *k,
			 enum list_end end)
{
	if ((k->key == KEY_CLOSE && end == LIST_BRACE) || (k->key == KEY_ESAC && end == LIST_CASE))
		return true;
	if (k->key != KEY_PREFIX && k->key != KEY_CONDITION)
		shlex_chain(s, str_of(k->name));
	c->coproc = k->key == KEY_COPROC;
	c->timed = k->key == KEY_PREFIX;
	if (k->read)
		k->read(s);
	return false;
}

/* Is the word a descriptor that belongs to the redirection right after it: 2> or {fd}> ? */
static bool is_descriptor(struct shlex *s, const struct word *w)
{
	struct str name = w->raw;
	const int c = shlex_peek(s);
	const bool braced = name.n > 2 && name.p[0] == '{' && name.p[name.n - 1] == '}';

	if ((c != '<' && c != '>') || w->flags)
		return false;
	if (braced)
		name = (struct str){ name.p + 1, name.n - 2 };
	for (size_t i = 0; i < name.n; i++) {
		const int d = (unsigned char)name.p[i];
		if (braced ? !shlex_is_name(d) : d < '0' || d > '9')
			return false;
	}
	return true;
}

/* Move over the redirection operator at the position. */
static const char *take_redirection(struct shlex *s)
{
	static const char *const operators[] = { "<<<", "<<-", "&>>", "<<", "<&", "<>",
						 ">>",	">&",  ">|",  "&>", "<",  ">" };

	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		if (shlex_accept(s, str_of(operators[i])))
			return operators[i];
	}
	return "";
}

/* A redirection; a here-document or here-string becomes the command's input. */
static void redirect(struct shlex *s, struct simple *c)
{
	const char *op = take_redirection(s);

	c->begun = true;
	if (shlex_peek_token(s) != TOKEN_WORD)
		return;
	const struct word target = shword_read(s, 0);
	if (!str_starts(str_of(op), STR("<<")))
		return;
	struct str *input = arena_array(s->arena, 1, sizeof *input);
	if (!input)
		return;
	if (op[2] == '<')
		*input = target.text;
	else
		expect_heredoc(s, &target, op[2] == '-', input);
	c->input = input;
}

static void add_word(struct shlex *s, struct simple *c, const struct word *w)
{
	static const char declarations[] = "declare typeset local export readonly alias eval let";
	const struct shell_word word = { w->text, w->flags };

	if (c->newline)
		shlex_chain(s, STR("newline"));
	c->newline = false;
	if (!count(c))
		c->assigns = str_is_listed(declarations, w->text);
	c->begun = true;
	buf_add(&c->words, (struct str){ (const char *)&word, sizeof word });
}

/* A word of the command, or a keyword; true if it ends the list. */
static bool take_word(struct shlex *s, struct simple *c, enum list_end end)
{
	const unsigned mode =
		(c->begun ? 0 : WORD_COMMAND) | (!count(c) || c->assigns ? WORD_SUBSCRIPT : 0);
	const struct word w = shword_read(s, mode);
	const bool timed = c->timed;

	c->timed = false;
	if (is_descriptor(s, &w))
		return false;
	if (timed && !c->begun && (str_eq(w.text, STR("-p")) || str_eq(w.text, STR("--")))) {
		c->timed = true;
		return false;
	}
	/* coproc NAME { …: the word before was a name. */
	const bool named = c->coproc && count(c) == 1;
	const struct keyword *k = !c->begun || named ? find_keyword(&w) : NULL;
	if (k) {
		reset(c);
		return open_keyword(s, c, k, end);
	}
	if (!count(c) && w.flags & SHELL_ASSIGN) {
		c->begun = true;
		return false;
	}
	add_word(s, c, &w);
	return false;
}

/* An operator between commands. */
static void separate(struct shlex *s, struct simple *c, enum token token)
{
	const bool empty = !c->begun;

	flush(s, c);
	if (token == TOKEN_NEWLINE) {
		c->newline |= !empty;
		read_heredocs(s);
		return;
	}
	shlex_chain(s, (struct str){ s->token, (size_t)(s->p - s->token) });
}

/* Read commands up to and including the end; true if that was an operator, so that another branch
 * of a case may follow. */
static bool read_list(struct shlex *s, enum list_end end)
{
	CLEANUP(done) struct simple c = { .words = { .max = s->text.max } };

	for (;;) {
		const enum token token = shlex_token(s);
		switch (token) {
		case TOKEN_WORD:
			if (!take_word(s, &c, end))
				break;
			flush(s, &c);
			return false;
		case TOKEN_REDIRECT:
			redirect(s, &c);
			break;
		case TOKEN_OPEN:
			open_paren(s, &c);
			break;
		case TOKEN_END:
			flush(s, &c);
			read_heredocs(s);
			return false;
		case TOKEN_CLOSE:
		case TOKEN_DSEMI:
			flush(s, &c);
			if (end == (token == TOKEN_CLOSE ? LIST_PAREN : LIST_CASE))
				return true;
			break;
		default:
			separate(s, &c, token);
		}
	}
}

struct str shell_basename(struct str name)
{
	const char *slash = name.n ? memrchr(name.p, '/', name.n) : NULL;

	return slash ? str_from(name, (size_t)(slash + 1 - name.p)) : name;
}

int shell_read(struct str text, unsigned depth, struct arena *a, struct shell_script *ret,
	       struct err *e)
{
	struct shell_command *first_command = NULL;
	const char *const from = text.n ? text.p : "";
	struct shlex s = {
		.p = from,
		.end = from + text.n,
		.arena = a,
		.text = { .max = LIMIT_SHELL_TEXT },
		.read_list = read_list,
		.last = &s.first,
		.tail = &first_command,
		.depth = depth,
	};

	(void)read_list(&s, LIST_TEXT);
	buf_done(&s.text);
	if (s.trouble || a->failed) {
		(void)err_set(e, ERR_COMMAND_BLOCKED,
			      "Command blocked: it cannot be judged because %s.",
			      s.trouble ? s.trouble : "it is too large");
		return err_advise(e, "Write it more simply, or in several steps.");
	}
	ret->first = first_command;
	ret->chain = s.chain;
	return 0;
}
