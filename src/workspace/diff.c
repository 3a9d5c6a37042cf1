/* SPDX-License-Identifier: MIT */
/* diff: a greedy shortest edit script over lines, then its display. */

#include "workspace/diff.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/bytes.h"

enum {
	CONTEXT = 4,	  /* unchanged lines shown around a change */
	AROUND = 3,	  /* the same in a unified diff */
	MAX_EDITS = 1000, /* after that many differences the rest is shown as replaced */
};

struct text_lines {
	struct str *line; /* each with its newline, if it has one */
	int64_t n;
};

/* One step of the edit script, chained backwards. */
struct step {
	const struct step *before;
	int64_t old_at, new_at, count;
	char sign; /* '-', '+' */
};

/* The furthest point reached on a diagonal. */
struct reach {
	bool valid;
	int64_t old_at;
	const struct step *script;
};

static int split(struct str s, struct arena *a, struct text_lines *ret)
{
	int64_t n = 0;

	ret->line = arena_alloc(a, (bytes_count(s, '\n') + 1) * sizeof *ret->line);
	if (!ret->line)
		return -1;
	for (size_t at = 0; at < s.n;) {
		const char *newline = memchr(s.p + at, '\n', s.n - at);
		const size_t next = newline ? (size_t)(newline - s.p) + 1 : s.n;
		ret->line[n++] = (struct str){ s.p + at, next - at };
		at = next;
	}
	ret->n = n;
	return 0;
}

static int64_t follow(const struct text_lines *x, const struct text_lines *y, int64_t i, int64_t j)
{
	while (i < x->n && j < y->n && str_eq(x->line[i], y->line[j])) {
		i++;
		j++;
	}
	return i;
}

static const struct step *add_step(struct arena *a, const struct step *before, char sign,
				   int64_t old_at, int64_t new_at, int64_t count)
{
	struct step *s = arena_alloc(a, sizeof *s);

	if (s)
		*s = (struct step){ before, old_at, new_at, count, sign };
	return s;
}

/* How many lines both texts have in common at their ends. */
static int64_t same_end(const struct text_lines *x, const struct text_lines *y)
{
	int64_t n = 0;

	while (n < x->n && n < y->n && str_eq(x->line[x->n - 1 - n], y->line[y->n - 1 - n]))
		n++;
	return n;
}

/* How many of those come after a point. */
static int64_t end_after(const struct text_lines *x, const struct text_lines *y, int64_t end,
			 int64_t i, int64_t j)
{
	const int64_t left = x->n - i < y->n - j ? x->n - i : y->n - j;

	return end < left ? end : left;
}

/* There are too many edits: everything from a point to the common end is removed and added. */
static const struct step *replace_rest(const struct text_lines *x, const struct text_lines *y,
				       int64_t end, struct reach from, int64_t k, struct arena *a)
{
	const int64_t i = from.old_at, j = from.old_at - k;
	const int64_t tail = end_after(x, y, end, i, j);
	const int64_t x_end = x->n - tail, y_end = y->n - tail;
	const struct step *s = from.script;

	if (i < x_end)
		s = add_step(a, s, '-', i, j, x_end - i);
	if (j < y_end)
		s = add_step(a, s, '+', x_end, j, y_end - j);
	return s;
}

/*
 * One round of the search: from each point reached with d - 1 edits, make one more edit and then
 * follow equal lines. Diagonal k is old line minus new line. True when the end of both is reached.
 */
