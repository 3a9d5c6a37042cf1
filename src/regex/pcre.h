/* SPDX-License-Identifier: MIT */
/*
 * pcre: patterns that no automaton can match: look-around, back-references, possessive
 * quantifiers, \p{…}. They go to PCRE2, which backtracks, so everything about it is bounded:
 *
 * - Lines over LIMIT_PCRE_LINE bytes are skipped and counted.
 * - A callout follows every repeat of variable length. PCRE2 passes it each time it tries another
 *   length; there the steps of a line are counted and the budget is checked.
 * - PCRE2's own limits apply to steps and memory.
 * - A pattern whose compiled form is large is not given to the just-in-time compiler.
 * - The pattern is written from the tree (pcre_write): no verb, callout or \C gets through.
 *
 * The just-in-time compiler recurses. Threads that compile or match need a stack of 8 MB.
 */
#ifndef REGEX_PCRE_H
#define REGEX_PCRE_H

#include "regex/ast.h"
#include "regex/options.h"

struct pcre;
struct pcre_cache; /* what one thread's matching changes */

/* Compile. INVALID_REGEX gives PCRE2's reason, or says that the program was built without PCRE2. */
int pcre_new(const struct ast_pattern *p, struct arena *a, struct pcre **ret, struct err *e);
void pcre_free(struct pcre *p);

struct pcre_cache *pcre_cache_new(const struct pcre *p);
void pcre_cache_free(struct pcre_cache *c);

/* How many lines were too long. */
uint64_t pcre_lines_skipped(const struct pcre_cache *c);

/* Whether the line, given without its newline, matches: 1, 0, or -1 with SEARCH_TIMEOUT or when
 * there is no memory. */
int pcre_match(const struct pcre *p, struct pcre_cache *c, struct str line,
	       const struct regex_budget *budget, struct err *e);

/* The pattern as PCRE2 gets it, in memory of the arena: written from the tree, so nothing of the
 * caller's text reaches PCRE2. If counted, a callout follows every repeat of variable length. */
int pcre_write(const struct ast_pattern *p, bool counted, struct arena *a, struct str *ret,
	       struct err *e);

#endif
