/* SPDX-License-Identifier: MIT */
/*
 * str: bytes seen, not owned.
 *
 * A pointer and a length, passed by value. Slicing is free, NUL is a byte like any other, and
 * nothing here allocates. The bytes have another owner and must outlive the str.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })

/* For "%.*s": printf's precision is an int, so a longer str is clipped. */
#define STR_FMT(s) ((int)((s).n > 0x7fffffff ? 0x7fffffff : (s).n)), (s).p

static inline struct str str_of(const char *c)
{
	return (struct str){ c, c ? strlen(c) : 0 };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* An ASCII letter in lower case; any other byte as it is. */
static inline char str_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* ASCII letters compare without case; all other bytes exactly. */
bool str_eq_nocase(struct str a, struct str b);

/* Byte order, shorter first when one begins with the other: <0, 0, >0. */
int str_cmp(struct str a, struct str b);

bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);

/* The offset of the first such byte or text, or -1. */
ptrdiff_t str_index(struct str s, char byte);
ptrdiff_t str_find(struct str s, struct str what);
ptrdiff_t str_find_nocase(struct str s, struct str what); /* ASCII letters without case */

/* Everything from (and including) offset from, or up to offset to; clipped to the str. */
struct str str_from(struct str s, size_t from);
struct str str_upto(struct str s, size_t to);

/* Without ASCII white space at both ends. */
struct str str_trim(struct str s);

/* Split at the first `at`. True if there is one; else head is all of s and tail is empty. */
bool str_cut(struct str s, char at, struct str *head, struct str *tail);

/* The value of a hexadecimal digit, or -1. */
static inline int str_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A whole str as a decimal integer, optional minus, no blanks, no overflow. */
bool str_int(struct str s, int64_t *ret);

/* Whether it is "1", "true" or "yes", in any case and with blanks around it. */
bool str_truthy(struct str s);

/* Is the name among names, which are separated by blanks (or NULL)? The policy asks for many lists
 * with every command, so this is written to be fast. */
bool str_is_listed(const char *names, struct str name);

/* Compare without revealing by the time it takes where the two differ. */
bool str_eq_secret(struct str given, struct str secret);

/*
 * near: the word that was probably meant.
 *
 *	struct near near = near_to(STR("workspcae"));
 *	for (each known word)
 *		near_try(&near, word);
 *	if (near.best) … did you mean near.best?
 */

struct near {
	struct str word;
	const char *best; /* the nearest so far; NULL if none is near enough */
	size_t distance;  /* of the best, or the smallest that is too far */
};

/* How many letters must be changed, added, removed or swapped with the next one to turn one word
 * into the other. Different words are 32 apart if one of them is longer than 32 bytes. */
size_t near_distance(struct str a, struct str b);

/* Begin a search for the nearest word. About a third of the letters may be wrong. */
struct near near_to(struct str word);

/* Offer a word, which must outlive the search. */
void near_try(struct near *n, const char *known);

#endif
