/* SPDX-License-Identifier: MIT */
/*
 * shape: what one sort of secret looks like: how it begins, and a function that judges the rest.
 *
 * Every shape begins with a literal text of at least SHAPE_KEY bytes, so that all shapes can be
 * searched for at once (regex/literals.h). The judge sees the text from that beginning on. It says
 * MORE only when the missing bytes could change its verdict, and only for a bounded number of
 * bytes; NO and HIT are final. That makes it safe for streams.
 *
 * A judge is written as if the whole text were there. It reads through a struct rest, which notices
 * when it looks beyond the known text, and ends with rest_verdict: a verdict that depends on bytes
 * that have not arrived yet becomes MORE.
 */
#ifndef SCRUB_SHAPE_H
#define SCRUB_SHAPE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"
#include "regex/literals.h"
#include "scrub/kind.h"

enum { SHAPE_KEY = 3 };

/* Sets that shapes are made of, as bits 0-63 and 64-127. */
#define BYTES_DIGIT  UINT64_C(0x03ff000000000000)
#define BYTES_UPPER  UINT64_C(0x07fffffe)
#define BYTES_LOWER  UINT64_C(0x07fffffe00000000)
#define BYTES_LETTER (BYTES_UPPER | BYTES_LOWER)
#define BYTE(c)	     (UINT64_C(1) << ((c)&63)) /* for the half that the byte belongs to */

/* Letters and digits with + / = and with - _, as in the two alphabets of base64. */
extern const struct byteset bytes_base64, bytes_dashed;

enum shape_verdict { NO, MORE, HIT };

/* What is before the name that a place ends. */
enum shape_lead {
	LEAD_OTHER,    /* something else */
	LEAD_COLON,    /* a colon, as after the name of a file that has the line */
	LEAD_INDENTED, /* its line begins with blanks, "- " or "# " */
	LEAD_LINE,     /* nothing, the mark of a diff's line, or "export", "ENV" and their like */
	LEAD_DECLARED, /* "declare -x" begins its line: a value that needs quotes has them */
};

/* Where a shape is tried. */
struct shape_place {
	struct str text; /* from the beginning of the shape to the last byte known */
	bool final;	 /* nothing follows text */
	char before[2];	 /* the bytes before it, nearest first; NUL where there is no byte */
	enum shape_lead lead;
};

/* What is replaced, counted from the beginning of the shape. */
struct redaction {
	size_t from, to;
	const struct byteset *swallow; /* these bytes after it belong to it as well */
	bool key_body;		       /* a private key's body begins at to */
};

struct shape;

typedef enum shape_verdict shape_judge(const struct shape *s, const struct shape_place *at,
				       struct redaction *ret);

struct shape {
	struct str begins;
	shape_judge *rest;
	const struct byteset *set; /* what may follow begins: the rest of a token; NULL: any byte */
	const char *name;	   /* in the mark; NULL: the kind's */
	uint16_t min, max;	   /* bytes of set; max 0: all that follow */
	uint8_t key;		   /* offset of its rarest SHAPE_KEY bytes in begins */
	uint8_t kind;		   /* enum scrub_kind */
	uint8_t flags;
};

enum {
	SHAPE_NOCASE = 1 << 0, /* ASCII letters of begins match in both cases; it is lower case */
	SHAPE_APART = 1 << 1,  /* no letter, digit or underscore comes before it */
	SHAPE_DIGITS = 1 << 2, /* at least two digits, which names do not have */
	SHAPE_KEEP = 1 << 3,   /* begins stays, only what follows is replaced */
	SHAPE_WEAK = 1 << 4,   /* another shape wins if it begins where this would replace */
	SHAPE_WHOLE = 1 << 5,  /* nothing follows: begins is the secret */
};

/* The well-known shapes; at the same place the first wins. */
extern const struct shape shapes_known[];
extern const size_t shapes_known_count;

/* Whether the shape is at the place. */
shape_judge shape_at;

/* Judges of the rest: tokens (shape.c), "password = value" (assignment.c), others (credential.c).
 */
shape_judge shape_token, shape_assignment, shape_jwt, shape_discord, shape_url, shape_scheme,
	shape_private_key;

/* How much at the start of text belongs to a private key's body. *left is how long the body may
 * still be, and becomes 0 where it ends: after its last line, before a byte that no key contains,
 * or at the cap. While *left is not 0, what is not counted may be the beginning of the last line:
 * wait for more. */
size_t private_key_body(struct str text, bool final, size_t *left);

/* The text after a shape's beginning, read byte by byte. */
struct rest {
	struct str text;
	size_t i;
	bool final;
	bool beyond; /* the reader looked beyond the known text */
};

static inline struct rest rest_from(const struct shape_place *at, size_t i)
{
	return (struct rest){ .text = at->text, .i = i, .final = at->final };
}

/* The next byte, as an unsigned char; -1 at the end. */
static inline int rest_peek(struct rest *r)
{
	if (r->i < r->text.n)
		return (unsigned char)r->text.p[r->i];
	r->beyond |= !r->final;
	return -1;
}

/* Skip one byte if it is this one. */
static inline bool rest_skip(struct rest *r, char byte)
{
	if (rest_peek(r) != (unsigned char)byte)
		return false;
	r->i++;
	return true;
}

/* Skip bytes of the set, at most max; returns how many. */
static inline size_t rest_run(struct rest *r, const struct byteset *set, size_t max)
{
	const size_t from = r->i;

	while (r->i - from < max && rest_peek(r) >= 0 && byteset_has(set, r->text.p[r->i]))
		r->i++;
	return r->i - from;
}

/* Skip blanks and tabs; false when there are too many for an assignment or a header. */
static inline bool rest_blanks(struct rest *r)
{
	enum { MANY = 32 };
	const struct byteset blanks = { { BYTE(' ') | BYTE('\t') } };

	return rest_run(r, &blanks, MANY) < MANY;
}

/* Skip a quote, which may be escaped, if there is one. */
static inline void rest_quote(struct rest *r)
{
	(void)rest_skip(r, '\\');
	if (!rest_skip(r, '"'))
		(void)rest_skip(r, '\'');
}

static inline enum shape_verdict rest_verdict(const struct rest *r, enum shape_verdict v)
{
	return r->beyond ? MORE : v;
}

/* rules: all shapes that a scrub looks for, and the finder of their keys; for scrub.c. */
struct scrub {
	struct arena memory;  /* of everything the shapes point to */
	struct shape *shapes; /* configured secrets, patterns, known shapes; the first wins */
	size_t count;
	struct literals keys;	/* finds the keys; needle k is that of shapes[k] */
	size_t reach;		/* the largest offset of a key in its shape */
	struct byteset initial; /* the first bytes of all shapes */
};

/* *r is zeroed, and released with rules_done even when this fails. */
int rules_init(struct scrub *r, const struct str *secrets, size_t secret_count, struct str patterns,
	       struct err *e);
void rules_done(struct scrub *r);

/* The first place at or after from where a shape may have begun whose key is cut off by the end of
 * the text, or the start of the character that this place is inside of; text.n if there is no such
 * place. */
size_t rules_tail(const struct scrub *r, struct str text, size_t from);

#endif
