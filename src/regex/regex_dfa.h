/* SPDX-License-Identifier: MIT */
/*
 * regex_dfa: the automaton that reads a text once, a table look-up for each byte.
 *
 * Its states are sets of a graph's nodes, built when the text first leads there and remembered in
 * memory of bounded size; when that is full all states are forgotten and built anew. So the time
 * is proportional to the text whatever the pattern, and a pattern that keeps building states is
 * merely slow, and looks at its budget each time it forgets.
 *
 * One thread uses a dfa; the graph may be shared.
 */
#ifndef REGEX_REGEX_DFA_H
#define REGEX_REGEX_DFA_H

#include "regex/regex_nfa.h"

enum dfa_mode {
	DFA_EARLIEST, /* is there a match: stops as soon as that is known */
	DFA_FIRST,    /* the end of the match that a backtracking matcher would find */
	DFA_LONGEST,  /* reverse graphs: the farthest start of a match */
};

struct dfa;

struct dfa *dfa_new(const struct nfa *nfa, enum dfa_mode mode);
void dfa_free(struct dfa *d);

/*
 * Read text from `from` up to its end; bytes before `from` are looked at as context only. A reverse
 * dfa reads from `from` down to 0. `edge` tells whether the text really ends at its end, so that
 * $ may match there. Returns 1 and *ret: with DFA_EARLIEST the index of a byte on the matching line
 * (the text's length when only the end of the text decided), else where the match ends (begins).
 * 0 when there is no match, -1 with SEARCH_TIMEOUT.
 */
int dfa_run(struct dfa *d, struct str text, size_t from, bool edge,
	    const struct regex_budget *budget, size_t *ret, struct err *e);

/* How many states were built and how often all were forgotten, for tests of linearity. */
struct dfa_counts {
	uint64_t built, forgotten;
};
struct dfa_counts dfa_counts(const struct dfa *d);

#endif
