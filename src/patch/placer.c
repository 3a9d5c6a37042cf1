/* SPDX-License-Identifier: MIT */
/* placer: find the old lines of each hunk, on the strictest level that has them. */

#include "patch/placer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "patch/limits.h"

/* The places that a message about an ambiguous block names. */
enum { PLACES_NAMED = 8 };

/* Not a line: there is none, or the error is set. */
enum { NOWHERE = -1, FAILED = -2 };

/* Make room for this many places in a file of that many lines; false if there is no memory. */
static bool places_init(struct places *p, size_t lines, size_t places, struct arena *a)
{
	*p = (struct places){
		.item = arena_array(a, places + 1, sizeof *p->item),
		.lines = lines,
		.owner = arena_array(a, lines + 1, sizeof *p->owner),
		.inserted = arena_array(a, lines + 1, sizeof *p->inserted),
		.growth = arena_array(a, lines + 2, sizeof *p->growth),
	};
	return p->item && p->owner && p->inserted && p->growth;
}

/* Whether n lines from `at` are in no place, and none is an insertion between them. With n 0:
 * whether something can be inserted before `at`. */
static bool places_free(const struct places *p, size_t at, size_t n)
{
	if (n == 0)
		return at == 0 || at >= p->lines || p->owner[at] == 0 ||
		       p->owner[at] != p->owner[at - 1];
	for (size_t i = at; i < at + n; i++)
		if (p->owner[i] || (i > at && p->inserted[i]))
			return false;
	return true;
}

static void places_add(struct places *p, struct place new)
{
	const int64_t growth = (int64_t) new.hunk->new_count - (int64_t) new.hunk->old_count;

	new.added = p->count;
	p->item[p->count++] = new;
	for (size_t i = new.at; i < new.at + new.n; i++)
		p->owner[i] = (uint32_t)p->count;
	if (new.n == 0)
		p->inserted[new.at] = true;
	for (size_t i = new.at + 1; i <= p->lines + 1; i += i & -i)
		p->growth[i] += growth;
}

/* The number that a line of the old file has once the hunks so far are applied. */
static int64_t places_moved(const struct places *p, size_t line)
{
	int64_t moved = (int64_t)line;

	for (size_t i = line + 1; i > 0; i -= i & -i)
		moved += p->growth[i];
	return moved;
}

/* Insertions come before the lines that they are in front of. */
static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if ((x->n == 0) != (y->n == 0))
		return x->n == 0 ? -1 : 1;
	return x->added < y->added ? -1 : x->added > y->added;
}

/* Put the places into the order of the file. Afterwards none can be added. */
static void places_sort(struct places *p)
{
	qsort(p->item, p->count, sizeof *p->item, compare_places);
}

__attribute__((format(printf, 2, 3))) static void note(struct placer *pl, const char *fmt, ...)
{
	char text[256];
	const int head =
		snprintf(text, sizeof text, "hunk %zu (line %lld of the patch): ", pl->number,
			 (long long)pl->hunk->line);
	struct patch_note *n = arena_array(pl->arena, 1, sizeof *n);
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text + head, sizeof text - (size_t)head, fmt, args);
	va_end(args);
	if (!n)
		return; /* arena->failed is checked at the end */
	n->text = arena_dup(pl->arena, str_of(text));
	if (pl->last_note)
		pl->last_note->next = n;
	else
		pl->notes = n;
	pl->last_note = n;
}

static struct explain_hunk subject(const struct placer *pl)
{
	return (struct explain_hunk){ .path = pl->file->path,
				      .number = pl->number,
				      .count = pl->file->hunk_count,
				      .line = pl->hunk->line,
				      .old = pl->old,
				      .n = pl->n };
}

int placer_load(struct placer *pl, const struct patch_hunk *h, struct err *e)
{
	const size_t most = h->old_count + h->new_count;

	if (most > pl->room) {
		pl->lines = arena_array(pl->arena, most, sizeof *pl->lines);
		pl->old = arena_array(pl->arena, most, sizeof *pl->old);
		pl->hash = arena_array(pl->arena, most, sizeof *pl->hash);
		if (!pl->lines || !pl->old || !pl->hash)
			return patch_fail_memory(e);
		pl->room = most;
	}
	pl->hunk = h;
	pl->count = patch_hunk_lines(pl->patch, h, pl->lines);
	pl->n = pl->context = pl->trailing = 0;
	pl->old_open = false;
	for (size_t i = 0; i < pl->count; i++) {
		const struct patch_line *line = &pl->lines[i];
		const bool context = line->sign == ' ';
		pl->context += context;
		pl->trailing = context ? pl->trailing + 1 : 0;
		if (line->sign == '+')
			continue;
		pl->old[pl->n++] = line->text;
		pl->old_open = line->open;
	}
	return 0;
}

