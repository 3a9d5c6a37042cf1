/* SPDX-License-Identifier: MIT */
/*
 * dfa: the automaton that reads a text once, with one table look-up per byte.
 *
 * A state is a list of graph nodes together with what must be known about the byte before it.
 * States are built when the text first leads to them and kept in memory of bounded size
 * (LIMIT_REGEX_STATES); when that is full, all states are forgotten and built anew. So the time is
 * proportional to the text whatever the pattern. A pattern that keeps building states is merely
 * slow, and checks its budget each time it forgets.
 *
 * The table `next` has a row for each state. An entry is the index of the next state's row, or has
 * STATE_SPECIAL set. Positions (\b, $ …) are decided when the byte after them is known, so a match
 * is noticed up to one byte late.
 *
 * One thread uses a dfa; the graph may be shared.
 */
#ifndef REGEX_DFA_H
#define REGEX_DFA_H

#include "base/bytes.h"
#include "base/err.h"
#include "regex/ast.h"
#include "regex/kernels.h"
#include "regex/limits.h"
#include "regex/options.h"

/* nfa: a pattern as a graph over bytes.
 *
 * A node consumes one byte of a set, forks, tests the position, or says that the pattern has
 * matched. Characters are spelled out as UTF-8. A graph is constant once it is compiled; it never
 * has more than LIMIT_REGEX_NODES nodes.
 *
 * Bytes that no set of the graph tells apart form one class: a table has one column per class. One
 * more class, `classes`, is the end of the text.
 */

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

enum dfa_mode {
	DFA_EARLIEST, /* is there a match: stops as soon as that is known */
	DFA_FIRST,    /* the end of the match that a backtracking matcher would find */
	DFA_LONGEST,  /* reverse graphs: the farthest start of a match */
};

struct state;

struct dfa {
	const struct nfa *nfa;
	enum dfa_mode mode;
	uint32_t stride;
	uint32_t *next;
	struct state *list;
	size_t n, cap;
	uint16_t *ids;
	size_t n_ids, cap_ids;
	uint32_t *table; /* hash table: index into list plus one */
	size_t cap_table;
	uint32_t starts[4];	  /* entry for each side, or STATE_UNKNOWN */
	struct bytesets *skip[4]; /* for states that skip: the bytes that end it */
	uint32_t skip_row[4];
	unsigned skips;
	uint64_t built, forgotten; /* states; how often all were forgotten */
	/* scratch: */
	uint16_t *now, *then, *keep, *stack;
	size_t n_now, n_then;
	uint32_t *seen;
	uint32_t round;
	uint64_t *bits;
};

/* 0, or -1 when there is no memory; dfa_done is due in both cases. */
int dfa_init(struct dfa *d, const struct nfa *nfa, enum dfa_mode mode);
void dfa_done(struct dfa *d);

/*
 * Read the text from `from` to its end; bytes before `from` are only context. A reverse dfa reads
 * from `from` down to 0. `edge` says whether the text really ends at its end, so that $ may match
 * there. Returns 1 and *ret: with DFA_EARLIEST the index of a byte on the matching line (the length
 * of the text when only its end decided), else where the match ends (reverse: begins). Returns 0
 * when there is no match, -1 with SEARCH_TIMEOUT.
 */
int dfa_run(struct dfa *d, struct str text, size_t from, bool edge,
	    const struct regex_budget *budget, size_t *ret, struct err *e);

#endif
