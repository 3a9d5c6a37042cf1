/* SPDX-License-Identifier: MIT */
/*
 * regex_piece: text that must occur, in one of two forms: a few words, one of which occurs, or a
 * run of byte sets.
 *
 * Both can be put one behind the other and can stand for "this or that"; the walk over the tree in
 * regex_need.c is the same for both and goes through struct piece_form. A piece is constant once
 * made, and in the arena. NULL is the piece of which nothing is known; operations answer NULL when
 * the result would be too large or would not help.
 */
#ifndef REGEX_REGEX_PIECE_H
#define REGEX_REGEX_PIECE_H

#include "base/arena.h"
#include "regex/charset.h"
#include "regex/kernels.h"

enum {
	PIECE_WORDS = LITERALS_MAX,
	PIECE_LENGTH = 32, /* bytes of a word; longer ones are not found faster */
	PIECE_RUN = 16,	   /* sets of a run */
};

struct piece {
	unsigned n;	   /* words, or sets of the run */
	bool anycase;	   /* words: a letter stood for both cases: all words are lower case … */
	bool onecase;	   /* … and a letter stood for one case only */
	struct str *words; /* either */
	struct byteset *run; /* or */
};

enum piece_side { PIECE_LEFT, PIECE_RIGHT };

struct piece_form {
	/* The piece that is the empty text. */
	const struct piece *(*empty)(struct arena *a);
	/* One character of a set. */
	const struct piece *(*chars)(const struct charset *set, struct arena *a);
	const struct piece *(*cat)(const struct piece *x, const struct piece *y, struct arena *a);
	/* One of two that begin (or end) at the same place. */
	const struct piece *(*alt)(const struct piece *x, const struct piece *y,
				   enum piece_side side, struct arena *a);
	/* Whether alt of two whole matches is a whole match: runs must be equally long for that. */
	bool (*alike)(const struct piece *x, const struct piece *y);
	/* How rare: the logarithm of the share of places that have it; 0 is everywhere. */
	double (*rarity)(const struct piece *x);
};

extern const struct piece_form piece_words, piece_run;

#endif
