/* SPDX-License-Identifier: MIT */
/* variants: encodes a secret in the ways it may leave. */

#include "scrub/variants.h"

#include "base/buf.h"
#include "base/jw.h"
#include "base/limits.h"

enum { ENCODED_MAX = LIMIT_SCRUB_SECRET_MAX * 6 + 16 };

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* With `lead` unknown bytes in front of the secret in its group of three. */
static void add_base64(struct buf *to, struct str s, size_t lead, const char *digits)
{
	const size_t first = (lead * 8 + 5) / 6, end = (lead + s.n) * 8 / 6;

	for (size_t i = first; i < end; i++) {
		/* Six bits, which lie in one byte or in two. */
		const size_t bit = i * 6 - lead * 8, at = bit / 8;
		const unsigned two = (unsigned)(unsigned char)s.p[at] << 8 |
				     (at + 1 < s.n ? (unsigned char)s.p[at + 1] : 0);
		buf_addc(to, digits[two >> (10 - bit % 8) & 63]);
	}
}

static void add_url(struct buf *to, struct str s, const char *hex, bool form)
{
	for (size_t i = 0; i < s.n; i++) {
		const unsigned char c = (unsigned char)s.p[i];
		const unsigned char l = c | 0x20;
		const bool plain = (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') ||
				   (c && strchr("-._~", c));
		if (plain) {
			buf_addc(to, s.p[i]);
		} else if (form && c == ' ') {
			buf_addc(to, '+');
		} else {
			buf_addc(to, '%');
			buf_addc(to, hex[c >> 4]);
			buf_addc(to, hex[c & 15]);
		}
	}
}

static void encode(struct buf *to, struct str s, unsigned way)
{
	switch (way) {
	case 0:
		buf_add(to, s);
		break;
	case 1:
		add_url(to, s, "0123456789ABCDEF", false);
		break;
	case 2:
		add_url(to, s, "0123456789abcdef", false);
		break;
	case 3:
		add_url(to, s, "0123456789ABCDEF", true);
		break;
	case 4:
		jw_escape(to, s);
		break;
	default:
		add_base64(to, s, (way - 5) % 3, way < 8 ? standard : url_safe);
		break;
	}
}

size_t variants_of(struct str secret, struct arena *a, struct str variants[VARIANTS_MAX])
{
	AUTO_BUF b = { .max = ENCODED_MAX };
	size_t n = 0;

	for (unsigned way = 0; way < VARIANTS_MAX; way++) {
		bool known = false;
		buf_reset(&b, ENCODED_MAX);
		encode(&b, secret, way);
		for (size_t i = 0; i < n; i++)
			known |= str_eq(variants[i], buf_str(&b));
		if (!known)
			variants[n++] = arena_dup(a, buf_str(&b));
	}
	return b.failed || a->failed ? 0 : n;
}
