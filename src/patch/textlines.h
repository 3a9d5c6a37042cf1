/* SPDX-License-Identifier: MIT */
/*
 * textlines: the lines of a file that is patched, and where each of them occurs.
 *
 * The index of a level is made when it is first asked for, in time linear in the text; afterwards
 * the places of a line are found without going through the text.
 */
#ifndef PATCH_TEXTLINES_H
#define PATCH_TEXTLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/*
 * When a line of a patch and a line of a file are the same.
 *
 * There are three levels, each looser than the one before. Equality on a level is transitive, and
 * equal lines have the same hash on that level.
 */

enum match_level {
	MATCH_EXACT,	/* byte for byte */
	MATCH_TRAILING, /* white space at the end is ignored */
	MATCH_LOOSE, /* also at the start; typographic quotes, dashes and spaces are ASCII ones */
	MATCH_LEVELS,
};

bool match_equal(struct str a, struct str b, enum match_level level);
uint32_t match_hash(struct str s, enum match_level level);

enum textlines_ends {
	ENDS_LF,   /* a line ends with LF; a CR before it is part of the text */
	ENDS_CRLF, /* with LF or CR LF */
	ENDS_ANY,  /* with LF, CR LF or CR */
};

struct textlines_index {
	uint32_t *hash;	 /* of each line; NULL: the index is not made yet */
	uint32_t *order; /* line numbers by bucket, ascending in each */
	uint32_t *first; /* where in `order` each bucket begins; one more than there are buckets */
	uint32_t mask;	 /* of a hash: its bucket */
};

struct textlines {
	struct str all;
	enum textlines_ends ends;
	size_t n;	 /* lines; the last one can be without an end */
	uint32_t *start; /* of each line; start[n] is the end of the text */
	struct textlines_index index[MATCH_LEVELS];
	struct arena *arena;
};

/* Find the lines of a text. 0; or -1 with FILE_TOO_LARGE or TOO_BUSY. */
int textlines_init(struct textlines *t, struct str all, enum textlines_ends ends, struct arena *a,
		   struct err *e);

/* A line without its end. */
struct str textlines_text(const struct textlines *t, size_t i);

/* Whether the line has no end, which only the last one can have. */
bool textlines_is_open(const struct textlines *t, size_t i);

/* The end that added lines get: that of the first line, or LF. */
struct str textlines_end(const struct textlines *t);

/* Make the index of a level. 0, or -1 with TOO_BUSY. */
int textlines_need(struct textlines *t, enum match_level level, struct err *e);

/* The numbers of the lines, from 0 and ascending, among which are all with this hash. The index
 * must have been made. */
struct textlines_found {
	const uint32_t *line;
	size_t n;
};

struct textlines_found textlines_find(const struct textlines *t, enum match_level level,
				      uint32_t hash);

/* How many of these numbers are smaller than `line`. */
size_t textlines_before(struct textlines_found found, size_t line);

#endif
