/* SPDX-License-Identifier: MIT */
/*
 * shape: what one sort of secret looks like: how it begins, and a function that judges the rest.
 *
 * Every shape begins with a literal text of at least SHAPE_KEY bytes, so that all of them can be
 * looked for at once (scrub/finder.h). The function sees the text from that beginning on. It says
 * MORE only when the bytes that are missing could change its verdict, and for a bounded number of
 * bytes only; NO and HIT are final. That is all it takes to be safe for streams.
 */
#ifndef SCRUB_SHAPE_H
#define SCRUB_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/byteset.h"
#include "base/str.h"
#include "scrub/scrub.h"

enum { SHAPE_KEY = 3 };

/* Sets that shapes are made of, as bits 0-63 and 64-127. */
#define BYTES_DIGIT  UINT64_C(0x03ff000000000000)
#define BYTES_UPPER  UINT64_C(0x07fffffe)
#define BYTES_LOWER  UINT64_C(0x07fffffe00000000)
#define BYTES_LETTER (BYTES_UPPER | BYTES_LOWER)
#define BYTE(c)	     (UINT64_C(1) << ((c)&63)) /* to be put into the half it belongs to */

enum verdict { NO, MORE, HIT };

/* Where a shape is tried. */
struct place {
	struct str text; /* from the beginning of the shape to the last byte known */
	bool final;	 /* nothing follows text */
	char before[2];	 /* the bytes in front, nearest first; NUL: there is none */
};

/* What is replaced, counted from the beginning of the shape. */
struct find {
	size_t from, to;
	const struct byteset *swallow; /* these bytes behind it belong to it as well */
	bool key_body;		       /* a private key's body begins at to */
};

struct shape {
	struct str begins;
	enum verdict (*rest)(const struct shape *s, const struct place *at, struct find *ret);
	const struct byteset *set; /* what may follow begins, the rest of a token; NULL: any */
	const char *name;	   /* in the mark; NULL: the kind's */
	uint16_t min, max;	   /* bytes of set; max 0: all that follow */
	uint8_t key;		   /* where in begins its rarest SHAPE_KEY bytes stand */
	uint8_t kind;		   /* enum scrub_kind */
	uint8_t flags;
};

enum {
	SHAPE_NOCASE = 1 << 0, /* ASCII letters of begins match in both cases; it is lower case */
	SHAPE_APART = 1 << 1,  /* no letter, digit or underscore stands in front */
	SHAPE_DIGITS = 1 << 2, /* two digits at least, as names have not */
	SHAPE_KEEP = 1 << 3,   /* begins stays, only what follows is replaced */
	SHAPE_WEAK = 1 << 4,   /* gives way to another shape that lies where it would replace */
	SHAPE_WHOLE = 1 << 5,  /* nothing follows: begins is the secret */
};

/* The well-known shapes; at the same place the first wins. */
extern const struct shape shapes_known[];
extern const size_t shapes_known_count;

/* Whether the shape is there. */
enum verdict shape_at(const struct shape *s, const struct place *at, struct find *ret);

/* The judges of the rest. */
enum verdict shape_token(const struct shape *s, const struct place *at, struct find *ret);
enum verdict shape_jwt(const struct shape *s, const struct place *at, struct find *ret);
enum verdict shape_discord(const struct shape *s, const struct place *at, struct find *ret);
enum verdict shape_url(const struct shape *s, const struct place *at, struct find *ret);
enum verdict shape_scheme(const struct shape *s, const struct place *at, struct find *ret);
enum verdict shape_private_key(const struct shape *s, const struct place *at, struct find *ret);
enum verdict shape_assignment(const struct shape *s, const struct place *at, struct find *ret);

static inline char lower_case(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

#endif
