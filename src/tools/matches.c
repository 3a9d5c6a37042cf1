/* SPDX-License-Identifier: MIT */
/* matches: hits into JSON, lines cut to what a model needs. */

#include "tools/matches.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "scrub/scrub.h"

const struct field match_fields[] = {
	{ "file", "Path relative to the workspace", FIELD_STR },
	{ "line", "Number of the first matching line; in mode lines", FIELD_INT, FIELD_OPTIONAL },
	{ "content", "The matching line; over 500 characters it is cut and ends in ...", FIELD_STR,
	  FIELD_OPTIONAL },
	{ "before", "Lines before it, with context", FIELD_STR, FIELD_LIST | FIELD_OPTIONAL },
	{ "after", "Lines behind it, with context", FIELD_STR, FIELD_LIST | FIELD_OPTIONAL },
	{ "count", "Matching lines in the file; in mode counts", FIELD_INT, FIELD_OPTIONAL },
	F_END,
};

struct str match_cut_line(struct str line, bool *cut)
{
	size_t at = 0, bad;

	if (line.n <= LIMIT_GREP_LINE)
		return line;
	for (size_t units = 0; at < line.n;) {
		const struct str rest = str_from(line, at);
		const size_t n = utf8_next(rest, &bad);
		units += n == 4 ? 2 : 1;
		if (units > LIMIT_GREP_LINE) {
			*cut = true;
			return str_upto(line, at);
		}
		at += n ? n : bad;
	}
	return line;
}

static void write_piece(struct call *c, const struct hit_line *line)
{
	bool cut = line->cut;
	const struct str shown = match_cut_line(line->text, &cut);

	if (!cut) {
		jw_piece(c->out, shown);
		return;
	}
	jw_piece(c->out, str_upto(shown, scrub_cut(c->scrub, line->text, shown.n).from));
	jw_piece(c->out, STR("..."));
}

enum part { BEFORE, CONTENT, AFTER };

static enum part part_of(const struct hit *hit, const struct hit_line *line)
{
	if (line->number < hit->line)
		return BEFORE;
	return line->match ? CONTENT : AFTER;
}

static void write_content(struct call *c, struct hit hit)
{
	struct hit_line line;
	const char *separator = "";

	jw_open_str(c->out, "content");
	while (hit_next_line(&hit, &line)) {
		if (part_of(&hit, &line) != CONTENT)
			continue;
		jw_piece(c->out, str_of(separator));
		write_piece(c, &line);
		separator = "\n";
	}
	jw_close_str(c->out);
}

/* Nothing at all when the hit has no such lines. */
static void write_context(struct call *c, const char *name, struct hit hit, enum part part)
{
	struct hit_line line;
	bool any = false;

	while (hit_next_line(&hit, &line)) {
		if (part_of(&hit, &line) != part)
			continue;
		if (!any)
			jw_array(c->out, name);
		any = true;
		jw_open_str(c->out, NULL);
		write_piece(c, &line);
		jw_close_str(c->out);
	}
	if (any)
		jw_end(c->out);
}

int64_t matches_write(struct call *c, const struct hits *hits, enum scan_mode mode, int64_t max,
		      struct hit *last)
{
	struct hits_reader reader = { .hits = hits };
	struct jw *w = c->out;
	const size_t start = jw_length(w);
	struct hit hit;
	int64_t n = 0;

	jw_array(w, "matches");
	while (n < max && jw_length(w) - start < LIMIT_SEARCH_ANSWER && hits_next(&reader, &hit)) {
		jw_object(w, NULL);
		jw_str(w, "file", hit.path);
		if (mode == SCAN_LINES) {
			jw_int(w, "line", hit.line);
			write_content(c, hit);
			write_context(c, "before", hit, BEFORE);
			write_context(c, "after", hit, AFTER);
		}
		if (mode == SCAN_COUNTS)
			jw_int(w, "count", hit.value);
		jw_end(w);
		*last = hit;
		n++;
	}
	jw_end(w);
	return n;
}