static bool advance(const struct text_lines *x, const struct text_lines *y, struct reach *v,
		    int64_t d, struct arena *a, const struct step **script)
{
	for (int64_t k = -d; k <= d; k += 2) {
		const struct reach *removing = &v[k - 1], *adding = &v[k + 1];
		const bool can_add = adding->valid && adding->old_at - (k + 1) < y->n;
		const bool can_remove = removing->valid && removing->old_at < x->n;
		if (!can_add && !can_remove) {
			v[k].valid = false;
			continue;
		}
		struct reach r = { .valid = true };
		if (!can_remove || (can_add && removing->old_at < adding->old_at)) {
			const int64_t j = adding->old_at - (k + 1);
			r.old_at = adding->old_at;
			r.script = add_step(a, adding->script, '+', r.old_at, j, 1);
		} else {
			const int64_t j = removing->old_at - (k - 1);
			r.old_at = removing->old_at + 1;
			r.script = add_step(a, removing->script, '-', removing->old_at, j, 1);
		}
		r.old_at = follow(x, y, r.old_at, r.old_at - k);
		v[k] = r;
		if (r.old_at >= x->n && r.old_at - k >= y->n) {
			*script = r.script;
			return true;
		}
	}
	return false;
}

static int edit_script(const struct text_lines *x, const struct text_lines *y, struct arena *a,
		       const struct step **ret)
{
	const int64_t most = x->n + y->n < MAX_EDITS ? x->n + y->n : MAX_EDITS;
	struct reach *all = arena_array(a, (size_t)(2 * most + 3), sizeof *all);

	if (!all)
		return -1;
	struct reach *v = all + most + 1;
	v[0] = (struct reach){ .valid = true, .old_at = follow(x, y, 0, 0) };
	if (v[0].old_at == x->n && x->n == y->n)
		return 0;
	for (int64_t d = 1; d <= most; d++)
		if (advance(x, y, v, d, a, ret))
			return a->failed ? -1 : 0;
	/* Give up at the point that leaves the least to replace. */
	const int64_t end = same_end(x, y);
	int64_t best = 0, least = INT64_MAX;
	for (int64_t k = -most; k <= most; k += 2) {
		const int64_t i = v[k].old_at, j = v[k].old_at - k;
		const int64_t left = x->n - i + y->n - j - 2 * end_after(x, y, end, i, j);
		if (v[k].valid && left < least) {
			best = k;
			least = left;
		}
	}
	*ret = replace_rest(x, y, end, v[best], best, a);
	return a->failed ? -1 : 0;
}

/* The script from its start, as an array. */
static const struct step **in_order(const struct step *last, struct arena *a, size_t *count)
{
	size_t n = 0;

	for (const struct step *s = last; s; s = s->before)
		n++;
	const struct step **steps = arena_alloc(a, (n + 1) * sizeof *steps);
	*count = n;
	for (const struct step *s = last; s && steps; s = s->before)
		steps[--n] = s;
	return steps;
}

struct show {
	const struct text_lines *x, *y;
	struct buf *out;
	int width;
	int64_t shown; /* how many old lines are done, shown or left out */
};

static void show_line(struct show *s, char sign, int64_t number, struct str line)
{
	if (line.n && line.p[line.n - 1] == '\n')
		line.n--;
	if (s->out->n)
		buf_addc(s->out, '\n');
	buf_addf(s->out, "%c%*lld ", sign, s->width, (long long)number);
	buf_add(s->out, line);
}

static void show_gap(struct show *s)
{
	buf_addf(s->out, "%s %*s ...", s->out->n ? "\n" : "", s->width, "");
}

/* Show the unchanged old lines up to `end`, which may follow a change, precede one, or both. */
static void show_same(struct show *s, int64_t end, bool follows, bool precedes)
{
	const int64_t head = follows ? CONTEXT : 0, tail = precedes ? CONTEXT : 0;
	const int64_t n = end - s->shown;

	for (int64_t i = 0; i < n; i++) {
		if (n > head + tail && i == head) {
			show_gap(s);
			i = n - tail;
			if (i >= n)
				break;
		}
		show_line(s, ' ', s->shown + i + 1, s->x->line[s->shown + i]);
	}
	s->shown = end;
}

