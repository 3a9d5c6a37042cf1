/* SPDX-License-Identifier: MIT */
/* explain: the nearest text is the one where most lines of the hunk are at their distance. */

#include "patch/placer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/own.h"
#include "base/utf8.h"

/* How many lines of a hunk, and places of each of them, are looked at; and bytes of a line. */
enum { VOTES = 4096, VOTES_OF_LINE = 64, LIKENESS = 400, QUOTED = 120 };

static int compare_votes(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Each line of the hunk that is in the file votes for where the hunk would begin. */
static size_t collect(const struct textlines *t, const struct explain_hunk *h, int64_t votes[VOTES])
{
	size_t n = 0;

	for (size_t i = 0; i < h->n && n < VOTES; i++) {
		const uint32_t hash = match_hash(h->old[i], MATCH_LOOSE);
		const struct textlines_found found = textlines_find(t, MATCH_LOOSE, hash);
		if (str_trim(h->old[i]).n == 0)
			continue;
		for (size_t k = 0; k < found.n && k < VOTES_OF_LINE && n < VOTES; k++)
			if (t->index[MATCH_LOOSE].hash[found.line[k]] == hash)
				votes[n++] = (int64_t)found.line[k] - (int64_t)i;
	}
	return n;
}

/* Where most lines would have the hunk begin; false if none of them is in the file. */
static bool nearest(const struct textlines *t, const struct explain_hunk *h, int64_t *ret)
{
	int64_t votes[VOTES];
	const size_t n = collect(t, h, votes);
	size_t most = 0;

	qsort(votes, n, sizeof *votes, compare_votes);
	for (size_t i = 0, run = 0; i < n; i++) {
		run = i && votes[i] == votes[i - 1] ? run + 1 : 1;
		if (run > most) {
			most = run;
			*ret = votes[i];
		}
	}
	return most > 0;
}

/* The start of a line, in quotes. */
static void quote(struct buf *out, struct str s)
{
	const bool cut = s.n > QUOTED;

	s = str_upto(s, utf8_whole(str_upto(s, QUOTED)));
	buf_addc(out, '"');
	buf_add(out, s);
	buf_add(out, cut ? STR("...\"") : STR("\""));
}

static void add_number(struct buf *out, const char *before, int64_t number)
{
	buf_add(out, str_of(before));
	buf_addi(out, number);
}

/* Compare the hunk with the text at line `at`: the first line that differs. */
static void show_difference(const struct textlines *t, const struct explain_hunk *h, int64_t at,
			    struct buf *out)
{
	for (enum match_level level = MATCH_LOOSE + 1; level-- > MATCH_EXACT;) {
		for (size_t i = 0; i < h->n; i++) {
			const int64_t line = at + (int64_t)i;
			if (line < 0 || line >= (int64_t)t->n) {
				buf_add(out, line < 0 ? STR(" But the file begins after ")
						      : STR(" But the file ends before "));
				quote(out, h->old[i]);
				buf_addc(out, '.');
				return;
			}
			const struct str text = textlines_text(t, (size_t)line);
			if (match_equal(text, h->old[i], level))
				continue;
			add_number(out, " Line ", line + 1);
			buf_add(out, STR(" of the file is "));
			quote(out, text);
			buf_add(out, STR(", but the patch has "));
			quote(out, h->old[i]);
			buf_addc(out, '.');
			return;
		}
	}
}

/* How many bytes two lines have in common, at their starts and at their ends. */
static size_t likeness(struct str a, struct str b)
{
	const size_t most = a.n < b.n ? a.n : b.n;
	size_t n = 0, m = 0;

	while (n < most && a.p[n] == b.p[n])
		n++;
	while (m < most - n && a.p[a.n - 1 - m] == b.p[b.n - 1 - m])
		m++;
	return n + m;
}

/* Where the line of the hunk that says most is nearly in the file: at least half of it. */
static bool similar(const struct textlines *t, const struct explain_hunk *h, int64_t *ret)
{
	struct str wanted = STR("");
	size_t at = 0, best = 0;

	for (size_t i = 0; i < h->n && i < VOTES_OF_LINE; i++) {
		const struct str line = str_upto(str_trim(h->old[i]), LIKENESS);
		if (line.n > wanted.n) {
			wanted = line;
			at = i;
		}
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct str line = str_upto(str_trim(textlines_text(t, i)), LIKENESS);
		const size_t like = likeness(line, wanted);
		if (like <= best || 2 * like < wanted.n || 2 * like < line.n)
			continue;
		best = like;
		*ret = (int64_t)i - (int64_t)at;
	}
	return best > 0;
}

static void describe(struct textlines *t, const struct explain_hunk *h, struct buf *out)
{
	struct err ignored;
	int64_t at;

	if (textlines_need(t, MATCH_LOOSE, &ignored) < 0)
		return;
	if (!nearest(t, h, &at) && !similar(t, h, &at)) {
		buf_add(out, STR(" No line of it is in the file; the first is "));
		quote(out, h->n ? h->old[0] : STR(""));
		buf_addc(out, '.');
		return;
	}
	add_number(out, " The nearest text is at line ", at < 0 ? 1 : at + 1);
	buf_addc(out, '.');
	show_difference(t, h, at, out);
}

int explain_missing(struct textlines *t, const struct explain_hunk *h, struct err *e)
{
	char text[640], must[80] = "";
	struct buf why = buf_over(text, sizeof text);

	if (h->must)
		(void)snprintf(must, sizeof must, ", where it must be %s", h->must);
	if (t->n == 0)
		buf_add(&why, STR(" The file is empty."));
	else
		describe(t, h, &why);
	(void)err_set(e, ERR_TEXT_NOT_FOUND,
		      "%.*s: hunk %zu of %zu (line %lld of the patch) does not match the "
		      "file%s.%.*s",
		      STR_FMT(h->path), h->number, h->count, (long long)h->line, must,
		      STR_FMT(buf_str(&why)));
	return err_advise(e, "Read the file and make the hunk from its text.");
}

int explain_places(const struct explain_hunk *h, const size_t *lines, size_t n, bool more,
		   struct err *e)
{
	char text[400];
	struct buf list = buf_over(text, sizeof text);

	for (size_t i = 0; i < n; i++)
		add_number(&list, i ? ", " : "", (int64_t)lines[i] + 1);
	if (more)
		buf_add(&list, STR(" and others"));
	(void)err_set(
		e, ERR_TEXT_NOT_UNIQUE,
		"%.*s: the text of hunk %zu of %zu (line %lld of the patch) is at lines %.*s.",
		STR_FMT(h->path), h->number, h->count, (long long)h->line, STR_FMT(buf_str(&list)));
	return err_advise(e, "Add lines around it to make it unique.");
}
