/* SPDX-License-Identifier: MIT */
/*
 * base64: bytes out of the text that jw_base64 makes of them.
 */
#ifndef CLIENT_BASE64_H
#define CLIENT_BASE64_H

#include <stddef.h>

#include "base/str.h"

/* At most how many bytes a text of n characters stands for. */
static inline size_t base64_room(size_t n)
{
	return n / 4 * 3 + 3;
}

/* The bytes, at `to`; returns how many, or -1 when the text is not base64: the alphabet with + and
 * /, padded. */
ptrdiff_t base64_decode(struct str text, char *to);

#endif
