/* SPDX-License-Identifier: MIT */
/* textlines: compare lines byte for byte, or without what models often get wrong; split a text into
 * lines and index them by hash. */

#include "patch/textlines.h"

#include "patch/hunk.h"
#include "patch/limits.h"

/* The ASCII character for a typographic one at the start of s, and its length in *n; 0 if it is
 * none of those. */
static char ascii_of(struct str s, size_t *n)
{
	const unsigned char *p = (const unsigned char *)s.p;

	if (s.n >= 2 && p[0] == 0xc2 && p[1] == 0xa0) {
		*n = 2;
		return ' '; /* U+00A0 */
	}
	if (s.n < 3 || (p[0] != 0xe2 && p[0] != 0xe3))
		return 0;
	const unsigned code = (p[0] & 15U) << 12 | (p[1] & 63U) << 6 | (p[2] & 63U);
	*n = 3;
	if ((p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80)
		return 0;
	if ((code >= 0x2010 && code <= 0x2015) || code == 0x2212)
		return '-';
	if (code >= 0x2018 && code <= 0x201b)
		return '\'';
	if (code >= 0x201c && code <= 0x201f)
		return '"';
	if ((code >= 0x2002 && code <= 0x200a) || code == 0x202f || code == 0x205f ||
	    code == 0x3000)
		return ' ';
	return 0;
}

/* The next byte of the line on the loosest level; -1 at its end. */
static int next_loose(struct str *s)
{
	size_t n = 1;

	if (s->n == 0)
		return -1;
	const char ascii = ascii_of(*s, &n);
	const int byte = (unsigned char)(ascii ? ascii : s->p[0]);
	*s = str_from(*s, ascii ? n : 1);
	return byte;
}

static bool is_space(int byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Without white space at both ends, typographic spaces included. */
static struct str trim_loose(struct str s)
{
	for (struct str next = s; is_space(next_loose(&next));)
		s = next;
	for (;;) {
		size_t n = 0;
		s = patch_right_trim(s);
		/* A typographic space has two or three bytes. */
		if (s.n >= 2 && ascii_of(str_from(s, s.n - 2), &n) == ' ' && n == 2)
			s.n -= 2;
		else if (s.n >= 3 && ascii_of(str_from(s, s.n - 3), &n) == ' ' && n == 3)
			s.n -= 3;
		else
			return s;
	}
}

static struct str trimmed(struct str s, enum match_level level)
{
	return level == MATCH_EXACT	 ? s
	       : level == MATCH_TRAILING ? patch_right_trim(s)
					 : trim_loose(s);
}

bool match_equal(struct str a, struct str b, enum match_level level)
{
	a = trimmed(a, level);
	b = trimmed(b, level);
	if (level != MATCH_LOOSE)
		return str_eq(a, b);
	for (;;) {
		const int x = next_loose(&a), y = next_loose(&b);
		if (x != y)
			return false;
		if (x < 0)
			return true;
	}
}

uint32_t match_hash(struct str s, enum match_level level)
{
	uint64_t hash = 0xcbf29ce484222325;

	s = trimmed(s, level);
	if (level == MATCH_LOOSE) {
		for (int byte; (byte = next_loose(&s)) >= 0;)
			hash = (hash ^ (unsigned)byte) * 0x100000001b3;
	} else {
		for (size_t i = 0; i < s.n; i++)
			hash = (hash ^ (unsigned char)s.p[i]) * 0x100000001b3;
	}
	return (uint32_t)(hash ^ hash >> 32);
}

/* The offset after the line that begins at `from`. */
static size_t line_after(struct str all, size_t from, enum textlines_ends ends)
{
	const char *p = all.p + from;
	const size_t left = all.n - from;
	const char *newline = memchr(p, '\n', left);
	const size_t n = newline ? (size_t)(newline - p) + 1 : left;

	if (ends != ENDS_ANY)
		return from + n;
	const char *cr = memchr(p, '\r', n);
	/* CR LF is one end. */
	if (!cr || (newline && cr + 1 == newline))
		return from + n;
	return from + (size_t)(cr - p) + 1;
}

int textlines_init(struct textlines *t, struct str all, enum textlines_ends ends, struct arena *a,
		   struct err *e)
{
	size_t n = 0;

	for (size_t at = 0; at < all.n; at = line_after(all, at, ends))
		n++;
	if (n > LIMIT_PATCH_FILE_LINES || all.n > UINT32_MAX)
		return err_set(e, ERR_FILE_TOO_LARGE,
			       "The file has %zu lines; files of more than %d cannot be patched", n,
			       LIMIT_PATCH_FILE_LINES);
	uint32_t *start = arena_alloc(a, (n + 1) * sizeof *start);
	if (!start)
		return patch_fail_memory(e);
	size_t i = 0;
	for (size_t at = 0; at < all.n; at = line_after(all, at, ends))
		start[i++] = (uint32_t)at;
	start[n] = (uint32_t)all.n;
	*t = (struct textlines){ .all = all, .ends = ends, .n = n, .start = start, .arena = a };
	return 0;
}

/* A line with its end. */
static struct str whole_line(const struct textlines *t, size_t i)
{
	return (struct str){ t->all.p + t->start[i], t->start[i + 1] - t->start[i] };
}

struct str textlines_text(const struct textlines *t, size_t i)
{
	struct str s = whole_line(t, i);
	const bool newline = s.n && s.p[s.n - 1] == '\n';

	if (newline)
		s.n--;
	if (s.n && s.p[s.n - 1] == '\r' &&
	    (t->ends == ENDS_ANY || (t->ends == ENDS_CRLF && newline)))
		s.n--;
	return s;
}

bool textlines_is_open(const struct textlines *t, size_t i)
{
	const struct str s = whole_line(t, i);

	return s.p[s.n - 1] != '\n' && (t->ends != ENDS_ANY || s.p[s.n - 1] != '\r');
}

struct str textlines_end(const struct textlines *t)
{
	const struct str s = t->n ? whole_line(t, 0) : STR("");

	if (str_ends(s, STR("\r\n")))
		return STR("\r\n");
	return t->ends == ENDS_ANY && str_ends(s, STR("\r")) ? STR("\r") : STR("\n");
}

int textlines_need(struct textlines *t, enum match_level level, struct err *e)
{
	struct textlines_index *x = &t->index[level];
	size_t buckets = 64;

	if (x->hash)
		return 0;
	while (buckets < t->n)
		buckets *= 2;
	uint32_t *hash = arena_array(t->arena, t->n + 1, sizeof *hash);
	uint32_t *order = arena_array(t->arena, t->n + 1, sizeof *order);
	uint32_t *first = arena_array(t->arena, buckets + 2, sizeof *first);
	if (!hash || !order || !first)
		return patch_fail_memory(e);
	const uint32_t mask = (uint32_t)buckets - 1;
	/* Counting sort: first the sizes, two places further; then the beginnings, one further. */
	for (size_t i = 0; i < t->n; i++) {
		hash[i] = match_hash(textlines_text(t, i), level);
		first[(hash[i] & mask) + 2]++;
	}
	for (size_t i = 2; i < buckets + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < t->n; i++)
		order[first[(hash[i] & mask) + 1]++] = (uint32_t)i;
	*x = (struct textlines_index){ hash, order, first, mask };
	return 0;
}

struct textlines_found textlines_find(const struct textlines *t, enum match_level level,
				      uint32_t hash)
{
	const struct textlines_index *x = &t->index[level];
	const uint32_t *begin = &x->first[hash & x->mask];

	return (struct textlines_found){ x->order + begin[0], begin[1] - begin[0] };
}

size_t textlines_before(struct textlines_found found, size_t line)
{
	size_t low = 0, high = found.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (found.line[middle] < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