/* Whether the old lines are at line `at`, and no other hunk is there. */
static bool fits(struct placer *pl, enum match_level level, size_t at)
{
	const struct textlines *t = &pl->text;

	pl->work++;
	if (pl->n > t->n || at > t->n - pl->n)
		return false;
	for (size_t i = 0; i < pl->n; i++, pl->work++)
		if (t->index[level].hash[at + i] != pl->hash[i] ||
		    !match_equal(textlines_text(t, at + i), pl->old[i], level))
			return false;
	if (!places_free(&pl->places, at, pl->n))
		return false;
	/* In a unified patch the newline at the end is a part of the last line. */
	return level != MATCH_EXACT || pl->patch->format != PATCH_UNIFIED || pl->n == 0 ||
	       textlines_is_open(t, at + pl->n - 1) == pl->old_open;
}

/* Where the rarest of the old lines occurs; *rare is its number in the hunk. */
static int find_rarest(struct placer *pl, enum match_level level, size_t *rare,
		       struct textlines_found *ret, struct err *e)
{
	if (textlines_need(&pl->text, level, e) < 0)
		return -1;
	*ret = (struct textlines_found){ NULL, 0 };
	*rare = 0;
	for (size_t i = 0; i < pl->n; i++) {
		pl->hash[i] = match_hash(pl->old[i], level);
		const struct textlines_found found = textlines_find(&pl->text, level, pl->hash[i]);
		if (i == 0 || found.n < ret->n) {
			*ret = found;
			*rare = i;
		}
	}
	return 0;
}

/* The first place at or after line `from` where the old lines are. */
static int64_t find_first(struct placer *pl, enum match_level level, size_t from, struct err *e)
{
	struct textlines_found found;
	size_t rare;

	if (find_rarest(pl, level, &rare, &found, e) < 0)
		return FAILED;
	for (size_t i = textlines_before(found, from + rare); i < found.n; i++) {
		if (fits(pl, level, found.line[i] - rare))
			return (int64_t)(found.line[i] - rare);
		if (pl->work > pl->max_work)
			break;
	}
	return NOWHERE;
}

/* The place nearest to line `want`, which is a number after the hunks so far; of two that are
 * equally near the later one. */
static int64_t find_nearest(struct placer *pl, enum match_level level, int64_t want, struct err *e)
{
	struct textlines_found found;
	size_t rare, low = 0, high;

	if (find_rarest(pl, level, &rare, &found, e) < 0)
		return FAILED;
	for (high = found.n; low < high;) {
		const size_t middle = low + (high - low) / 2;
		if (places_moved(&pl->places, found.line[middle]) < want + (int64_t)rare)
			low = middle + 1;
		else
			high = middle;
	}
	/* Places before `low` are before `want`; go outwards from there. */
	while ((low > 0 || high < found.n) && pl->work <= pl->max_work) {
		int64_t before = INT64_MAX, after = INT64_MAX;
		if (low > 0)
			before = want + (int64_t)rare -
				 places_moved(&pl->places, found.line[low - 1]);
		if (high < found.n)
			after = places_moved(&pl->places, found.line[high]) - want - (int64_t)rare;
		const size_t line = after <= before ? found.line[high++] : found.line[--low];
		if (line >= rare && fits(pl, level, line - rare))
			return (int64_t)(line - rare);
	}
	return NOWHERE;
}

/* Whether the old lines are at line `at`, on a level for which nothing was searched. */
static bool fits_there(struct placer *pl, enum match_level level, size_t at, struct err *e)
{
	struct textlines_found found;
	size_t rare;

	return find_rarest(pl, level, &rare, &found, e) == 0 && fits(pl, level, at);
}

static void add_place(struct placer *pl, size_t at, enum match_level level)
{
	static const char *const how[] = {
		[MATCH_TRAILING] = "with white space at the ends of lines ignored",
		[MATCH_LOOSE] = "with indentation, quotes, dashes and spaces made equal",
	};

	if (level != MATCH_EXACT)
		note(pl, "found at line %zu %s", at + 1, how[level]);
	places_add(&pl->places,
		   (struct place){ .at = at, .n = pl->n, .hunk = pl->hunk, .level = level });
}