/* Show a change: adjacent steps, the removed lines before the added ones. */
static size_t show_change(struct show *s, const struct step **steps, size_t from, size_t count)
{
	size_t to = from;
	int64_t old_at = steps[from]->old_at;

	while (to < count && steps[to]->old_at == old_at) {
		if (steps[to]->sign == '-')
			old_at += steps[to]->count;
		to++;
	}
	for (const char *sign = "-+"; *sign; sign++)
		for (size_t i = from; i < to; i++)
			for (int64_t j = 0; steps[i]->sign == *sign && j < steps[i]->count; j++) {
				const int64_t at =
					*sign == '-' ? steps[i]->old_at : steps[i]->new_at;
				const struct text_lines *l = *sign == '-' ? s->x : s->y;
				show_line(s, *sign, at + j + 1, l->line[at + j]);
			}
	s->shown = old_at;
	return to;
}

/* Split both versions into lines, and find the steps from one to the other, in order. */
static int compare(struct str old, struct str new, struct arena *a, struct text_lines *x,
		   struct text_lines *y, const struct step ***steps, size_t *count, struct err *e)
{
	const struct step *script = NULL;

	*count = 0;
	if (split(old, a, x) < 0 || split(new, a, y) < 0 || edit_script(x, y, a, &script) < 0 ||
	    !(*steps = in_order(script, a, count)))
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to compare the two versions");
	return 0;
}

int diff_lines(struct str old, struct str new, struct arena *a, struct buf *out, struct err *e)
{
	struct text_lines x, y;
	const struct step **steps;
	size_t count;

	if (compare(old, new, a, &x, &y, &steps, &count, e) < 0)
		return -1;
	/* The width of the larger number of lines, counting a final empty line. */
	const size_t old_n = bytes_count(old, '\n') + 1, new_n = bytes_count(new, '\n') + 1;
	struct show s = { .x = &x, .y = &y, .out = out };
	s.width = snprintf(NULL, 0, "%zu", old_n > new_n ? old_n : new_n);
	for (size_t i = 0; i < count;) {
		show_same(&s, steps[i]->old_at, i > 0, true);
		i = show_change(&s, steps, i, count);
	}
	show_same(&s, x.n, count > 0, false);
	if (out->failed)
		return err_set(e, ERR_FILE_TOO_LARGE, "The change is too large to be shown");
	return 0;
}

struct diff_size diff_size(struct str diff)
{
	struct diff_size n = { 0 };
	struct str line;

	while (diff.n) {
		(void)str_cut(diff, '\n', &line, &diff);
		n.added += line.n && line.p[0] == '+';
		n.removed += line.n && line.p[0] == '-';
	}
	return n;
}

/* A line that stands for lines left out: it is the only kind without a number. */
static bool is_gap(struct str line)
{
	return str_starts(line, STR(" ")) && str_eq(str_trim(line), STR("..."));
}

struct diff_head diff_cut(struct str diff, int64_t max_lines, int64_t max_bytes)
{
	struct diff_head whole = { 0 }, part = { 0 };
	struct str rest = diff, line;
	int64_t lines = 0, hunks = 0;
	bool inside = false;

	while (rest.n) {
		const bool last = !str_cut(rest, '\n', &line, &rest);
		const size_t end = last ? diff.n : (size_t)(line.p - diff.p) + line.n;
		const bool fits = ++lines <= max_lines && (int64_t)end <= max_bytes;
		if (is_gap(line) && inside)
			inside = false;
		else if (!is_gap(line) && !inside) {
			inside = true;
			hunks++;
		}
		if (fits)
			part = (struct diff_head){ .text = str_upto(diff, end), .hunks = hunks };
		else if (hunks == 1 && inside)
			part.lines++;
		/* A hunk is whole at the gap after it, or at the end. */
		if (fits && (!inside || last))
			whole = part;
		if (last)
			break;
	}
	struct diff_head head = whole.hunks ? whole : part;
	/* Of a hunk of which nothing is shown, no lines are missing. */
	head.lines = head.hunks ? head.lines : 0;
	head.hunks = hunks - head.hunks;
	return head;
}

static void unified_line(struct buf *out, char sign, struct str line)
{
	buf_addc(out, sign);
	buf_add(out, line);
	if (line.n == 0 || line.p[line.n - 1] != '\n')
		buf_add(out, STR("\n\\ No newline at end of file\n"));
}

