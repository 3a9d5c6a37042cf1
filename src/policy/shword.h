/* SPDX-License-Identifier: MIT */
/*
 * shword: one word of shell text, with the quotes, escapes, expansions and substitutions in it.
 */
#ifndef POLICY_SHWORD_H
#define POLICY_SHWORD_H

#include "base/err.h"
#include "policy/shlex.h"

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
