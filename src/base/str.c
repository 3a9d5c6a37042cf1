/* SPDX-License-Identifier: MIT */
/* str: compare, cut and read slices of bytes; distances between words. */

#include "base/str.h"

static bool blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

bool str_eq_nocase(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (str_lower(a.p[i]) != str_lower(b.p[i]))
			return false;
	return true;
}

int str_cmp(struct str a, struct str b)
{
	const size_t n = a.n < b.n ? a.n : b.n;
	const int order = n ? memcmp(a.p, b.p, n) : 0;

	if (order)
		return order;
	return (a.n > b.n) - (a.n < b.n);
}

bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq(str_upto(s, prefix.n), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq(str_from(s, s.n - suffix.n), suffix);
}

ptrdiff_t str_index(struct str s, char byte)
{
	const char *at = s.n ? memchr(s.p, byte, s.n) : NULL;

	return at ? at - s.p : -1;
}

ptrdiff_t str_find(struct str s, struct str what)
{
	if (what.n == 0)
		return 0;
	if (s.n < what.n)
		return -1;
	const char *at = memmem(s.p, s.n, what.p, what.n);
	return at ? at - s.p : -1;
}

ptrdiff_t str_find_nocase(struct str s, struct str what)
{
	for (size_t i = 0; s.n >= what.n && i <= s.n - what.n; i++)
		if (str_eq_nocase(str_upto(str_from(s, i), what.n), what))
			return (ptrdiff_t)i;
	return -1;
}

struct str str_from(struct str s, size_t from)
{
	if (from > s.n)
		from = s.n;
	return s.p ? (struct str){ s.p + from, s.n - from } : s;
}

struct str str_upto(struct str s, size_t to)
{
	return (struct str){ s.p, to < s.n ? to : s.n };
}

struct str str_trim(struct str s)
{
	while (s.n && blank(s.p[0]))
		s = str_from(s, 1);
	while (s.n && blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool str_cut(struct str s, char at, struct str *head, struct str *tail)
{
	const ptrdiff_t i = str_index(s, at);

	*head = i < 0 ? s : str_upto(s, (size_t)i);
	*tail = i < 0 ? (struct str){ NULL, 0 } : str_from(s, (size_t)i + 1);
	return i >= 0;
}

bool str_int(struct str s, int64_t *ret)
{
	const bool minus = s.n && s.p[0] == '-';
	int64_t v = 0;

	if (minus)
		s = str_from(s, 1);
	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		/* Counted downwards: INT64_MIN has no positive counterpart. */
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_sub_overflow(v, s.p[i] - '0', &v))
			return false;
	}
	if (!minus && v == INT64_MIN)
		return false;
	*ret = minus ? v : -v;
	return true;
}

bool str_truthy(struct str s)
{
	s = str_trim(s);
	return str_eq_nocase(s, STR("1")) || str_eq_nocase(s, STR("true")) ||
	       str_eq_nocase(s, STR("yes"));
}

bool str_is_listed(const char *names, struct str name)
{
	const char *from = names;

	if (!names)
		return false;
	for (const char *p = names;; p++) {
		if (*p && *p != ' ')
			continue;
		if (str_eq((struct str){ from, (size_t)(p - from) }, name))
			return true;
		if (!*p)
			return false;
		from = p + 1;
	}
}

bool str_eq_secret(struct str given, struct str secret)
{
	/* Always one pass over the given text; the length of the secret is not protected. */
	unsigned diff = given.n != secret.n;

	for (size_t i = 0; i < given.n; i++)
		diff |= (unsigned char)given.p[i] ^
			(secret.n ? (unsigned char)secret.p[i % secret.n] : 1u);
	/* The barrier keeps the compiler from leaving the loop early. */
	__asm__ volatile("" : "+r"(diff));
	return diff == 0;
}

/* A longer word is near to none. */
enum { NEAR_LONGEST = 32 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Three rows of the table are needed at a time. */
size_t near_distance(struct str a, struct str b)
{
	size_t rows[3][NEAR_LONGEST + 1] = { { 0 } };

	if (a.n > NEAR_LONGEST || b.n > NEAR_LONGEST)
		return str_eq(a, b) ? 0 : NEAR_LONGEST;
	for (size_t j = 0; j <= b.n; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			const bool same = a.p[i - 1] == b.p[j - 1];
			row[j] = least(above[j - 1] + !same, least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
				row[j] = least(row[j], two_above[j - 2] + 1);
		}
	}
	return rows[a.n % 3][b.n];
}

struct near near_to(struct str word)
{
	return (struct near){ .word = word, .distance = least(word.n / 3 + 1, 4) + 1 };
}

void near_try(struct near *n, const char *known)
{
	const size_t d = near_distance(n->word, str_of(known));

	/* If every letter is wrong the word is not near, however short it is. */
	if (d < n->distance && d < n->word.n) {
		n->distance = d;
		n->best = known;
	}
}
