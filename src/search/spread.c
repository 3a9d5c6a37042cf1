/* SPDX-License-Identifier: MIT */
/* spread: equal shares, and walks through the directories that need more than the first of their hits. */

#include "search/spread.h"

#include "base/own.h"
#include "search/limits.h"
#include "search/walk.h"

/* Hits in order, and which of them are kept. */
struct chosen {
	struct hit *hits;
	bool *keep;
	size_t count;
};

static bool chosen_init(struct chosen *c, const struct hits *from)
{
	struct hits_reader r = { .hits = from };

	c->hits = mem_new(from->count + 1, sizeof *c->hits);
	c->keep = mem_new(from->count + 1, sizeof *c->keep);
	while (c->hits && c->keep && c->count < from->count && hits_next(&r, &c->hits[c->count]))
		c->count++;
	return c->hits && c->keep;
}

static void chosen_done(struct chosen *c)
{
	mem_free(c->hits);
	mem_free(c->keep);
}

/* The entry that a hit belongs to, in the directory whose path has `at` bytes. */
static struct str entry_at(const struct hit *hit, size_t at)
{
	const struct str rest = str_from(hit->path, at);
	const ptrdiff_t slash = str_index(rest, '/');

	return slash < 0 ? rest : str_upto(rest, (size_t)slash + 1);
}

/* The end of the hits, from `first` on and before `end`, that are of the same entry. */
static size_t entry_end(const struct chosen *c, size_t first, size_t end, size_t at)
{
	const struct str entry = entry_at(&c->hits[first], at);
	size_t i = first + 1;

	while (i < end && str_eq(entry_at(&c->hits[i], at), entry))
		i++;
	return i;
}

/* The most that an entry gets, if each gets what it has but not more than that, and n is enough;
 * *extra is how many entries can get one more. */
static size_t share_of(const struct chosen *c, size_t first, size_t end, size_t at, size_t n,
		       size_t *extra)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t most = low + (high - low + 1) / 2;
		size_t sum = 0;
		for (size_t i = first, next; i < end && sum <= n; i = next) {
			next = entry_end(c, i, end, at);
			sum += next - i < most ? next - i : most;
		}
		if (sum <= n)
			low = most;
		else
			high = most - 1;
	}
	*extra = n;
	for (size_t i = first, next; i < end; i = next) {
		next = entry_end(c, i, end, at);
		*extra -= next - i < low ? next - i : low;
	}
	return low;
}

/* Choose n of the hits from `first` to `end`, all of them below a directory. */
static void choose(struct chosen *c, size_t first, size_t end, size_t at, size_t n, unsigned depth)
{
	/* A directory with a single entry has nothing to share. */
	while (first < end && entry_end(c, first, end, at) == end && c->hits[first].path.n > at)
		at += entry_at(&c->hits[first], at).n;
	if (end - first <= n || at >= c->hits[end - 1].path.n || depth == LIMIT_SPREAD_DEPTH) {
		for (size_t i = first; i < end && n > 0; i++, n--)
			c->keep[i] = true;
		return;
	}
	size_t extra;
	const size_t share = share_of(c, first, end, at, n, &extra);
	for (size_t i = first, next; i < end; i = next) {
		next = entry_end(c, i, end, at);
		size_t mine = next - i < share ? next - i : share;
		if (next - i > share && extra > 0) {
			mine++;
			extra--;
		}
		if (mine)
			choose(c, i, next, at + entry_at(&c->hits[i], at).n, mine, depth + 1);
	}
}

/* Note the entries of which not all hits are kept, of the directory in which all hits are. */
static void note_left(const struct chosen *c, size_t at, struct hits *left)
{
	while (entry_end(c, 0, c->count, at) == c->count && c->hits[0].path.n > at)
		at += entry_at(&c->hits[0], at).n;
	for (size_t i = 0, next; i < c->count; i = next) {
		bool all = true;
		next = entry_end(c, i, c->count, at);
		for (size_t k = i; k < next; k++)
			all &= c->keep[k];
		if (all)
			continue;
		const struct str path = str_upto(c->hits[i].path, at + entry_at(&c->hits[i], at).n);
		hits_begin(left, HIT_FILE, path, STR(""));
		hits_end(left, 0, 0, 0);
	}
}

