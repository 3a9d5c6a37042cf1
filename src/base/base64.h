/* SPDX-License-Identifier: MIT */
/*
 * base64: bytes out of the text that jw_base64 makes of them.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

#include "base/str.h"

/* At most how many bytes a text of n characters stands for. */
static inline size_t base64_room(size_t n)
{
	return n / 4 * 3 + 3;
}

/* The bytes, at `to`; returns how many, or -1 when the text is not what jw_base64 makes: the
 * alphabet with + and /, padded, and no bit set that stands for nothing. */
ptrdiff_t base64_decode(struct str text, char *to);

#endif
