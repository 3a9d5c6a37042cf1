/* SPDX-License-Identifier: MIT */
/* findings: hits as text, within the limits of an answer. */

#include "results/findings.h"

#include <inttypes.h>

#include "base/human.h"
#include "base/utf8.h"
#include "scrub/scrub.h"
#include "tools/limits.h"

enum {
	NOTE_LINES = 2,	  /* the last line, and a blank one before it */
	LINE_FRAME = 20,  /* a line's number and what is put around it */
	MATCH_FRAME = 96, /* the names of an observation's members */
	PATH_FRAME = 40,  /* in a text: what is said of an entry behind its name */
	INDENT = 2,	  /* of a name for each directory above it */
};

struct findings findings_begin(const struct way *out)
{
	return (struct findings){
		.out = out,
		.lines = out->c->size.lines ? out->c->size.lines - NOTE_LINES : INT64_MAX,
	};
}

enum findings_part findings_part_of(enum found_show show)
{
	return show == FOUND_LINES ? FINDINGS_CONTEXT : FINDINGS_PATH;
}

struct str findings_cursor(const struct way *out, const struct found_result *r, int64_t n,
			   const struct hit *last)
{
	const enum walk_stop stopped = r->found.account.stopped;
	const bool more = (size_t)n < r->found.hits.count || stopped == WALK_LIMIT;

	if (!more || n == 0 || stopped == WALK_TIMEOUT)
		return (struct str){ NULL, 0 };
	if (r->found.spread)
		return STR("0:"); /* all of them, in order */
	return cursor_text(&(struct cursor){ str_from(last->path, r->prefix.n),
					     r->show == FOUND_LINES ? last->line : INT64_MAX },
			   out->c->arena);
}

struct str findings_line(struct str line, bool *cut)
{
	size_t at = 0, bad;

	if (line.n <= LIMIT_GREP_LINE)
		return line;
	/* Characters are counted as JavaScript counts them. */
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

struct str findings_model_line(const struct way *out, const struct hit_line *line, bool *cut)
{
	bool shorter = line->cut;
	const struct str shown = findings_line(line->text, &shorter);

	*cut = shorter;
	return shorter ? str_upto(shown, scrub_cut(out->c->scrub, line->text, shown.n).from)
		       : shown;
}

/* What a text takes in the answer. */
static int64_t bytes_of(const struct findings *f, struct str text)
{
	return (int64_t)(f->out->text ? utf8_replaced_length(text) : jw_escaped_length(text));
}

struct extent {
	int64_t bytes, lines;
};

/* What stands around a line: its number, and in a text ": ", dots and a newline. */
static int64_t line_frame(const struct findings *f, const struct hit_line *line)
{
	int64_t digits = 1;

	if (!f->out->text)
		return LINE_FRAME;
	for (int64_t n = line->number; n > 9; n /= 10)
		digits++;
	return digits + (int64_t)sizeof ": ......";
}

/* What a hit takes at most. In a text the path stands once above the lines of a file. */
static struct extent measure(const struct findings *f, struct hit hit, enum findings_part part)
{
	const bool again = f->out->text && part != FINDINGS_PATH && str_eq(f->path, hit.path);
	struct extent x = { 0, 0 };
	struct hit_line line;
	bool cut;

	if (!again) {
		x.bytes = (f->out->text ? PATH_FRAME : MATCH_FRAME) + bytes_of(f, hit.path);
		x.lines = part == FINDINGS_PATH ? 1 : 2;
	}

