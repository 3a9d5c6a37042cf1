/* SPDX-License-Identifier: MIT */
/*
 * shlex: the reading head of shell.h, shared by the files that read one part of the language each.
 *
 *	shlex.c		blanks, comments, operators
 *	shquote.c	quotes, escapes, expansions, substitutions
 *	shword.c	words made of these, arrays, patterns
 *	shbrace.c	{a,b}
 *	shheredoc.c	here-documents
 *	shcompound.c	for, case, function, [[ ]]
 *	shell.c		lists and simple commands
 *
 * The head moves forward over the text; a pair of backslash and newline is never seen. Where
 * bash reads text in text (a backquoted command, a here-document's body) the head is lent to the
 * inner text and comes back: shlex_enter, shlex_leave. Trouble is sticky: after it the head stands
 * at the end of everything, and all readers run out.
 */
#ifndef POLICY_SHLEX_H
#define POLICY_SHLEX_H

#include "base/buf.h"
#include "policy/shell.h"

enum token {
	TOKEN_END,
	TOKEN_WORD,	/* a word begins here; it has not been read */
	TOKEN_REDIRECT, /* likewise a redirection operator */
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
	LIST_TEXT,  /* nothing */
	LIST_PAREN, /* ) */
	LIST_BRACE, /* } as a command, for ${ …; } */
	LIST_CASE,  /* ;; or esac */
};

struct heredoc;

struct shlex {
	const char *p, *end;
	const char *token; /* where the last token began */
	struct arena *arena;
	struct buf text;       /* words in the making, the innermost last */
	struct heredoc *first; /* here-documents whose bodies come behind the next newline */
	struct heredoc **last; /* where the next one is linked in */
	struct shell_command **tail;
	struct str chain;
	unsigned depth;
	unsigned mute;	     /* > 0: commands read now have been read before */
	bool in_paren;	     /* the list being read is that of a $( */
	size_t braces;	     /* words made by brace expansion so far */
	size_t braced;	     /* their bytes */
	const char *trouble; /* why the text cannot be followed, or NULL */
};

/* shlex.c */

/* The byte under the head, or -1 at the end; the one behind it; move over it. */
int shlex_peek(struct shlex *s);
int shlex_peek2(struct shlex *s);
int shlex_take(struct shlex *s);

/* Blanks and a comment are passed over; an operator is taken, a word or redirection is not. */
enum token shlex_token(struct shlex *s);

/* What shlex_token would return, without taking it; blanks are passed over. */
enum token shlex_ahead(struct shlex *s);

/* Take exactly these bytes if they come next. */
bool shlex_taken(struct shlex *s, struct str bytes);

/* Take the keyword if it is the next word, unquoted. */
bool shlex_keyword(struct shlex *s, struct str keyword);

void shlex_skip_newlines(struct shlex *s);

/* Does the text behind "((" end in "))" when its parentheses are paired? Bash decides so between
 * arithmetic and nested subshells. */
bool shlex_arithmetic(struct shlex *s);

bool shlex_is_meta(int c);
bool shlex_is_name(int c);

void shlex_trouble(struct shlex *s, const char *why);

/* Note something that makes the text more than one simple command. */
void shlex_chain(struct shlex *s, struct str what);

/* One level deeper; false (and trouble) at the limit. */
bool shlex_deeper(struct shlex *s);

/* Lend the head to an inner text of its own, with here-documents of its own. */
struct shlex_outer {
	const char *p, *end;
	struct heredoc *first, **last;
	bool in_paren;
};
void shlex_enter(struct shlex *s, struct str inner, struct shlex_outer *save);
void shlex_leave(struct shlex *s, const struct shlex_outer *save);

/* shquote.c */

/* A word in the making: its text is what s->text holds from `start`. */
struct making {
	size_t start;
	unsigned flags; /* SHELL_… */
	bool quoted;	/* inside double quotes, or where text is read as if it were */
};

/* A part that only the run can tell. */
void shquote_unknown(struct shlex *s, struct making *m);

/* The rest of what has just been opened: ' " ` $ and the parenthesis of $( <( >(. */
void shquote_single(struct shlex *s, struct making *m);
void shquote_double(struct shlex *s, struct making *m);
void shquote_back(struct shlex *s, struct making *m);
void shquote_dollar(struct shlex *s, struct making *m);
void shquote_commands(struct shlex *s, struct making *m);

/* One byte or expansion as it is read inside double quotes. */
void shquote_inner(struct shlex *s, struct making *m);

/* Move up to and over the closing byte; the text is dropped, the commands in it are not. */
void shquote_balanced(struct shlex *s, struct making *m, int open, int close);

/* Move over the arithmetic behind "((" up to and over "))". */
void shquote_arithmetic(struct shlex *s);

/* shword.c */

enum {
	WORD_SUBSCRIPT = 1 << 0, /* NAME[ begins a subscript up to its ] */
	WORD_COMMAND = 1 << 1,	 /* where a command begins: !( is no pattern */
};

struct word {
	struct str text, raw; /* as evaluated, as written */
	unsigned flags;	      /* SHELL_… */
	bool brace;	      /* an unquoted { stands in it */
};

/* Read the word that begins under the head. */
struct word shword_read(struct shlex *s, unsigned mode);

/* A whole text read as in double quotes, but where " is a byte like any other. */
struct str shword_document(struct shlex *s, struct str text);

/* shbrace.c */

/* Add the words (struct shell_word) that brace expansion makes of a raw one; false when it makes
 * none, because the braces are not of that kind. */
bool shbrace_expand(struct shlex *s, struct str raw, struct buf *words);

/* shheredoc.c */

/* Remember a here-document to come; its text is stored in *input. */
void shheredoc_expect(struct shlex *s, const struct word *delimiter, bool strip_tabs,
		      struct str *input);

/* A newline has been taken: read the bodies of those remembered. */
void shheredoc_read(struct shlex *s);

/* shcompound.c */

enum keyword {
	KEY_NONE,
	KEY_PLAIN,  /* a command follows */
	KEY_PREFIX, /* likewise, and it is still one simple command: ! time */
	KEY_COPROC,
	KEY_FOR,
	KEY_CASE,
	KEY_FUNCTION,
	KEY_CONDITION,
	KEY_ESAC,
	KEY_CLOSE, /* } */
};

/* Which keyword the word is where a command begins. */
enum keyword shcompound_keyword(const struct word *w);

/* Read on from a keyword to where commands begin; a whole case … esac or [[ … ]]. */
void shcompound_head(struct shlex *s, enum keyword key);

/* shell.c */

/* Read commands up to and including the end; true when that was an operator, so that another branch
 * of a case may follow. */
bool shell_list(struct shlex *s, enum list_end end);

#endif