/* "12,3": where a range of lines begins, and how long it is. */
static void unified_range(struct buf *out, char sign, int64_t at, int64_t n)
{
	buf_addf(out, "%c%lld", sign, (long long)(n ? at + 1 : at));
	if (n != 1)
		buf_addf(out, ",%lld", (long long)n);
}

/* One hunk: the steps from `from` to `to`, and the lines around them. */
static void unified_hunk(const struct text_lines *x, const struct text_lines *y,
			 const struct step **steps, size_t from, size_t to, struct buf *out)
{
	const struct step *first = steps[from], *last = steps[to - 1];
	const int64_t above = first->old_at < AROUND ? first->old_at : AROUND;
	const int64_t old_end = last->old_at + (last->sign == '-' ? last->count : 0);
	const int64_t new_end = last->new_at + (last->sign == '+' ? last->count : 0);
	const int64_t below = x->n - old_end < AROUND ? x->n - old_end : AROUND;
	const int64_t old_at = first->old_at - above, new_at = first->new_at - above;

	buf_add(out, STR("@@ "));
	unified_range(out, '-', old_at, old_end + below - old_at);
	buf_addc(out, ' ');
	unified_range(out, '+', new_at, new_end + below - new_at);
	buf_add(out, STR(" @@\n"));
	int64_t at = old_at;
	for (size_t i = from; i < to; i++) {
		for (; at < steps[i]->old_at; at++)
			unified_line(out, ' ', x->line[at]);
		for (int64_t k = 0; k < steps[i]->count; k++)
			unified_line(out, steps[i]->sign,
				     steps[i]->sign == '-' ? x->line[steps[i]->old_at + k]
							   : y->line[steps[i]->new_at + k]);
		if (steps[i]->sign == '-')
			at += steps[i]->count;
	}
	for (; at < old_end + below; at++)
		unified_line(out, ' ', x->line[at]);
}

int diff_unified(struct str old, struct str new, struct arena *a, struct buf *out, struct err *e)
{
	struct text_lines x, y;
	const struct step **steps;
	size_t count;

	if (compare(old, new, a, &x, &y, &steps, &count, e) < 0)
		return -1;
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count; to++) {
			const struct step *s = steps[to - 1];
			const int64_t end = s->old_at + (s->sign == '-' ? s->count : 0);
			if (steps[to]->old_at - end > 2 * (int64_t)AROUND)
				break;
		}
		unified_hunk(&x, &y, steps, from, to, out);
	}
	if (out->failed)
		return err_set(e, ERR_FILE_TOO_LARGE, "The change is too large to be shown");
	return 0;
}

enum { STEP = 64 }; /* bytes that are compared at once */

/* How many bytes two texts have in common at their starts. */
static size_t same_start(struct str x, struct str y)
{
	const size_t most = x.n < y.n ? x.n : y.n;
	size_t n = 0;

	while (n + STEP <= most && memcmp(x.p + n, y.p + n, STEP) == 0)
		n += STEP;
	while (n < most && x.p[n] == y.p[n])
		n++;
	return n;
}

/* How many they have in common at their ends. */
static size_t same_tail(struct str x, struct str y)
{
	const size_t most = x.n < y.n ? x.n : y.n;
	size_t n = 0;

	while (n + STEP <= most &&
	       memcmp(x.p + (x.n - n - STEP), y.p + (y.n - n - STEP), STEP) == 0)
		n += STEP;
	while (n < most && x.p[x.n - 1 - n] == y.p[y.n - 1 - n])
		n++;
	return n;
}

/* Leave out whole lines that both texts begin or end with: most changes are small. */
static void trim(struct str *x, struct str *y)
{
	const size_t start = same_start(*x, *y);
	const char *last = start ? memrchr(x->p, '\n', start) : NULL;
	const size_t cut = last ? (size_t)(last - x->p) + 1 : 0;

	*x = str_from(*x, cut);
	*y = str_from(*y, cut);
	const struct str tail = str_from(*x, x->n - same_tail(*x, *y));
	const ptrdiff_t first = str_index(tail, '\n');
	const size_t whole = first < 0 ? 0 : tail.n - (size_t)first - 1;
	x->n -= whole;
	y->n -= whole;
}

