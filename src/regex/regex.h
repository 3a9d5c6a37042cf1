/* SPDX-License-Identifier: MIT */
/*
 * regex: a pattern, compiled once, searched in linear time.
 *
 * A compiled pattern is constant and may be used by many threads; what a search changes (the
 * states of the lazy automaton) is in a regex_cache, one per thread. Patterns that need look-around
 * or back-references go to PCRE2, line by line and under a budget; all others are matched by an
 * automaton whose time is proportional to the text whatever the pattern.
 *
 * Threads that call regex_new or regex_next need a stack of 8 MB if the pattern may be one for
 * PCRE2: its just-in-time compiler recurses.
 *
 * The dialect is the union of what models write (JavaScript, PCRE, Rust): docs/patterns.md.
 */
#ifndef REGEX_REGEX_H
#define REGEX_REGEX_H

#include "base/err.h"
#include "base/str.h"
#include "regex/options.h"

struct regex;
struct regex_cache;

struct regex_match {
	size_t line, line_end; /* the lines of the match, from the first byte to the last '\n' or
				  the end of the text */
	size_t start, end;     /* the match itself; only set with regex_options.multiline */
};

/* Compile. INVALID_REGEX gives the byte offset, the reason, and the hint literal:true. */
int regex_new(struct str pattern, const struct regex_options *o, struct regex **ret, struct err *e);
void regex_free(struct regex *re);

/* The memory of one thread's searches, bounded whatever the pattern; NULL when there is no memory.
 */
struct regex_cache *regex_cache_new(const struct regex *re);
void regex_cache_free(struct regex_cache *cache);

/*
 * The next matching line at or after `from`, which is the start of a line. The text consists of
 * whole lines. Returns 1 and *ret, 0 when no further line matches, -1 with SEARCH_TIMEOUT when the
 * budget is used up.
 */
int regex_next(const struct regex *re, struct regex_cache *cache, struct str text, size_t from,
	       const struct regex_budget *budget, struct regex_match *ret, struct err *e);

/* How many lines were too long for PCRE2 (LIMIT_PCRE_LINE) and were skipped; 0 for patterns that do
 * not need it. */
uint64_t regex_lines_skipped(const struct regex_cache *cache);

#endif
