/* SPDX-License-Identifier: MIT */
/* mark: counts redaction marks, to see whether a text has one that another has not. */

#include "base/limits.h"
#include "scrub/scrub.h"

/* Kinds that share a place are counted together, which at worst lets one mark pass for another. */
enum { PLACES = 256 };

/* Also as a model might write a kind from memory: in capitals, with other strokes. */
static bool is_kind(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

static void count(struct str text, int64_t by, int64_t counts[PLACES])
{
	const struct str begin = STR("[REDACTED:");

	for (ptrdiff_t at; (at = str_find(text, begin)) >= 0;) {
		unsigned hash = 0;
		size_t n = 0;
		text = str_from(text, (size_t)at + begin.n);
		for (; n < text.n && n <= LIMIT_SCRUB_PATTERN_NAME; n++) {
			if (!is_kind(text.p[n]))
				break;
			hash = hash * 31 + (unsigned char)text.p[n];
		}
		if (n > 0 && n < text.n && text.p[n] == ']')
			counts[hash % PLACES] += by;
	}
}

bool scrub_mark_added(struct str text, struct str present)
{
	int64_t counts[PLACES] = { 0 };

	count(text, 1, counts);
	count(present, -1, counts);
	for (size_t i = 0; i < PLACES; i++)
		if (counts[i] > 0)
			return true;
	return false;
}