static uint64_t hash_of(struct str line)
{
	return XXH3_64bits(line.p, line.n) | 1; /* 0 is a free place of a table */
}

/* Where the hash is in a table, whose size is a power of two, or where it belongs. */
static uint64_t *place_of(uint64_t *table, size_t size, uint64_t hash)
{
	size_t at = (hash >> 1) & (size - 1);

	while (table[at] && table[at] != hash)
		at = (at + 1) & (size - 1);
	return &table[at];
}

static uint64_t *hash_all(const struct text_lines *x, struct arena *a)
{
	uint64_t *const hash = arena_alloc(a, ((size_t)x->n + 1) * sizeof *hash);

	for (int64_t i = 0; hash && i < x->n; i++)
		hash[i] = hash_of(x->line[i]);
	return hash;
}

/* Keep the lines of x that y has, too: no comparison can pair the others. */
static int keep_shared(const struct text_lines *x, const uint64_t *x_hash,
		       const struct text_lines *y, const uint64_t *y_hash, struct arena *a,
		       struct text_lines *ret)
{
	size_t size = 2;

	while (size < 2 * (size_t)y->n)
		size *= 2;
	uint64_t *const table = arena_array(a, size, sizeof *table);
	ret->line = arena_array(a, (size_t)x->n + 1, sizeof *ret->line);
	ret->n = 0;
	if (!table || !ret->line)
		return -1;
	for (int64_t i = 0; i < y->n; i++)
		*place_of(table, size, y_hash[i]) = y_hash[i];
	for (int64_t i = 0; i < x->n; i++)
		if (*place_of(table, size, x_hash[i]))
			ret->line[ret->n++] = x->line[i];
	return 0;
}

/* The length of the shortest edit script; -1 if it is longer than MAX_EDITS or there is no memory.
 */
static int64_t count_edits(const struct text_lines *x, const struct text_lines *y, struct arena *a)
{
	const int64_t most = x->n + y->n < MAX_EDITS ? x->n + y->n : MAX_EDITS;
	int64_t *const all = arena_array(a, (size_t)(2 * most + 3), sizeof *all);

	if (!all)
		return -1;
	int64_t *const v = all + most + 1; /* the furthest old line on each diagonal */
	for (int64_t d = 0; d <= most; d++) {
		for (int64_t k = -d; k <= d; k += 2) {
			int64_t i = d == 0					 ? 0
				    : k == -d || (k != d && v[k - 1] < v[k + 1]) ? v[k + 1]
										 : v[k - 1] + 1;
			/* Beyond the end of a text there is nothing to follow. */
			if (i <= x->n && i - k <= y->n)
				i = follow(x, y, i, i - k);
			v[k] = i;
			if (i >= x->n && i - k >= y->n)
				return d;
		}
	}
	return -1;
}

bool diff_count(struct str old, struct str new, struct arena *a, struct diff_size *ret)
{
	struct text_lines x, y, shared_x, shared_y;

	trim(&old, &new);
	if (split(old, a, &x) < 0 || split(new, a, &y) < 0)
		return false;
	const uint64_t *const x_hash = hash_all(&x, a), *const y_hash = hash_all(&y, a);
	if (!x_hash || !y_hash || keep_shared(&x, x_hash, &y, y_hash, a, &shared_x) < 0)
		return false;
	if (shared_x.n == 0) {
		*ret = (struct diff_size){ .added = y.n, .removed = x.n };
		return true;
	}
	if (keep_shared(&y, y_hash, &x, x_hash, a, &shared_y) < 0)
		return false;
	const int64_t edits = count_edits(&shared_x, &shared_y, a);
	if (edits < 0)
		return false;
	/* What is neither removed nor added is in both. */
	const int64_t same = (shared_x.n + shared_y.n - edits) / 2;
	*ret = (struct diff_size){ .added = y.n - same, .removed = x.n - same };
	return true;
}
