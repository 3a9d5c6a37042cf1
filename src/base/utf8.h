/* SPDX-License-Identifier: MIT */
/*
 * utf8: well-formed text and what to do with bytes that are not.
 *
 * Unicode says what is well-formed (table 3-7): no overlong forms, no surrogates, nothing above
 * U+10FFFF. An ill-formed sequence becomes one U+FFFD per maximal subpart, as in web browsers and
 * Node, so that both sides of the wire see the same text.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* The length of the well-formed character at the start of s, which must not be empty. 0 if it is
 * ill-formed; then *bad is the length of the maximal subpart that one U+FFFD replaces. */
size_t utf8_next(struct str s, size_t *bad);

/* How many bytes from the start are plain ASCII (also NUL and control characters). */
size_t utf8_ascii(struct str s);

bool utf8_valid(struct str s);

/* The code point of a well-formed character, n bytes long. */
uint32_t utf8_decode(const char *p, size_t n);

/* The length of s without an unfinished character at its end: where a text may be cut, or where a
 * stream must wait for more bytes. Ill-formed bytes are not unfinished. */
size_t utf8_whole(struct str s);

/* How many bytes at the start of s can only be the rest of a character that was cut before s. */
size_t utf8_cut_rest(struct str s);

/* A text that arrives in pieces. Zero is its start. */
struct utf8_stream {
	char held[4]; /* an unfinished character */
	size_t n;
};

/*
 * Cut the next part off the front of *piece: whole characters, and ill-formed sequences that the
 * next piece cannot change. Empty once *piece is used up; its unfinished character is then held.
 *
 *	while ((part = utf8_take(&stream, &piece)).n)
 *
 * A part is valid until the next call.
 */
struct str utf8_take(struct utf8_stream *s, struct str *piece);

/* The unfinished character at the end of the stream; the stream is at its start again. */
struct str utf8_rest(struct utf8_stream *s);

/* The length of s with its ill-formed sequences replaced. */
size_t utf8_replaced_length(struct str s);

/* Write a code point; returns the number of bytes (1 to 4). Surrogates and values above U+10FFFF
 * are written as U+FFFD. */
size_t utf8_encode(uint32_t code_point, char out[4]);

/* How many columns of a terminal a character takes: 0 for a mark that joins the character before it
 * (an accent, a joiner, a variation selector), 2 for a wide one (ideographs, Hangul, emoji), else 1:
 * by Unicode 14, without regard to a locale. Control characters have no width of their own; they
 * count as 1. */
unsigned width_of(uint32_t c);

#endif
