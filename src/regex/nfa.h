/* SPDX-License-Identifier: MIT */
/*
 * nfa: a pattern as a graph over bytes.
 *
 * A node consumes one byte of a set, forks, tests the position, or says that the pattern has
 * matched. Characters are spelled out as UTF-8. A graph is constant once it is compiled; it never
 * has more than LIMIT_REGEX_NODES nodes.
 *
 * Bytes that no set of the graph tells apart form one class: a table has one column per class. One
 * more class, `classes`, is the end of the text.
 */
#ifndef REGEX_NFA_H
#define REGEX_NFA_H

#include "base/bytes.h"
#include "base/err.h"
#include "regex/ast.h"
#include "regex/limits.h"

enum nfa_op { NFA_SET, NFA_FORK, NFA_LOOK, NFA_MATCH };

struct nfa_node {
	uint8_t op;
	uint8_t look;	  /* NFA_LOOK: enum look */
	uint16_t set;	  /* NFA_SET: index into sets */
	uint16_t to;	  /* the next node; NFA_FORK: the preferred one */
	uint16_t to_last; /* NFA_FORK: the other one */
};

struct nfa {
	struct nfa_node *nodes;
	size_t n, cap;
	struct byteset *sets;
	size_t n_sets, cap_sets;
	uint16_t start;
	bool reverse;	/* reads the text backwards */
	unsigned looks; /* bit (1 << enum look) for each kind that occurs */
	uint8_t class_of[256];
	uint8_t byte_of[256]; /* any byte of a class */
	unsigned classes;
};

enum nfa_direction {
	NFA_SEARCH,  /* the match may begin anywhere */
	NFA_REVERSE, /* the text is read backwards, from the match's end */
};

/* Whether a tree, with its repeats written out, is small enough to be compiled. An estimate, made
 * before ast_trim, so that the bound depends only on the pattern as it was written. */
bool nfa_fits(const struct ast *root);

/* The error for a tree that does not fit. Returns -1. */
int nfa_too_large(struct err *e);

/* Compile a tree that has no nodes for PCRE2. Fails with INVALID_REGEX when the graph would be too
 * large. */
int nfa_compile(struct nfa *n, const struct ast *root, enum nfa_direction way, struct err *e);
void nfa_done(struct nfa *n);

/* What an automaton remembers of the last byte it read, besides the decoder's state: which sort of
 * byte it is to the position after it. */
enum side { SIDE_OTHER, SIDE_WORD, SIDE_NEWLINE, SIDE_EDGE };

/* The side that a byte (UTF8_END: the edge of the text) makes; SIDE_OTHER where no node of the
 * graph depends on it. */
enum side nfa_side(const struct nfa *n, unsigned byte);

/* Whether the position between what was read and the next byte is one that `look` names. */
bool nfa_look(const struct nfa *n, enum look look, enum side read, enum utf8_state utf8,
	      unsigned next);

#endif
