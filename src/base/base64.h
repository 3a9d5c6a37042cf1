/* SPDX-License-Identifier: MIT */
/* base64: bytes as text, with + and / and padding, and back. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

#include "base/str.h"

/* The length of the text for n bytes. */
static inline size_t base64_length(size_t n)
{
	return (n + 2) / 3 * 4;
}

/* Write the text, base64_length(bytes.n) characters, to `to`. */
void base64_encode(struct str bytes, char *to);

/* The most bytes that a text of n characters stands for. */
static inline size_t base64_room(size_t n)
{
	return n / 4 * 3 + 3;
}

/* Write the bytes to `to`. Returns how many they are, or -1 when the text is not exactly what
 * base64_encode writes: another character, no padding, or an unused bit that is set. Then the bytes
 * at `to` mean nothing. */
ptrdiff_t base64_decode(struct str text, char *to);

#endif
