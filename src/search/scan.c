/* SPDX-License-Identifier: MIT */
/* scan: read a file through a window of whole lines and add matching lines with context. */

#include "search/scan.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/io.h"
#include "base/own.h"
#include "search/limits.h"

enum { BINARY_HEAD = 1024 }; /* a binary file nearly always has a NUL in these bytes */

struct scanner {
	const struct scan_options *o;
	struct regex_cache *cache;

	char *p; /* the window: part of the file, from the start of a line if possible */
	size_t n, cap;
	bool eof;

	/* The current file. */
	const struct scan_input *in;
	int64_t left; /* bytes to read at most: a file may grow faster than it is searched */
	struct hits *out;
	struct hits_mark mark; /* where its hits begin */
	size_t from;	       /* searched up to here; always the start of a line */
	size_t counted;	       /* an offset that is in line number `line` */
	int64_t line;
	int64_t last_line; /* the last one reported */
	int64_t matches;
	uint64_t skipped_before; /* lines skipped in earlier files */
	struct err why;
	bool text_known; /* the whole window is known to have no NUL */
	bool headless;	 /* the window begins inside a line, which is too long for it */
};

struct scanner *scanner_new(const struct scan_options *o)
{
	struct scanner *s = mem_new(1, sizeof *s);

	if (!s)
		return NULL;
	s->o = o;
	s->cap = LIMIT_SEARCH_READ;
	s->p = mem_new(s->cap, 1);
	s->cache = regex_cache_new(o->regex);
	if (!s->p || !s->cache) {
		scanner_free(s);
		return NULL;
	}
	return s;
}

void scanner_free(struct scanner *s)
{
	if (!s)
		return;
	regex_cache_free(s->cache);
	mem_free(s->p);
	mem_free(s);
}

const struct err *scanner_why(const struct scanner *s)
{
	return &s->why;
}

int64_t scanner_long_lines(const struct scanner *s)
{
	return (int64_t)(regex_lines_skipped(s->cache) - s->skipped_before);
}

/* Read until the window is full or the file ends. */
static bool fill(struct scanner *s)
{
	while (s->n < s->cap) {
		const size_t room = s->cap - s->n;
		const size_t most = s->left < (int64_t)room ? (size_t)s->left : room;
		const ssize_t got = most ? read(s->in->fd, s->p + s->n, most) : 0;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		if (got == 0) {
			s->eof = true;
			return true;
		}
		s->n += (size_t)got;
		s->left -= got;
		if (s->in->reads_whole && (size_t)got < most) {
			s->eof = true;
			return true;
		}
	}
	return true;
}

static bool grow(struct scanner *s, size_t most)
{
	const size_t cap = s->cap * 2 < most ? s->cap * 2 : most;

	if (s->cap >= most)
		return false;
	char *p = mem_resize(s->p, cap, 1);
	if (!p)
		return false;
	s->p = p;
	s->cap = cap;
	return true;
}

/* The start of the line that is `lines` lines above the one starting at `at`. */
static size_t lines_up(const struct scanner *s, size_t at, unsigned lines)
{
	while (lines-- && at) {
		const char *nl = memrchr(s->p, '\n', at - 1);

		at = nl ? (size_t)(nl - s->p) + 1 : 0;
	}
	return at;
}

/* How far the window can be searched now: whole lines, with enough lines left for the context of
 * each match. */
static size_t searchable(const struct scanner *s, unsigned context)
{
	const char *nl = s->eof ? NULL : memrchr(s->p, '\n', s->n);

	if (s->eof)
		return s->n;
	return nl ? lines_up(s, (size_t)(nl - s->p) + 1, context) : 0;
}

/* Where the line that starts at `at` ends. */
static size_t line_end(const struct scanner *s, size_t at)
{
	const char *nl = memchr(s->p + at, '\n', s->n - at);

	return nl ? (size_t)(nl - s->p) : s->n;
}

/* Add the line, or what the window has of it, from `at` to `end`. */
static void add_line(struct scanner *s, size_t at, size_t end, unsigned flags)
{
	const unsigned headless = at == 0 && s->headless ? HIT_LINE_HEADLESS : 0;

	hits_line(s->out, (struct str){ s->p + at, end - at }, flags | headless);
}

