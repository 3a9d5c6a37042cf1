/* SPDX-License-Identifier: MIT */
/* shcompound: keywords, and the heads of compound commands in which words are not commands. */

#include "policy/shlex.h"

/* for NAME [in WORD …] and select; for (( … )). What follows is read as commands. */
static void for_head(struct shlex *s)
{
	if (shlex_ahead(s) == TOKEN_OPEN) {
		(void)shlex_token(s);
		if (shlex_peek(s) == '(' && (s->p++, shlex_arithmetic(s)))
			shquote_arithmetic(s);
		return;
	}
	if (shlex_ahead(s) != TOKEN_WORD)
		return;
	(void)shword_read(s, 0);
	shlex_skip_newlines(s);
	if (!shlex_keyword(s, STR("in")))
		return;
	while (shlex_ahead(s) == TOKEN_WORD)
		(void)shword_read(s, 0);
}

/* The patterns of one branch up to their parenthesis; false when there are none. */
static bool case_patterns(struct shlex *s)
{
	shlex_skip_newlines(s);
	if (shlex_keyword(s, STR("esac")))
		return false;
	if (shlex_ahead(s) == TOKEN_OPEN)
		(void)shlex_token(s);
	for (;;) {
		const enum token token = shlex_ahead(s);
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

/* case WORD in … esac, the keyword taken. */
static void case_command(struct shlex *s)
{
	if (shlex_ahead(s) == TOKEN_WORD)
		(void)shword_read(s, 0);
	shlex_skip_newlines(s);
	if (!shlex_keyword(s, STR("in")) || !shlex_deeper(s))
		return;
	while (case_patterns(s) && shell_list(s, LIST_CASE))
		;
	s->depth--;
}

/* [[ … ]], the keyword taken: its operators are not the shell's. */
static void condition(struct shlex *s)
{
	while (!shlex_keyword(s, STR("]]"))) {
		const enum token token = shlex_ahead(s);
		if (token == TOKEN_END)
			return;
		if (token == TOKEN_WORD) {
			(void)shword_read(s, 0);
			continue;
		}
		if (token == TOKEN_NEWLINE)
			shlex_skip_newlines(s);
		else
			(void)shlex_take(s);
	}
}

/* function NAME [()], the keyword taken; the body is read as a command. */
static void function_head(struct shlex *s)
{
	if (shlex_ahead(s) == TOKEN_WORD)
		(void)shword_read(s, 0);
	const char *here = s->p;
	if (shlex_ahead(s) != TOKEN_OPEN)
		return;
	(void)shlex_token(s);
	if (shlex_ahead(s) == TOKEN_CLOSE)
		(void)shlex_token(s);
	else
		s->p = here;
}

enum keyword shcompound_keyword(const struct word *w)
{
	static const struct {
		const char *name;
		enum keyword key;
	} table[] = {
		{ "if", KEY_PLAIN },	      { "then", KEY_PLAIN },	{ "elif", KEY_PLAIN },
		{ "else", KEY_PLAIN },	      { "fi", KEY_PLAIN },	{ "while", KEY_PLAIN },
		{ "until", KEY_PLAIN },	      { "do", KEY_PLAIN },	{ "done", KEY_PLAIN },
		{ "{", KEY_PLAIN },	      { "}", KEY_CLOSE },	{ "!", KEY_PREFIX },
		{ "time", KEY_PREFIX },	      { "coproc", KEY_COPROC }, { "for", KEY_FOR },
		{ "select", KEY_FOR },	      { "case", KEY_CASE },	{ "esac", KEY_ESAC },
		{ "function", KEY_FUNCTION }, { "[[", KEY_CONDITION },
	};

	if (w->flags || w->text.n > STR("function").n)
		return KEY_NONE;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (str_eq(w->text, str_of(table[i].name)))
			return table[i].key;
	}
	return KEY_NONE;
}

void shcompound_head(struct shlex *s, enum keyword key)
{
	switch (key) {
	case KEY_FOR:
		for_head(s);
		break;
	case KEY_CASE:
		case_command(s);
		break;
	case KEY_FUNCTION:
		function_head(s);
		break;
	case KEY_CONDITION:
		condition(s);
		break;
	default:
		break;
	}
}
