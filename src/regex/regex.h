/* SPDX-License-Identifier: MIT */
/*
 * regex: a pattern, compiled once, searched in linear time.
 *
 * A compiled pattern is constant and may be used by many threads; what a search changes (the
 * states of the lazy automaton) is in a regex_cache, one for each thread. Patterns that need
 * look-around or back-references go to PCRE2, line by line and under a budget; all others are
 * matched by an automaton whose time is proportional to the text whatever the pattern.
 *
 * Threads that call regex_new or regex_next need a stack of 8 MB when the pattern may be one for
 * PCRE2: its just-in-time compiler recurses.
 *
 * The dialect is the union of what models write (JavaScript, PCRE, Rust): docs/patterns.md.
 */
#ifndef REGEX_REGEX_H
#define REGEX_REGEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/str.h"

struct regex;
struct regex_cache;

struct regex_options {
	bool literal; /* the pattern is plain text */
	bool ignore_case;
	bool multiline; /* a match may cross newlines; \n may stand in the pattern */
};

/* When a search must stop. Looked at between lines and whenever the automaton runs out of states.
 */
struct regex_budget {
	int64_t deadline_ms; /* on the monotonic clock; IO_FOREVER for none */
	const struct cancel *cancel;
};

struct regex_match {
	size_t line,
		line_end;  /* the line(s) the match touches; line_end is at their '\n' or the end */
	size_t start, end; /* the match itself; only filled when regex_options.multiline is set */
};

/* Compile. INVALID_REGEX tells the byte offset, the reason, and the hint literal:true. */
int regex_new(struct str pattern, const struct regex_options *o, struct regex **ret, struct err *e);
void regex_free(struct regex *re);

/* Scratch memory for one thread; NULL when there is no memory. Bounded, whatever the pattern. */
struct regex_cache *regex_cache_new(const struct regex *re);
void regex_cache_free(struct regex_cache *cache);

/*
 * The next matching line at or behind `from`, which is the start of a line. The text consists of
 * whole lines. Returns 1 and *ret, 0 when no further line matches, -1 with SEARCH_TIMEOUT when the
 * budget is used up.
 */
int regex_next(const struct regex *re, struct regex_cache *cache, struct str text, size_t from,
	       const struct regex_budget *budget, struct regex_match *ret, struct err *e);

/* How many lines were not searched because PCRE2 would have had to and they were too long
 * (LIMIT_PCRE_LINE); 0 for all other patterns. */
uint64_t regex_lines_skipped(const struct regex_cache *cache);

/* Whether any text at all can be told apart from a match: false when a line without match can be
 * ruled out only by running the automaton over it. For tests. */
bool regex_has_literal(const struct regex *re);

#endif