/* Up to `most` lines of context from `at` on, none after `end`. */
static void add_context(struct scanner *s, size_t at, size_t end, unsigned most)
{
	for (; most && at < end; most--) {
		const size_t stop = line_end(s, at);

		add_line(s, at, stop, 0);
		at = stop + 1;
	}
	/* The empty line after the last newline. */
	if (most && at == s->n && s->eof && s->p[at - 1] == '\n')
		hits_line(s->out, STR(""), 0);
}

static void add_hit(struct scanner *s, const struct regex_match *m)
{
	const unsigned context = s->o->context;
	const size_t top = lines_up(s, m->line, context);
	const size_t above = bytes_count((struct str){ s->p + top, m->line - top }, '\n');

	hits_begin(s->out, HIT_FILE, s->o->prefix, s->in->path);
	add_context(s, top, m->line, context);
	size_t at = m->line;
	for (unsigned n = 0; n < LIMIT_SEARCH_CONTEXT && (at < m->line_end || n == 0); n++) {
		const size_t stop = line_end(s, at);

		add_line(s, at, stop, HIT_LINE_MATCH);
		at = stop + 1;
	}
	if (context && m->line_end < s->n)
		add_context(s, m->line_end + 1, s->n, context);
	hits_end(s->out, s->line, s->line - (int64_t)above, 0);
}

/* Add the file, in the modes that give one hit per file, if it belongs to what was asked for. One
 * with which an earlier search ended is not without a match because none is left. */
static void add_file_if(struct scanner *s, enum scan_outcome outcome)
{
	const bool without = outcome == SCAN_SEARCHED && !s->matches && !s->in->after_line;

	if (s->o->mode == SCAN_LINES || !(s->o->mode == SCAN_WITHOUT ? without : s->matches > 0))
		return;
	hits_begin(s->out, HIT_FILE, s->o->prefix, s->in->path);
	hits_end(s->out, 0, 0, s->matches);
}

static bool enough(const struct scanner *s)
{
	return (s->o->limit && s->out->count >= s->o->limit) || s->out->bytes >= LIMIT_SEARCH_BYTES;
}

/* Whether the window has a NUL byte; checked once per window, and only when it matters. */
static bool is_binary(struct scanner *s)
{
	if (s->text_known)
		return false;
	if (memchr(s->p, 0, s->n))
		return true;
	s->text_known = true;
	return false;
}

/* Whether this line counts: not before the place where the search continues, and not reported
 * already, as the parts of a very long line would be. */
static bool is_new(struct scanner *s, size_t at)
{
	s->line += (int64_t)bytes_count((struct str){ s->p + s->counted, at - s->counted }, '\n');
	s->counted = at;
	if (s->line <= s->in->after_line || s->line == s->last_line)
		return false;
	s->last_line = s->line;
	s->matches++;
	return true;
}

/* Take a match. 1 to continue, 0 when the file is finished or binary. */
static int take(struct scanner *s, const struct regex_match *m)
{
	if (!is_new(s, m->line))
		return 1;
	if (s->o->mode == SCAN_FILES || s->o->mode == SCAN_WITHOUT || is_binary(s))
		return 0;
	if (s->o->mode != SCAN_LINES)
		return 1;
	add_hit(s, m);
	return !enough(s);
}

/* Take the lines between two that match. The same results. */
static int take_others(struct scanner *s, size_t at, size_t end)
{
	int more = 1;

	while (at < end && more) {
		const struct regex_match m = { .line = at, .line_end = line_end(s, at) };
		more = take(s, &m);
		at = m.line_end + 1;
	}
	return more;
}

/* Search the window up to `end`. 1 to continue, 0 when the file is finished or binary, -1 when the
 * budget is used up. */
static int search(struct scanner *s, size_t end)
{
	const struct str text = { s->p, end };
	struct regex_match m;

	while (s->from < end) {
		const int got = regex_next(s->o->regex, s->cache, text, s->from, &s->o->budget, &m,
					   &s->why);
		const size_t before = s->from;
		s->from = got > 0 && m.line_end < end ? m.line_end + 1 : end;
		if (got < 0)
			return -1;
		if (s->o->invert && !take_others(s, before, got ? m.line : end))
			return 0;
		if (!s->o->invert && got && !take(s, &m))
			return 0;
	}
	return 1;
}

