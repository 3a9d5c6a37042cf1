/* SPDX-License-Identifier: MIT */
/* near: distances between words, three rows of the table at a time. */

#include "base/near.h"

enum { LONGEST = 32 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t near_distance(struct str a, struct str b)
{
	size_t rows[3][LONGEST + 1] = { { 0 } };

	if (a.n > LONGEST || b.n > LONGEST)
		return str_eq(a, b) ? 0 : LONGEST;
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
