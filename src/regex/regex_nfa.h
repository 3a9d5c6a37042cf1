/* SPDX-License-Identifier: MIT */
/*
 * regex_nfa: a pattern as a graph over bytes.
 *
 * A node consumes one byte of a set, forks, asks about the position, or says that the pattern has
 * matched. Characters are spelled out as UTF-8. A graph is constant once it is compiled; it never
 * has more than LIMIT_REGEX_NODES nodes.
 *
 * Bytes that no set of the graph tells apart are one class: tables are as wide as there are
 * classes. One more class, `classes`, is the end of the text.
 */
#ifndef REGEX_REGEX_NFA_H
#define REGEX_REGEX_NFA_H

#include <stdint.h>

#include "regex/kernels.h"
#include "regex/regex_ast.h"

enum nfa_op { NFA_SET, NFA_FORK, NFA_LOOK, NFA_MATCH };

struct nfa_node {
	uint8_t op;
	uint8_t look;	  /* NFA_LOOK: enum look */
	uint16_t set;	  /* NFA_SET: index into sets */
	uint16_t to;	  /* where it goes on; NFA_FORK: the preferred way */
	uint16_t to_last; /* NFA_FORK: the other way */
};

struct nfa {
	struct nfa_node *nodes;
	size_t n, cap;
	struct byteset *sets;
	size_t n_sets, cap_sets;
	uint16_t start;
	bool reverse;	/* reads the text from its end */
	unsigned looks; /* bit (1 << enum look) for each kind that occurs */
	uint8_t class_of[256];
	uint8_t byte_of[256]; /* any byte of a class */
	unsigned classes;
};

enum nfa_direction {
	NFA_SEARCH,  /* the match may begin anywhere */
	NFA_REVERSE, /* the text is read backwards, from the match's end */
};

/* Whether a tree, with its repeats written out, is small enough to be compiled. An estimate; it
 * makes the bound one of the pattern as it was written, whatever is simplified later. */
bool nfa_fits(const struct ast *root);

/* The error for one that does not. Returns -1. */
int nfa_too_large(struct err *e);

/* Compile a tree without PCRE2's nodes. Fails with INVALID_REGEX when the graph would be too large.
 */
int nfa_compile(struct nfa *n, const struct ast *root, enum nfa_direction way, struct err *e);
void nfa_done(struct nfa *n);

#endif