/* Find one line, which is not part of the hunk, at or after `from`. */
static int64_t find_line(struct placer *pl, struct str line, size_t from, struct err *e)
{
	for (enum match_level level = MATCH_EXACT; level < MATCH_LEVELS; level++) {
		if (textlines_need(&pl->text, level, e) < 0)
			return FAILED;
		const uint32_t hash = match_hash(line, level);
		const struct textlines_found found = textlines_find(&pl->text, level, hash);
		for (size_t i = textlines_before(found, from); i < found.n; i++) {
			pl->work++;
			if (!match_equal(textlines_text(&pl->text, found.line[i]), line, level))
				continue;
			if (level != MATCH_EXACT)
				note(pl, "its @@ line was found loosely at line %u",
				     found.line[i] + 1);
			return found.line[i];
		}
	}
	return NOWHERE;
}

/* Go to the lines that the "@@" lines name. Returns the line after the last of them, or `from` if
 * they name none. */
static int64_t follow_anchors(struct placer *pl, size_t from, struct err *e)
{
	const struct str anchors = pl->hunk->anchors;
	struct patch_reader in = { anchors.p, anchors.p + anchors.n, pl->hunk->line - 1 };
	struct str line;

	while (patch_next_line(&in, &line)) {
		const struct str name = patch_right_trim(str_from(line, 3));
		/* Line numbers, as in a unified diff, name no line. */
		if (name.n == 0 || (str_starts(name, STR("-")) && str_ends(name, STR(" @@"))))
			continue;
		const int64_t at = find_line(pl, name, from, e);
		if (at == FAILED)
			return FAILED;
		if (at < 0) {
			struct explain_hunk what = subject(pl);
			what.old = &name;
			what.n = 1;
			what.line = in.line;
			(void)explain_missing(&pl->text, &what, e);
			return FAILED;
		}
		from = (size_t)at + 1;
	}
	return (int64_t)from;
}

/* Place the old lines at or after `from`. Returns 1 if it is done, 0 if they are not there. */
static int place_after(struct placer *pl, size_t from, struct err *e)
{
	for (enum match_level level = MATCH_EXACT; level < MATCH_LEVELS; level++) {
		int64_t at = NOWHERE;
		if (pl->n > pl->text.n)
			return 0;
		const size_t end = pl->text.n - pl->n;
		if (!pl->hunk->at_end)
			at = find_first(pl, level, from, e);
		else if (end >= from && fits_there(pl, level, end, e))
			at = (int64_t)end;
		if (at == FAILED)
			return -1;
		if (at < 0)
			continue;
		add_place(pl, (size_t)at, level);
		pl->from = (size_t)at + pl->n;
		return 1;
	}
	return 0;
}

/* A last line that is empty may stand for the newline at the end of the file. */
static int place_without_last(struct placer *pl, size_t from, struct err *e)
{
	if (pl->n < 2 || pl->old[pl->n - 1].n != 0)
		return 0;
	pl->n--;
	const int got = place_after(pl, from, e);
	pl->n++;
	return got;
}

static int place_v4a(struct placer *pl, struct err *e)
{
	const int64_t start = follow_anchors(pl, pl->from, e);

	if (start < 0)
		return -1;
	const size_t from = (size_t)start;
	if (pl->n == 0) {
		add_place(pl, from > pl->from ? from : pl->text.n, MATCH_EXACT);
		pl->from = from;
		return 0;
	}
	int got = place_after(pl, from, e);
	if (got == 0)
		got = place_without_last(pl, from, e);
	/* The line that "@@" names may also be the first of the hunk. */
	if (got == 0 && from > pl->from && (got = place_after(pl, from - 1, e)) > 0)
		note(pl, "its first line is also its @@ line");
	if (got != 0)
		return got < 0 ? -1 : 0;
	struct explain_hunk what = subject(pl);
	if (pl->hunk->at_end)
		what.must = "at the end of the file";
	else if (from > 0)
		what.must = "after the previous hunk and its @@ line";
	return explain_missing(&pl->text, &what, e);
}

void placer_check_counts(struct placer *pl)
{
	const struct patch_hunk *h = pl->hunk;

	if (h->old_said < 0)
		note(pl, "its @@ line has no line numbers");
	else if (h->old_said != (int64_t)h->old_count || h->new_said != (int64_t)h->new_count)
		note(pl, "its @@ line says %lld and %lld lines, but it has %zu and %zu",
		     (long long)h->old_said, (long long)h->new_said, h->old_count, h->new_count);
}

