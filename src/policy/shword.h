/* SPDX-License-Identifier: MIT */
/*
 * shword: one word of shell text, with the quotes, escapes, expansions and substitutions in it.
 *
 * With s->literal it is the splitter of words.h, to which $ ` ( and the like are bytes.
 */
#ifndef POLICY_SHWORD_H
#define POLICY_SHWORD_H

#include "policy/shlex.h"

enum {
	WORD_SUBSCRIPT = 1 << 0, /* NAME[ begins a subscript up to its ] */
	WORD_COMMAND = 1 << 1,	 /* a command begins here: !( is not a pattern */
};

struct word {
	struct str text, raw; /* as evaluated, as written */
	unsigned flags;	      /* SHELL_… */
};

/* Read the word that begins at the position. */
struct word shword_read(struct shlex *s, unsigned mode);

/* Read a whole text as in double quotes, except that " is a byte like any other. */
struct str shword_document(struct shlex *s, struct str text);

/* Move over the arithmetic after "((" up to and over "))". */
void shword_arithmetic(struct shlex *s);

#endif
