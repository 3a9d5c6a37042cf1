/* SPDX-License-Identifier: MIT */
/*
 * dfa: the automaton that reads a text once, with one table look-up per byte.
 *
 * Its states (states.h) are sets of a graph's nodes, built when the text first leads to them and
 * kept in memory of bounded size; when that is full, all states are forgotten and built anew. So
 * the time is proportional to the text whatever the pattern. A pattern that keeps building states
 * is merely slow, and checks its budget each time it forgets.
 *
 * One thread uses a dfa; the graph may be shared.
 */
#ifndef REGEX_DFA_H
#define REGEX_DFA_H

#include "regex/options.h"
#include "regex/states.h"

struct dfa;

struct dfa *dfa_new(const struct nfa *nfa, enum dfa_mode mode);
void dfa_free(struct dfa *d);

/*
 * Read the text from `from` to its end; bytes before `from` are only context. A reverse dfa reads
 * from `from` down to 0. `edge` says whether the text really ends at its end, so that $ may match
 * there. Returns 1 and *ret: with DFA_EARLIEST the index of a byte on the matching line (the length
 * of the text when only its end decided), else where the match ends (reverse: begins). Returns 0
 * when there is no match, -1 with SEARCH_TIMEOUT.
 */
int dfa_run(struct dfa *d, struct str text, size_t from, bool edge,
	    const struct regex_budget *budget, size_t *ret, struct err *e);

/* How many states were built and how often all were forgotten, for tests of linearity. */
struct dfa_counts {
	uint64_t built, forgotten;
};
struct dfa_counts dfa_counts(const struct dfa *d);

#endif
