/* SPDX-License-Identifier: MIT */
/*
 * matcher: the patterns of a command line, as one that the server searches for; and where it matches
 * in a line, for colours and -o.
 */
#ifndef CLI_MATCHER_H
#define CLI_MATCHER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "regex/regex.h"

struct matcher_options {
	bool literal;	  /* the patterns are plain text */
	bool ignore_case; /* always … */
	bool smart_case;  /* … or if no pattern has an upper-case letter */
	bool word, line;  /* only whole words, only whole lines */
};

struct matcher {
	const char *pattern; /* of them all; literal and ignore_case say how it is meant */
	bool literal, ignore_case;
	struct regex *regex; /* NULL until matcher_compile */
	struct regex_cache *cache;
};

/* Make one pattern of several, in the arena. */
int matcher_init(struct matcher *m, const struct matcher_options *o, const char *const *patterns,
		 size_t count, struct arena *memory, struct err *e);

/* Make it ready for matcher_next. INVALID_REGEX also for patterns that only the server can try:
 * those with look-around. */
int matcher_compile(struct matcher *m, struct err *e);

/* Find the next match in a line that is not empty, from *from on, and move *from behind it. False if
 * there is none, or the matcher is not compiled. */
bool matcher_next(struct matcher *m, struct str line, size_t *from, struct regex_match *ret);
void matcher_done(struct matcher *m);

#endif
