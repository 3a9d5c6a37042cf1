/* SPDX-License-Identifier: MIT */
/*
 * need: what every match of a pattern contains.
 *
 * \w+_init\( needs "_init(", foo|bar one of two words, [A-Z]{3}_ a run of byte sets. These are
 * found many times faster than an automaton reads, so only lines that contain them are matched.
 */
#ifndef REGEX_NEED_H
#define REGEX_NEED_H

#include "regex/ast.h"
#include "regex/kernels.h"
#include "regex/literals.h"

enum need_kind { NEED_NOTHING, NEED_LITERAL, NEED_LITERALS, NEED_BYTESETS };

#define NEED_ANY SIZE_MAX

struct need {
	enum need_kind kind;
	bool exact;    /* every line that contains it matches: no automaton is needed */
	size_t lead;   /* a match begins at most this many bytes before it; may be NEED_ANY */
	size_t length; /* NEED_LITERAL */
	union {
		struct literal literal;
		struct literals literals;
		struct bytesets bytesets;
	};
	void *memory; /* of the needles */
};

/* *n is zeroed. Returns 0, or -1 when there is no memory. */
int need_init(struct need *n, const struct ast_pattern *p);
void need_done(struct need *n);

/* The first place at or after `from` where it begins; text.n when there is none, `from` when
 * nothing is needed. */
size_t need_find(const struct need *n, struct str text, size_t from);

#endif