	/* A listing repeats directories in lines of their own, and indents them. */
	for (size_t i = 0; part == FINDINGS_PATH && i < hit.path.n; i++)
		if (hit.path.p[i] == '/') {
			x.bytes += INDENT * LIMIT_LIST_DEPTH;
			x.lines++;
		}
	while (part != FINDINGS_PATH && hit_next_line(&hit, &line)) {
		if (part == FINDINGS_MATCH && !line.match)
			continue;
		x.bytes += line_frame(f, &line) +
			   bytes_of(f, findings_model_line(f->out, &line, &cut));
		x.lines++;
	}
	return x;
}

bool findings_fit(struct findings *f, const struct hit *hit, enum findings_part *part)
{
	/* Room for the cursor, in which each byte of the path may take three. */
	const int64_t room = way_room(f->out) - 3 * (int64_t)hit->path.n;
	struct extent x = measure(f, *hit, *part);

	while (f->count == 0 && *part > FINDINGS_PATH && (x.bytes > room || x.lines > f->lines))
		x = measure(f, *hit, --*part);
	if (f->count && (x.bytes > room || (f->out->text && x.lines > f->lines)))
		return false;
	f->count++;
	return true;
}

static void add_line(struct findings *f, struct str text)
{
	buf_add(f->out->text->text, text);
	buf_addc(f->out->text->text, '\n');
	f->lines--;
}

void findings_add_path(struct findings *f, const struct hit *hit)
{
	add_line(f, hit->path);
	f->path = hit->path;
	f->files++;
}

void findings_add_count(struct findings *f, const struct hit *hit)
{
	buf_add(f->out->text->text, hit->path);
	buf_addf(f->out->text->text, ": %" PRId64 "\n", hit->value);
	f->lines--;
	f->path = hit->path;
	f->files++;
	f->matches += hit->value;
}

static void begin_file(struct findings *f, struct str path)
{
	if (f->files)
		add_line(f, STR(""));
	add_line(f, path);
	f->path = path;
	f->line = 0;
	f->files++;
}

void findings_add_lines(struct findings *f, struct hit hit, const struct hit *next,
			enum findings_part part)
{
	const int64_t end = next && str_eq(next->path, hit.path) ? next->line : INT64_MAX;
	struct buf *text = f->out->text->text;
	struct hit_line line;

