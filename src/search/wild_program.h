/* SPDX-License-Identifier: MIT */
/* wild_program: a wildcard pattern as a list of steps, which wild.c runs. */
#ifndef SEARCH_WILD_PROGRAM_H
#define SEARCH_WILD_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* A step either consumes one character or only leads on to other steps. */
enum wild_op {
	WILD_UNIT,  /* this character */
	WILD_ANY,   /* any character but '/' */
	WILD_CLASS, /* a character of class `arg` */
	WILD_STAR,  /* stays while there is no '/', and leads to the next step */
	WILD_TAIL,  /* stays whatever comes, and leads to the next step */
	WILD_DEEP,  /* leads to the next step and to the one after it */
	WILD_LOOP,  /* stays whatever comes; a '/' also leads to the next step */
	WILD_SPLIT, /* leads to the next step, and to step `arg` unless that is 0 */
	WILD_JUMP,  /* leads to step `arg` */
	WILD_END,
};

struct wild_step {
	enum wild_op op;
	uint32_t arg;
};

struct wild_range {
	uint32_t first, last;
};

struct wild_class {
	uint64_t low[4]; /* characters below 256, one bit each */
	bool negated;
	size_t range, ranges; /* the other characters: part of wild_program.ranges */
};

struct wild_program {
	struct wild_step *steps;
	size_t count;
	struct wild_class *classes;
	size_t class_count;
	struct wild_range *ranges;
	size_t range_count;
	size_t fixed; /* from this step on there are no branches */
	bool never;   /* malformed in the .gitignore dialect */
};

/* A byte that is not UTF-8, as a character. */
enum { WILD_BAD_BYTE = 0x110000 };

/* The character at the start of s, which is not empty, and its length. */
uint32_t wild_unit(struct str s, bool git, size_t *len);

/* The letter in lower case, if it is an ASCII letter and case is ignored. */
static inline uint32_t wild_fold(uint32_t c, bool nocase)
{
	return nocase && c - 'A' < 26 ? c | 0x20 : c;
}

/* Parse a pattern, in the dialect of .gitignore or in the ordinary one. */
int wild_program_init(struct wild_program *p, struct str pattern, bool git, bool nocase,
		      struct err *e);
void wild_program_done(struct wild_program *p);

#endif
