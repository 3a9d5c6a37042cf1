/* SPDX-License-Identifier: MIT */
/*
 * factor: text that every match contains, in one of two forms: a few words, one of which occurs,
 * or a run of byte sets.
 *
 * Both can be concatenated and can stand for "this or that"; the analysis of the tree in need.c is
 * the same for both and goes through struct factor_form. A factor is constant once made, and in the
 * arena. NULL is the factor of which nothing is known; an operation returns NULL when its result
 * would be too large or would not help.
 */
#ifndef REGEX_FACTOR_H
#define REGEX_FACTOR_H

#include "base/arena.h"
#include "regex/charset.h"
#include "regex/kernels.h"

enum {
	FACTOR_WORDS = 64,
	FACTOR_LENGTH = 32, /* bytes of a word; longer ones are not found faster */
	FACTOR_RUN = 16,    /* sets of a run */
};

struct factor {
	unsigned n;	     /* words, or sets of the run */
	bool anycase;	     /* words: some letter matches both cases; all words are lower case */
	bool onecase;	     /* words: some letter matches one case only */
	struct str *words;   /* either */
	struct byteset *run; /* or */
};

enum factor_side { FACTOR_LEFT, FACTOR_RIGHT };

struct factor_form {
	/* The empty text. */
	const struct factor *(*empty)(struct arena *a);
	/* One character of a set. */
	const struct factor *(*chars)(const struct charset *set, struct arena *a);
	const struct factor *(*cat)(const struct factor *x, const struct factor *y,
				    struct arena *a);
	/* One of two that begin (FACTOR_RIGHT: end) at the same place. */
	const struct factor *(*alt)(const struct factor *x, const struct factor *y,
				    enum factor_side side, struct arena *a);
	/* Whether alt of two whole matches is a whole match: runs must have equal lengths. */
	bool (*alike)(const struct factor *x, const struct factor *y);
	/* How rare: the logarithm of the share of places that have it; 0 is everywhere. */
	double (*rarity)(const struct factor *x);
};

extern const struct factor_form factor_words, factor_run;

#endif
