/* SPDX-License-Identifier: MIT */
/*
 * shlex: the position of the shell reader (shell.h) in its text, and its tokens.
 *
 *	shlex		bytes, blanks, comments, operators
 *	shword		words: quotes, escapes, expansions, substitutions
 *	shell		commands and lists of them, here-documents
 *
 * The position moves forward over the text; a backslash followed by a newline is never seen. Where
 * bash reads a text inside the text (a backquoted command, the body of a here-document),
 * shlex_enter goes there and shlex_leave comes back. Failure is sticky: after shlex_give_up the
 * position is at the end of every text, so that all readers stop.
 */
#ifndef POLICY_SHLEX_H
#define POLICY_SHLEX_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "policy/shell_command.h"

enum token {
	TOKEN_END,
	TOKEN_WORD,	/* a word begins here; it has not been read */
	TOKEN_REDIRECT, /* a redirection operator begins here; it has not been read */
	TOKEN_NEWLINE,
	TOKEN_SEMI,
	TOKEN_DSEMI, /* ;; ;& ;;& */
	TOKEN_AMP,
	TOKEN_AND_OR, /* && || */
	TOKEN_PIPE,   /* | |& */
	TOKEN_OPEN,
	TOKEN_CLOSE,
};

/* What ends a list of commands, besides the end of the text. */
enum list_end {
	LIST_TEXT,  /* nothing else */
	LIST_PAREN, /* ) */
	LIST_BRACE, /* } as a command, for ${ …; } */
	LIST_CASE,  /* ;; or esac */
};

struct heredoc;

struct shlex {
	const char *p, *end;
	const char *token; /* where the last token began */
	struct arena *arena;
	struct buf text; /* the words that are being read, the innermost last */

	/* Only blanks, quotes and backslashes have a meaning, as for shword_split. */
	bool literal;
	char unclosed; /* the quote or backslash that the end of the text left open, or 0 */

	/* Of the reader of commands. */
	bool (*read_list)(struct shlex *s, enum list_end end); /* for substitutions in words */
	struct heredoc *first; /* here-documents whose bodies come after the next newline */
	struct heredoc **last; /* where the next one is linked in */
	struct shell_command **tail;
	struct str chain;
	unsigned depth;
	bool in_paren;	     /* the list that is being read is that of a $( */
	const char *trouble; /* why the text cannot be followed, or NULL */
};

/* The byte at the position, or -1 at the end; the byte after it; move over it. */
int shlex_peek(struct shlex *s);
int shlex_peek2(struct shlex *s);
int shlex_take(struct shlex *s);

/* Move over blanks and a comment, then over an operator, but not over a word or redirection. */
enum token shlex_token(struct shlex *s);

/* What shlex_token would return. Moves only over blanks and a comment. */
enum token shlex_peek_token(struct shlex *s);

/* Move over exactly these bytes if they come next. */
bool shlex_accept(struct shlex *s, struct str bytes);

/* Move over the keyword if it is the next word, unquoted. */
bool shlex_accept_keyword(struct shlex *s, struct str keyword);

/* Does the text after "((" end in "))" when its parentheses are paired? This is how bash decides
 * between arithmetic and nested subshells. */
bool shlex_is_arithmetic(struct shlex *s);

/* Does the byte, or the end of the text, end a word? */
bool shlex_is_meta(int c);

/* May the byte stand in the name of a variable? */
bool shlex_is_name(int c);

/* The text collected since `start` is removed from s->text and returned, in the arena. */
struct str shlex_finish(struct shlex *s, size_t start);

/* Stop reading, for that reason. */
void shlex_give_up(struct shlex *s, const char *why);

/* Note what makes the text more than one simple command. */
void shlex_chain(struct shlex *s, struct str what);

/* Go one level deeper; at the limit give up and return false. */
bool shlex_deeper(struct shlex *s);

/* Read an inner text, with here-documents of its own, and come back. */
struct shlex_outer {
	const char *p, *end;
	struct heredoc *first, **last;
	bool in_paren;
};
void shlex_enter(struct shlex *s, struct str inner, struct shlex_outer *save);
void shlex_leave(struct shlex *s, const struct shlex_outer *save);

/* shword: one word of shell text, with the quotes, escapes, expansions and substitutions in it. */

enum {
	WORD_SUBSCRIPT = 1 << 0, /* NAME[ begins a subscript up to its ] */
	WORD_COMMAND = 1 << 1,	 /* a command begins here: !( is not a pattern */
};

struct word {
	struct str text, raw; /* as evaluated, as written */
	unsigned flags;	      /* SHELL_… */
};

/* Split a command line for which no shell is run at its blanks. '…' is literal, "…" is literal
 * except for \" and \\, and outside quotes a backslash takes the next byte literally. Nothing else
 * has a meaning: $, *, ;, |, > and # are text. The words point into the text or into the arena.
 * INVALID_ARGUMENTS if a quote is not closed, a backslash ends the text, there is a NUL byte, or
 * there is no word. */
int shword_split(struct str text, struct arena *a, struct str **ret, size_t *count, struct err *e);

/* Read the word that begins at the position. */
struct word shword_read(struct shlex *s, unsigned mode);

/* Read a whole text as in double quotes, except that " is a byte like any other. */
struct str shword_document(struct shlex *s, struct str text);

/* Move over the arithmetic after "((" up to and over "))". */
void shword_arithmetic(struct shlex *s);

#endif
