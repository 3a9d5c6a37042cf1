/* SPDX-License-Identifier: MIT */
/* textlines: split a text into lines and index them by hash. */

#include "patch/limits.h"
#include "patch/textlines.h"

static int fail_memory(struct err *e)
{
	return err_set(e, ERR_TOO_BUSY, "Not enough memory for this patch, try again");
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
		return fail_memory(e);
	size_t i = 0;
	for (size_t at = 0; at < all.n; at = line_after(all, at, ends))
		start[i++] = (uint32_t)at;
	start[n] = (uint32_t)all.n;
	*t = (struct textlines){ .all = all, .ends = ends, .n = n, .start = start, .arena = a };
	return 0;
}

struct str textlines_whole(const struct textlines *t, size_t i)
{
	return (struct str){ t->all.p + t->start[i], t->start[i + 1] - t->start[i] };
}

struct str textlines_text(const struct textlines *t, size_t i)
{
	struct str s = textlines_whole(t, i);
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
	const struct str s = textlines_whole(t, i);

	return s.p[s.n - 1] != '\n' && (t->ends != ENDS_ANY || s.p[s.n - 1] != '\r');
}

struct str textlines_end(const struct textlines *t)
{
	const struct str s = t->n ? textlines_whole(t, 0) : STR("");

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
		return fail_memory(e);
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