void spread_keep(struct found *f, size_t prefix, size_t n)
{
	struct chosen c = { 0 };
	struct hits kept = { 0 };
	size_t last = 0;

	if (f->hits.count <= n || n == 0)
		return;
	if (!chosen_init(&c, &f->hits)) {
		f->hits.failed = true;
		chosen_done(&c);
		return;
	}
	choose(&c, 0, c.count, prefix, n, 0);
	for (size_t i = 0; i < c.count; i++)
		if (c.keep[i]) {
			hits_add(&kept, &c.hits[i]);
			last = i;
		}
	f->spread |= last + 1 > n;
	f->account.stopped = f->account.stopped ? f->account.stopped : WALK_LIMIT;
	if (f->spread && !f->left.count)
		note_left(&c, prefix, &f->left);
	chosen_done(&c);
	hits_done(&f->hits);
	f->hits = kept;
}

/* Keep of each entry of a directory the first `limit` hits; the directory is hits `first` to `end`.
 * Returns the only entry that would get more than half of n hits, if it is a directory that has
 * more: its hits become `first` to `end`. */
static struct str trim(struct chosen *c, size_t *first, size_t *end, size_t at, size_t limit,
		       size_t n)
{
	struct str found = { NULL, 0 };
	size_t extra, from = *first, to = *end;
	const size_t share = share_of(c, from, to, at, n, &extra);

	for (size_t i = from, next; i < to; i = next) {
		const struct str entry = entry_at(&c->hits[i], at);
		next = entry_end(c, i, to, at);
		for (size_t k = i + limit; k < next; k++)
			c->keep[k] = false;
		if (next - i < limit || 2 * share <= n || !str_ends(entry, STR("/")))
			continue;
		found = str_upto(c->hits[i].path, at + entry.n);
		*first = i;
		*end = next;
	}
	return found;
}

/* Put the hits of a walk below a directory in the place of those that are known. */
static void splice(const struct chosen *c, size_t first, size_t end, struct hits *inner,
		   struct hits *ret)
{
	struct hits all = { 0 };

	for (size_t i = 0; i < c->count; i++) {
		if (i == first && inner)
			hits_join(&all, inner);
		if (c->keep[i] && (!inner || i < first || i >= end))
			hits_add(&all, &c->hits[i]);
	}
	hits_done(ret);
	*ret = all;
}

/* One step: keep what is needed of the directory `below`, which has `at` bytes, and walk through the
 * entry of it that would get most of the answer. False if there is none. */
static bool step(struct walk_request *r, const struct walk_visitor *v, size_t prefix,
		 struct buf *below, struct found *f)
{
	const size_t at = prefix + r->below.n, limit = r->limit;
	struct chosen c = { 0 };
	struct found inner = { 0 };
	struct err ignored;
	size_t first = 0;

	if (f->hits.count < limit || !chosen_init(&c, &f->hits)) {
		chosen_done(&c);
		return false;
	}
	for (size_t i = 0; i < c.count; i++)
		c.keep[i] = true;
	size_t end = c.count;
	while (r->below.n && first < c.count &&
	       !(str_starts(str_from(c.hits[first].path, prefix), r->below) &&
		 c.hits[first].path.n > at))
		first++;
	while (end > first && !str_starts(str_from(c.hits[end - 1].path, prefix), r->below))
		end--;
	const struct str found = trim(&c, &first, &end, at, limit, limit - 1);
	bool more = found.n > 0;
	buf_reset(below, SIZE_MAX);
	buf_add(below, str_from(found, prefix));
	if (more && !below->failed) {
		r->below = buf_str(below);
		/* The entry itself may be a hit, which a walk below it does not find. */
		first += c.hits[first].path.n == found.n;
		more = walk_run(r, v, &inner, &ignored) == 0 && inner.hits.count > 0 &&
		       inner.account.stopped == WALK_COMPLETE;
	}
	splice(&c, first, end, more ? &inner.hits : NULL, &f->hits);
	found_done(&inner);
	chosen_done(&c);
	return more;
}

int spread_run(const struct walk_request *r, const struct walk_visitor *v, size_t prefix,
	       struct found *ret, struct err *e)
{
	AUTO_BUF below = { .max = SIZE_MAX };
	struct walk_request one = *r;

	if (walk_run(r, v, ret, e) < 0)
		return -1;
	for (unsigned i = 0;
	     r->spread && i < LIMIT_SPREAD_DEPTH && step(&one, v, prefix, &below, ret); i++)
		;
	return ret->hits.failed ? hits_fail(e) : 0;
}
