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

/* A pattern, or a part of one, and how to read it. */
struct wild_source {
	struct str pattern;
	size_t from, to; /* the part */
	bool git;	 /* in the dialect of .gitignore */
	bool nocase;
	bool is_not; /* the part is a "!(…)": what matches must not match its alternatives */
};

/* Parse it. Only a part that is_not has a "!(…)"; the program is that of its alternatives. */
int wild_program_init(struct wild_program *p, const struct wild_source *source, struct err *e);

/* Find the first "!(…)" of the pattern, from s->from on, that is not within other parentheses or
 * braces. *open is the offset of its "!", *close that of its ")". */
bool wild_find_not(const struct wild_source *s, size_t *open, size_t *close);
void wild_program_done(struct wild_program *p);

#endif
