/* SPDX-License-Identifier: MIT */
/*
 * ast: a pattern as a tree.
 *
 * The parser resolves everything that belongs to the dialect (docs/patterns.md): flags are applied,
 * names are numbers, classes are sets. The automaton, the search for required text and the pattern
 * written for PCRE2 see only this tree, so all of them agree on what a pattern means.
 *
 * Without regex_options.multiline no set contains '\n' and the text anchors are line anchors. `$`
 * also matches before "\r\n".
 */
#ifndef REGEX_AST_H
#define REGEX_AST_H

#include "base/arena.h"
#include "regex/charset.h"
#include "regex/options.h"

enum ast_kind {
	AST_EMPTY,    /* matches the empty text */
	AST_CHARS,    /* one character of a set; the empty set matches nothing */
	AST_CAT,      /* all children, one after the other */
	AST_ALT,      /* one of the children, earlier ones first */
	AST_REPEAT,   /* the child, min to max times */
	AST_GROUP,    /* the child, remembered under a number */
	AST_LOOK,     /* a position */
	AST_AROUND,   /* (?=…) (?!…) (?<=…) (?<!…) (?>…): PCRE2 only */
	AST_BACKREF,  /* the text of a group again: PCRE2 only */
	AST_PROPERTY, /* \p{…}: PCRE2 only */
};

enum look {
	LOOK_LINE_START,
	LOOK_LINE_END,
	LOOK_TEXT_START,
	LOOK_TEXT_END,
	LOOK_WORD,     /* between a word character and something else */
	LOOK_NOT_WORD, /* anywhere else */
	/* Not in a pattern; the compiler uses them where a set contains CHARSET_ILL: */
	LOOK_CHAR,   /* between two characters */
	LOOK_INSIDE, /* within a character */
	LOOK_ILL,    /* after a piece of text that is not UTF-8 */
};

enum { AST_MANY = UINT32_MAX };

struct ast {
	enum ast_kind kind;
	unsigned height;	  /* levels below it; it bounds the recursion over the tree */
	struct ast *child, *last; /* first and last child */
	struct ast *next, *prev;  /* siblings */
	struct charset chars;	  /* AST_CHARS */
	uint32_t min, max;	  /* AST_REPEAT; max may be AST_MANY */
	bool lazy, possessive;	  /* AST_REPEAT */
	bool nocase;		  /* AST_BACKREF */
	uint32_t number;	  /* AST_GROUP, AST_BACKREF: from 1 */
	enum look look;		  /* AST_LOOK */
	struct str text;	  /* AST_AROUND: "?=" …; AST_PROPERTY: "\p{L}" */
};

struct ast_pattern {
	struct ast *root;
	bool pcre; /* the tree has nodes that only PCRE2 can match */
};

/* Make the node the last child. */
void ast_append(struct ast *parent, struct ast *node);

/* Drop what does not change which lines match: the repeats beyond the minimum at both ends (\w+x is
 * \wx, .*x.* is x). Not for multiline searches, which must know where a match begins, nor for
 * trees with nodes for PCRE2. */
void ast_trim(struct ast_pattern *p);

/* The tree of a pattern, or of plain text (regex_options.literal); its memory is the arena's.
 * Fails with INVALID_REGEX. */
int regex_parse(struct str pattern, const struct regex_options *o, struct arena *a,
		struct ast_pattern *ret, struct err *e);

#endif
