/* SPDX-License-Identifier: MIT */
/* base64: three bytes, or four characters, at a time. */

#include "base/base64.h"

#include <stdint.h>

/* One more than the value of a character; 0: it has none. */
static const uint8_t values[256] = {
	/* clang-format off */
	['A'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
	14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
	['a'] = 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
	40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52,
	['0'] = 53, 54, 55, 56, 57, 58, 59, 60, 61, 62,
	['+'] = 63, ['/'] = 64,
	/* clang-format on */
};

void base64_encode(struct str bytes, char *to)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = (const unsigned char *)bytes.p;

	for (size_t i = 0; i < bytes.n; i += 3, to += 4) {
		const size_t left = bytes.n - i;
		const uint32_t group = (uint32_t)in[i] << 16 |
				       (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
				       (left > 2 ? in[i + 2] : 0);
		to[0] = digit[group >> 18];
		to[1] = digit[group >> 12 & 63];
		to[2] = left > 1 ? digit[group >> 6 & 63] : '=';
		to[3] = left > 2 ? digit[group & 63] : '=';
	}
}

/* Four characters as 24 bits; UINT32_MAX if one of them has no value. */
static uint32_t four(const char *p)
{
	const uint32_t a = values[(unsigned char)p[0]] - 1u, b = values[(unsigned char)p[1]] - 1u;
	const uint32_t c = values[(unsigned char)p[2]] - 1u, d = values[(unsigned char)p[3]] - 1u;

	return (a | b | c | d) < 64 ? a << 18 | b << 12 | c << 6 | d : UINT32_MAX;
}

static char *put(char *to, uint32_t bits)
{
	to[0] = (char)(bits >> 16);
	to[1] = (char)(bits >> 8);
	to[2] = (char)bits;
	return to + 3;
}

ptrdiff_t base64_decode(struct str text, char *to)
{
	size_t pad = 0, i = 0;
	char *at = to;

	if (text.n % 4)
		return -1;
	while (pad < 2 && pad < text.n && text.p[text.n - 1 - pad] == '=')
		pad++;
	for (; i + 4 <= text.n - pad; i += 4) {
		const uint32_t bits = four(text.p + i);
		if (bits == UINT32_MAX)
			return -1;
		at = put(at, bits);
	}
	if (pad == 0)
		return at - to;
	const char last[] = { text.p[i], text.p[i + 1], pad == 1 ? text.p[i + 2] : 'A', 'A' };
	const uint32_t bits = four(last);
	if (bits == UINT32_MAX || bits & ((1u << 8 * pad) - 1))
		return -1;
	return put(at, bits) - to - (ptrdiff_t)pad;
}