/* A hunk that only adds goes after the line with its number, or to the end of the file. */
static int place_insertion(struct placer *pl, struct err *e)
{
	const int64_t after = pl->hunk->old_start;
	const size_t at = after >= 0 && (uint64_t)after < pl->text.n ? (size_t)after : pl->text.n;

	if (!places_free(&pl->places, at, 0)) {
		struct explain_hunk what = subject(pl);
		what.must = "outside of the other hunks";
		return explain_missing(&pl->text, &what, e);
	}
	if (at < pl->text.n)
		note(pl, "it has no context, and was placed after line %zu by its number", at);
	add_place(pl, at, MATCH_EXACT);
	return 0;
}

static int place_unified(struct placer *pl, struct err *e)
{
	const struct patch_hunk *h = pl->hunk;
	const bool numbered = h->old_start >= 0;
	const bool at_start = numbered && h->old_start <= 1, at_end = numbered && !pl->trailing;
	/* A diff without context (diff -U0) is not bound: there is only its number. */
	const bool bare = !pl->context && h->old_start > 0;
	const int64_t want = !numbered ? (int64_t)pl->from : h->new_start ? h->new_start - 1 : 0;

	placer_check_counts(pl);
	if (pl->n == 0 && (bare || !numbered))
		return place_insertion(pl, e);
	for (enum match_level level = MATCH_EXACT; level < MATCH_LEVELS; level++) {
		int64_t at = NOWHERE;
		if (pl->n > pl->text.n)
			break;
		const size_t bound = at_start ? 0 : pl->text.n - pl->n;
		if ((!at_start && !at_end) || (bare && pl->n))
			at = find_nearest(pl, level, want, e);
		else if ((!at_end || bound + pl->n == pl->text.n) &&
			 fits_there(pl, level, bound, e))
			at = (int64_t)bound;
		if (at == FAILED)
			return -1;
		if (at < 0)
			continue;
		if (bare && ((at_start && at > 0) || (size_t)at + pl->n < pl->text.n))
			note(pl, "it has no context, and was placed at line %lld by its number",
			     (long long)at + 1);
		add_place(pl, (size_t)at, level);
		pl->from = (size_t)at + pl->n;
		return 0;
	}
	struct explain_hunk what = subject(pl);
	if (!bare)
		what.must = at_start && at_end ? "the whole file"
			    : at_start	       ? "at the start of the file"
			    : at_end ? "at the end of the file, as it ends without context"
				     : NULL;
	return explain_missing(&pl->text, &what, e);
}

static int place_block(struct placer *pl, struct err *e)
{
	for (enum match_level level = MATCH_EXACT; level < MATCH_LEVELS; level++) {
		size_t at[PLACES_NAMED], n = 0;
		int64_t next = find_first(pl, level, 0, e);
		while (next >= 0 && n < PLACES_NAMED) {
			at[n++] = (size_t)next;
			next = find_first(pl, level, (size_t)next + 1, e);
		}
		if (next == FAILED)
			return -1;
		if (n == 1) {
			add_place(pl, at[0], level);
			return 0;
		}
		const struct explain_hunk what = subject(pl);
		if (n > 1)
			return explain_places(&what, at, n, next >= 0, e);
	}
	const struct explain_hunk what = subject(pl);
	return explain_missing(&pl->text, &what, e);
}

int placer_run(struct placer *pl, struct err *e)
{
	const struct patch_file *f = pl->file;

	if (!places_init(&pl->places, pl->text.n, f->hunk_count, pl->arena))
		return patch_fail_memory(e);
	for (const struct patch_hunk *h = f->hunks; h; h = h->next) {
		pl->number++;
		if (placer_load(pl, h, e) < 0)
			return -1;
		pl->max_work += pl->n * LIMIT_PATCH_WORK;
		const int got = pl->patch->format == PATCH_V4A	     ? place_v4a(pl, e)
				: pl->patch->format == PATCH_UNIFIED ? place_unified(pl, e)
								     : place_block(pl, e);
		if (pl->arena->failed)
			return patch_fail_memory(e);
		if (pl->work > pl->max_work)
			return err_set(e, ERR_TEXT_NOT_UNIQUE,
				       "%.*s: too many places look like hunk %zu of %zu (line %lld "
				       "of the patch)",
				       STR_FMT(f->path), pl->number, f->hunk_count,
				       (long long)h->line);
		if (got < 0)
			return -1;
	}
	places_sort(&pl->places);
	return 0;
}