/* Drop what has been searched, except for lines that may be context of the next match. */
static void slide(struct scanner *s, unsigned context)
{
	const size_t keep = lines_up(s, s->from, context);

	if (keep > s->counted) {
		s->line += (int64_t)bytes_count(
			(struct str){ s->p + s->counted, keep - s->counted }, '\n');
		s->counted = keep;
	}
	if (keep)
		s->headless = s->p[keep - 1] != '\n';
	memmove(s->p, s->p + keep, s->n - keep);
	s->n -= keep;
	s->from -= keep;
	s->counted -= keep;
}

static void skip_bom(struct scanner *s)
{
	const struct str bom = STR("\xef\xbb\xbf");

	if (!str_starts((struct str){ s->p, s->n }, bom))
		return;
	memmove(s->p, s->p + bom.n, s->n - bom.n);
	s->n -= bom.n;
}

/* Whether the file is too large. If it is larger than one window, its present size is also how much
 * of it will be read. */
static bool too_large(struct scanner *s)
{
	const int64_t most = s->o->multiline ? LIMIT_SEARCH_MULTILINE : INT64_MAX;
	struct stat st = { .st_size = (off_t)s->n };

	if (!s->eof && fstat(s->in->fd, &st) == 0 && st.st_size >= (off_t)s->n)
		s->left = st.st_size - (int64_t)s->n;
	return (s->o->max_bytes && st.st_size > s->o->max_bytes) || st.st_size > most;
}

/* Read more into the window before it is searched: the rest of a long line, or all of a file in
 * which matches may cross lines. False when it is as large as it may be. */
static bool widen(struct scanner *s)
{
	const size_t most = s->o->multiline ? LIMIT_SEARCH_MULTILINE : LIMIT_SEARCH_LINE;

	return grow(s, most) && fill(s);
}

/* Choose how much of the window to search now. When it cannot grow any more, first context is given
 * up, then whole lines. False when the file is too large for a multiline search. */
static bool choose_end(struct scanner *s, size_t *end, bool *forced)
{
	*forced = false;
	for (;;) {
		*end = searchable(s, s->o->context);
		if (s->eof || (*end > s->from && !s->o->multiline))
			return true;
		if (!widen(s))
			break;
	}
	*forced = true;
	*end = searchable(s, 0);
	if (*end <= s->from)
		*end = s->n;
	return !s->o->multiline;
}

/* Checked once per window: the pattern engine checks only while it has something to do. */
static bool must_stop(const struct scanner *s)
{
	const struct regex_budget *b = &s->o->budget;

	return (s->in->stop && __atomic_load_n(s->in->stop, __ATOMIC_RELAXED)) ||
	       cancel_asked(b->cancel) || regex_budget_expired(b);
}

static enum scan_outcome scan_windows(struct scanner *s)
{
	size_t end;
	bool forced;

	for (;;) {
		if (!choose_end(s, &end, &forced))
			return SCAN_TOO_LARGE;
		s->text_known = false;
		/* A later window may match where this one does not, so all are checked. */
		if (!s->eof && is_binary(s))
			return SCAN_BINARY;
		const int more = search(s, end);
		if (more < 0)
			return SCAN_STOPPED;
		if (more == 0 || s->eof)
			return s->matches && is_binary(s) ? SCAN_BINARY : SCAN_SEARCHED;
		if (must_stop(s))
			return SCAN_STOPPED;
		slide(s, forced ? 0 : s->o->context);
		if (!fill(s))
			return SCAN_UNREADABLE;
	}
}

enum scan_outcome scan_file(struct scanner *s, const struct scan_input *in, struct hits *out)
{
	s->in = in;
	s->out = out;
	s->mark = hits_mark(out);
	s->n = s->from = s->counted = 0;
	s->line = 1;
	s->last_line = s->matches = 0;
	s->skipped_before = regex_lines_skipped(s->cache);
	s->why.code = ERR_NONE;
	s->eof = s->headless = false;
	s->left = INT64_MAX;
	if (!fill(s))
		return SCAN_UNREADABLE;
	if (s->n == 0) {
		add_file_if(s, SCAN_SEARCHED);
		return SCAN_SEARCHED;
	}
	if (memchr(s->p, 0, s->n < BINARY_HEAD ? s->n : BINARY_HEAD))
		return SCAN_BINARY;
	if (too_large(s))
		return SCAN_TOO_LARGE;
	skip_bom(s);
	const enum scan_outcome outcome = scan_windows(s);
	if (outcome == SCAN_BINARY || outcome == SCAN_TOO_LARGE)
		hits_cut(out, &s->mark);
	else
		add_file_if(s, outcome);
	return outcome;
}