	if (f->files == 0 || !str_eq(f->path, hit.path))
		begin_file(f, hit.path);
	f->matches++;
	while (part != FINDINGS_PATH && hit_next_line(&hit, &line)) {
		const bool own = line.match && line.number >= hit.line;
		bool cut;
		/* What surrounds two matches is shown once, and a match as such. */
		if (line.number <= f->line || (!own && line.number >= end) ||
		    (!own && part == FINDINGS_MATCH))
			continue;
		const struct str shown = findings_model_line(f->out, &line, &cut);
		buf_addf(text, "%" PRId64 "%c %s", line.number, own ? ':' : '-',
			 line.headless ? "..." : "");
		buf_add(text, shown);
		add_line(f, cut ? STR("...") : STR(""));
		f->line = line.number;
	}
}

/* How many bytes at the start of both paths are the same directories. */
static size_t shared_directories(struct str a, struct str b)
{
	size_t shared = 0;

	for (size_t i = 0; i < a.n && i < b.n && a.p[i] == b.p[i]; i++)
		if (a.p[i] == '/')
			shared = i + 1;
	return shared;
}

void findings_add_entry(struct findings *f, const struct hit *hit)
{
	static const char *const marks[] = {
		[HIT_DIRECTORY] = "", [HIT_LINK] = " (symlink)", [HIT_OTHER] = " (not a file)"
	};
	struct buf *text = f->out->text->text;
	size_t at = shared_directories(f->path, hit->path), depth = 0;
	char size[HUMAN_SIZE];

	for (size_t i = 0; i < at; i++)
		depth += hit->path.p[i] == '/';
	/* A directory that is not a hit itself is named above what is in it. */
	while (at < hit->path.n) {
		const struct str rest = str_from(hit->path, at);
		const ptrdiff_t slash = str_index(rest, '/');
		const bool last =
			slash < 0 || str_eq(str_from(rest, (size_t)slash + 1), STR(" (hidden)"));
		const struct str name = str_upto(rest, last ? rest.n : (size_t)slash + 1);
		at += name.n;
		buf_addf(text, "%*s", (int)(INDENT * depth++), "");
		buf_add(text, name);
		if (at == hit->path.n && hit->type == HIT_FILE)
			buf_addf(text, " (%s)", human_bytes(hit->value, size));
		else if (at == hit->path.n)
			buf_add(text, str_of(marks[hit->type]));
		add_line(f, STR(""));
	}
	f->path = hit->path;
}

static void add_clause(struct buf *line, const char *separator, struct str text)
{
	if (line->n)
		buf_add(line, str_of(separator));
	buf_add(line, text);
}

/* "more in src/gen/, a.txt and 3 others" */
static void add_left(struct buf *line, const struct hits *left)
{
	enum { NAMED = 5 };
	struct hits_reader reader = { .hits = left };
	struct hit hit;

	for (size_t i = 0; i < NAMED && hits_next(&reader, &hit); i++) {
		add_clause(line, i ? ", " : "; ", i ? hit.path : STR("more in "));
		if (i == 0)
			buf_add(line, hit.path);
	}
	if (left->count > NAMED)
		buf_addf(line, " and %zu others", left->count - NAMED);
}

int64_t findings_hold(const struct way *out, const struct hits *hits, enum findings_part part)
{
	struct findings f = findings_begin(out);
	struct hits_reader reader = { .hits = hits };
	int64_t room = way_room(out), lines = out->text ? f.lines : INT64_MAX, n = 0;
	struct hit hit;

	while (hits_next(&reader, &hit)) {
		const struct extent x = measure(&f, hit, part);
		if (x.bytes > room - 3 * (int64_t)hit.path.n || x.lines > lines)
			break;
		room -= x.bytes;
		lines -= x.lines;
		f.path = hit.path;
		n++;
	}
	return n;
}

/* "node_modules (60 files)", and how they are included. */
static void add_filled(struct buf *list, const struct filled *f)
{
	char number[HUMAN_SIZE];

	add_clause(list, ", ", str_of(f->name));
	buf_add(list, STR(" ("));
	if (f->dirs > 1)
		buf_addf(list, "%s directories, ", human_count(f->dirs, number));
	buf_addf(list, "%s%s file%s)", f->more ? "more than " : "", human_count(f->files, number),
		 f->files == 1 ? "" : "s");
}

static void add_skipped(struct buf *line, const struct findings_end *end)
{
	static const struct walk_account nothing = { 0 };
	const struct walk_account *account = end->account ? end->account : &nothing;
	const struct {
		int64_t count;
		const char *what;
	} kinds[] = {
		{ account->binary, "binary" },	       { account->ignored, "ignored" },
		{ account->too_large, "too large" },   { account->unreadable, "unreadable" },
		{ account->long_lines, "long lines" },
	};
	AUTO_BUF list = { .max = LIMIT_RESULT_BYTES };
	char number[HUMAN_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].count) {
			add_clause(&list, ", ", str_of(human_count(kinds[i].count, number)));
			buf_addf(&list, " %s", kinds[i].what);
		}
	for (const struct filled *f = end->filled; f && f->name; f++)
		add_filled(&list, f);
	line->failed |= list.failed;
	if (!list.n)
		return;
	add_clause(line, "; ", STR("skipped: "));
	buf_add(line, buf_str(&list));
	if (!end->filled)
		return;
	add_clause(line, "; ", STR("to include: path="));
	buf_add(line, end->scope);
	buf_add(line, buf_str(&end->filled->path));
}

void findings_end(const struct findings *f, const struct findings_end *end)
{
	AUTO_BUF line = { .max = LIMIT_RESULT_BYTES };
	struct buf *text = f->out->text->text;

	if (end->summary)
		buf_add(&line, str_of(end->summary));
	if (end->left)
		add_left(&line, end->left);
	add_skipped(&line, end);
	if (end->note)
		add_clause(&line, "; ", str_of(end->note));
	if (end->stopped == WALK_TIMEOUT)
		add_clause(&line, "; ", STR("the time was up: there may be more"));
	if (end->cursor.n) {
		add_clause(&line, "; ",
			   end->left && end->left->count ? STR("all, in order: cursor=")
							 : STR("next: cursor="));
		buf_add(&line, end->cursor);
	}
	text->failed |= line.failed;
	if (!line.n && text->n)
		text->n--; /* the newline after the last hit */
	if (!line.n)
		return;
	buf_addc(text, '[');
	buf_add(text, buf_str(&line));
	buf_addc(text, ']');
}
