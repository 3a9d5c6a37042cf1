/* SPDX-License-Identifier: MIT */
/* shell: lists, compound commands and simple commands; see shell.h. */

#include "policy/shell.h"

#include "base/limits.h"
#include "policy/shlex.h"

/* A simple command in the making. */
struct simple {
	struct buf words;   /* of struct shell_word */
	bool begun;	    /* an assignment, redirection or word was there: no keyword now */
	bool assigns;	    /* its arguments may be assignments: declare, export … */
	bool coproc, timed; /* the keyword stood just before */
	struct str *input;  /* text of its last here-document or here-string */
	bool newline;	    /* a newline ended the command before */
	struct shell_command *last, *from; /* the command before; and if it is piped into this */
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
	c->last = NULL;
	if (count(c) && !s->mute && !s->trouble) {
		struct shell_command *made = arena_array(s->arena, 1, sizeof *made);
		const struct str words = arena_dup(s->arena, buf_str(&c->words));
		if (!made || !words.p || c->words.failed) {
			shlex_trouble(s, "it is too large");
			return;
		}
		made->words = (struct shell_word *)(void *)(uintptr_t)words.p;
		made->n = count(c);
		made->input = c->input;
		made->from = c->from;
		*s->tail = made;
		s->tail = &made->next;
		c->last = made;
	}
	c->from = NULL;
	reset(c);
}

/* A parenthesised list, its opening parenthesis taken. */
static void subshell(struct shlex *s)
{
	shlex_chain(s, STR("( )"));
	if (!shlex_deeper(s))
		return;
	shell_list(s, LIST_PAREN);
	s->depth--;
}

/* ( where a command may begin or a function is defined. */
static void open_paren(struct shlex *s, struct simple *c)
{
	if (count(c) == 1 && shlex_ahead(s) == TOKEN_CLOSE) {
		(void)shlex_token(s);
		shlex_chain(s, STR("( )"));
		reset(c);
		return;
	}
	if (!c->begun && shlex_peek(s) == '(') {
		const char *here = s->p++;
		if (shlex_arithmetic(s)) {
			shlex_chain(s, STR("(( ))"));
			shquote_arithmetic(s);
			return;
		}
		s->p = here;
	}
	flush(s, c);
	subshell(s);
}

/* Read what a keyword opens; true when it ends the list. */
static bool open_keyword(struct shlex *s, struct simple *c, const struct word *w, enum list_end end)
{
	const enum keyword key = shcompound_keyword(w);

	if (key == KEY_CLOSE && end == LIST_BRACE)
		return true;
	if (key == KEY_ESAC && end == LIST_CASE)
		return true;
	if (key != KEY_PREFIX && key != KEY_CONDITION)
		shlex_chain(s, w->text);
	c->coproc = key == KEY_COPROC;
	c->timed = key == KEY_PREFIX;
	shcompound_head(s, key);
	return false;
}

/* Is the word a descriptor that belongs to the redirection right behind it: 2> or {fd}> ? */
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

/* The redirection operator under the head. */
static const char *take_redirection(struct shlex *s)
{
	static const char *const operators[] = { "<<<", "<<-", "&>>", "<<", "<&", "<>",
						 ">>",	">&",  ">|",  "&>", "<",  ">" };

	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		if (shlex_taken(s, str_of(operators[i])))
			return operators[i];
	}
	return "";
}

/* A redirection; a here-document or here-string becomes the command's input. */
static void redirect(struct shlex *s, struct simple *c)
{
	const char *op = take_redirection(s);

	c->begun = true;
	if (shlex_ahead(s) != TOKEN_WORD)
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
		shheredoc_expect(s, &target, op[2] == '-', input);
	c->input = input;
}

static bool is_declaration(struct str name)
{
	static const char *const names[] = { "declare",	 "typeset", "local", "export",
					     "readonly", "alias",   "eval",  "let" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_eq(name, str_of(names[i])))
			return true;
	}
	return false;
}

static void add_word(struct shlex *s, struct simple *c, const struct word *w)
{
	const struct shell_word word = { w->text, w->flags };

	if (c->newline)
		shlex_chain(s, STR("newline"));
	c->newline = false;
	if (!count(c))
		c->assigns = is_declaration(w->text);
	c->begun = true;
	if (w->brace && !s->mute && shbrace_expand(s, w->raw, &c->words))
		return;
	buf_add(&c->words, (struct str){ (const char *)&word, sizeof word });
}

/* A word of the command, or a keyword; true when it ends the list. */
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
	if (!c->begun && shcompound_keyword(&w) != KEY_NONE)
		return open_keyword(s, c, &w, end);
	/* coproc NAME { …: the word before was a name. */
	if (c->coproc && count(c) == 1 && shcompound_keyword(&w) != KEY_NONE) {
		reset(c);
		return open_keyword(s, c, &w, end);
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
		shheredoc_read(s);
		return;
	}
	shlex_chain(s, (struct str){ s->token, (size_t)(s->p - s->token) });
	if (token == TOKEN_PIPE)
		c->from = c->last;
}

bool shell_list(struct shlex *s, enum list_end end)
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
			shheredoc_read(s);
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

int shell_read(struct str text, unsigned depth, struct arena *a, struct shell_script *ret,
	       struct err *e)
{
	struct shell_command *first_command = NULL;
	struct shlex s = {
		.p = text.n ? text.p : "",
		.end = text.n ? text.p + text.n : "",
		.arena = a,
		.text = { .max = LIMIT_SHELL_TEXT },
		.last = &s.first,
		.tail = &first_command,
		.depth = depth,
	};

	shell_list(&s, LIST_TEXT);
	buf_done(&s.text);
	if (s.trouble || a->failed)
		return err_set(e, ERR_COMMAND_BLOCKED,
			       "Command blocked: it cannot be judged because %s. Write it more "
			       "simply, or in several steps.",
			       s.trouble ? s.trouble : "it is too large");
	ret->first = first_command;
	ret->chain = s.chain;
	return 0;
}
