/* SPDX-License-Identifier: MIT */
/*
 * regex_pcre: patterns that no automaton can match: look-around, back-references, possessive
 * quantifiers, \p{…}. They go to PCRE2, which backtracks, so everything about it is bounded:
 *
 * - Lines over LIMIT_PCRE_LINE bytes are skipped and counted.
 * - Behind every repeat of variable length stands a callout, which PCRE2 passes each time it tries
 *   another length: there the steps of a line are counted and the budget is looked at.
 * - PCRE2's own limits hold for steps and memory.
 * - A pattern whose compiled form is large is not given to the just-in-time compiler.
 * - The pattern is written from the tree (regex_unparse): no verb, callout or \C gets through.
 *
 * The just-in-time compiler recurses. Threads that compile or match need a stack of 8 MB.
 */
#ifndef REGEX_REGEX_PCRE_H
#define REGEX_REGEX_PCRE_H

#include "regex/regex_ast.h"

struct pcre;
struct pcre_cache; /* what one thread's matching changes */

/* Compile. INVALID_REGEX tells PCRE2's reason, or that the program was built without PCRE2. */
int pcre_new(const struct ast_pattern *p, struct arena *a, struct pcre **ret, struct err *e);
void pcre_free(struct pcre *p);

struct pcre_cache *pcre_cache_new(const struct pcre *p);
void pcre_cache_free(struct pcre_cache *c);

/* Lines that were too long. */
uint64_t pcre_lines_skipped(const struct pcre_cache *c);

/* Whether the line, which is without its newline, matches: 1, 0, or -1 with SEARCH_TIMEOUT or for
 * want of memory. */
int pcre_match(const struct pcre *p, struct pcre_cache *c, struct str line,
	       const struct regex_budget *budget, struct err *e);

#endif
