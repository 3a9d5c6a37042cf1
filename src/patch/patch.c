/* SPDX-License-Identifier: MIT */
/* patch: find the format of a patch and have it parsed; the list that its parser fills; and
 * the parser of blocks, SEARCH and REPLACE texts, each with the path of its file on the line
 * before. */

#include "patch/patch.h"

#include "base/own.h"
#include "patch/limits.h"

const char *const patch_formats[] = {
	[PATCH_AUTO] = "auto",
	[PATCH_V4A] = "v4a",
	[PATCH_UNIFIED] = "unified",
	[PATCH_BLOCKS] = "blocks",
	NULL,
};

/* Whether the line is a fence of a block: the character five to nine times, then the text. */
static bool is_fence(struct str line, char c, struct str text)
{
	size_t n = 0;

	line = patch_right_trim(line);
	while (n < line.n && line.p[n] == c)
		n++;
	return n >= 5 && n <= 9 && str_eq(str_from(line, n), text);
}

int patch_fail(struct patch_parser *p, int64_t line, const char *why)
{
	return err_set(p->e, ERR_INVALID_PATCH, "Line %lld of the patch: %s", (long long)line, why);
}

int patch_fail_memory(struct err *e)
{
	return err_set(e, ERR_TOO_BUSY, "Not enough memory for this patch, try again");
}

struct patch_file *patch_add_file(struct patch_parser *p, enum patch_kind kind, struct str path)
{
	if (path.n == 0 || memchr(path.p, 0, path.n)) {
		(void)patch_fail(p, p->in.line, "the path is empty or has a NUL byte");
		return NULL;
	}
	if (p->patch->count == LIMIT_PATCH_FILES) {
		(void)err_set(p->e, ERR_INVALID_PATCH,
			      "Line %lld of the patch: it changes more than %d files, make several "
			      "patches of it",
			      (long long)p->in.line, LIMIT_PATCH_FILES);
		return NULL;
	}
	if (p->patch->count == p->room &&
	    !arena_grow(p->arena, &p->patch->files, &p->room, sizeof *p->patch->files)) {
		(void)patch_fail_memory(p->e);
		return NULL;
	}
	struct patch_file *f = &p->patch->files[p->patch->count++];
	*f = (struct patch_file){ .kind = kind, .path = path, .line = p->in.line };
	p->last = NULL;
	return f;
}

struct patch_hunk *patch_add_hunk(struct patch_parser *p)
{
	struct patch_file *f = &p->patch->files[p->patch->count - 1];
	struct patch_hunk *h = arena_array(p->arena, 1, sizeof *h);

	if (!h) {
		(void)patch_fail_memory(p->e);
		return NULL;
	}
	*h = (struct patch_hunk){
		.line = p->in.line, .old_start = -1, .new_start = -1, .old_said = -1, .new_said = -1
	};
	if (p->last)
		p->last->next = h;
	else
		f->hunks = h;
	p->last = h;
	f->hunk_count++;
	return h;
}

void patch_count(struct patch_hunk *h)
{
	struct patch_reader in = patch_reader_of(h->body);
	struct str line;

	h->old_count = h->new_count = 0;
	while (patch_next_line(&in, &line)) {
		const char sign = line.n ? line.p[0] : ' ';
		if (sign == '\\')
			continue;
		h->old_count += sign != '+';
		h->new_count += sign != '-';
	}
}

/* A path as models write it: bare, as a heading, in backticks or asterisks, with a colon. */
static struct str plain_path(struct str line)
{
	struct str s = str_trim(line);

	while (s.n && (s.p[0] == '#' || s.p[0] == ' '))
		s = str_from(s, 1);
	if (s.n && s.p[s.n - 1] == ':')
		s.n--;
	while (s.n > 2 && (s.p[0] == '`' || s.p[0] == '*') && s.p[s.n - 1] == s.p[0])
		s = (struct str){ s.p + 1, s.n - 2 };
	return s;
}

/* The lines up to a fence, without it; false at the end of the patch. */
static bool read_until(struct patch_parser *p, char c, struct str text, struct str *ret)
{
	const char *begin = p->in.p;
	struct str line;

	while (patch_next_line(&p->in, &line)) {
		if (is_fence(line, c, text)) {
			*ret = (struct str){ begin, (size_t)(line.p - begin) };
			return true;
		}
	}
	return false;
}

static size_t count_lines(struct str s)
{
	struct patch_reader in = patch_reader_of(s);
	struct str line;

	while (patch_next_line(&in, &line))
		;
	return (size_t)in.line;
}

/* A block for the path; blocks of one file that follow each other are its hunks. */
static int parse_block(struct patch_parser *p, struct str path)
{
	const int64_t begin = p->in.line;
	struct str search, replace;

	if (!read_until(p, '=', STR(""), &search))
		return patch_fail(p, begin, "after this <<<<<<< SEARCH there is no =======");
	if (!read_until(p, '>', STR(" REPLACE"), &replace))
		return patch_fail(p, begin,
				  "after this <<<<<<< SEARCH there is no >>>>>>> REPLACE");
	const struct patch_file *last =
		p->patch->count ? &p->patch->files[p->patch->count - 1] : NULL;
	const enum patch_kind kind = search.n ? PATCH_UPDATE : PATCH_ADD;
	if (kind == PATCH_ADD || !last || last->kind != kind || !str_eq(last->path, path)) {
		struct patch_file *f = patch_add_file(p, kind, path);
		if (!f)
			return -1;
		f->line = begin;
	}
	struct patch_hunk *h = patch_add_hunk(p);
	if (!h)
		return -1;
	h->line = begin;
	h->body = search;
	h->replace = replace;
	h->old_count = count_lines(search);
	h->new_count = count_lines(replace);
	return 0;
}

static int blocks_parse(struct patch_parser *p)
{
	struct str line, path = STR("");

	while (patch_next_line(&p->in, &line)) {
		const struct str t = str_trim(line);
		if (t.n == 0 || str_starts(t, STR("```")))
			continue;
		if (!is_fence(line, '<', STR(" SEARCH"))) {
			path = plain_path(line);
			continue;
		}
		if (path.n == 0)
			return patch_fail(p, p->in.line,
					  "the path of the file must be on the line before "
					  "<<<<<<< SEARCH");
		if (parse_block(p, path) < 0)
			return -1;
	}
	return 0;
}

/* What the line says about the format of the whole patch, given the line after it. */
static enum patch_format format_of(struct str line, struct str next)
{
	const struct str t = str_trim(line);

	if (str_starts(t, STR("*** Begin Patch")) || str_starts(t, STR("*** Add File: ")) ||
	    str_starts(t, STR("*** Update File: ")) || str_starts(t, STR("*** Delete File: ")))
		return PATCH_V4A;
	if (is_fence(line, '<', STR(" SEARCH")))
		return PATCH_BLOCKS;
	if (str_starts(line, STR("diff --git ")) ||
	    (str_starts(line, STR("--- ")) && str_starts(next, STR("+++ "))))
		return PATCH_UNIFIED;
	return PATCH_AUTO;
}

static enum patch_format detect(struct patch_reader in)
{
	enum patch_format found = PATCH_AUTO;
	struct str line;

	while (found == PATCH_AUTO && patch_next_line(&in, &line)) {
		struct patch_reader ahead = in;
		struct str next = STR("");
		(void)patch_next_line(&ahead, &next);
		found = format_of(line, next);
	}
	return found;
}

int patch_parse(struct str text, enum patch_format format, int strip, struct arena *a,
		struct patch *ret, struct err *e)
{
	struct patch patch = { .format = format };
	struct patch_parser p = {
		.in = patch_reader_of(text), .strip = strip, .arena = a, .patch = &patch, .e = e
	};

	if (text.n > LIMIT_PATCH_BYTES)
		return err_set(e, ERR_INVALID_PATCH,
			       "The patch has %zu bytes, more than %d. Make several patches of it",
			       text.n, LIMIT_PATCH_BYTES);
	if (format == PATCH_AUTO)
		patch.format = detect(p.in);
	if (patch.format == PATCH_AUTO)
		return patch_fail(&p, 1,
				  "this is not a patch. It must begin with \"*** Begin Patch\", "
				  "be a unified diff (--- and +++), or have <<<<<<< SEARCH blocks");
	const int result = patch.format == PATCH_V4A	   ? v4a_parse(&p)
			   : patch.format == PATCH_UNIFIED ? unified_parse(&p)
							   : blocks_parse(&p);
	if (result < 0)
		return -1;
	if (patch.count == 0)
		return patch_fail(&p, p.in.line ? p.in.line : 1,
				  "the patch ends here and changes no file");
	*ret = patch;
	return 0;
}

/* The path in a line that names one; or { NULL, 0 }. */
static struct str path_in(struct str line)
{
	static const struct str heads[] = { STR("*** Add File: "),
					    STR("*** Update File: "),
					    STR("*** Delete File: "),
					    STR("rename to "),
					    STR("+++ "),
					    STR("--- ") };
	const struct str t = str_trim(line);

	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		struct str path, time;
		if (!str_starts(t, heads[i]) ||
		    str_eq(path = str_from(t, heads[i].n), STR("/dev/null")))
			continue;
		(void)str_cut(path, '\t', &path, &time);
		return i > 3 && (str_starts(path, STR("a/")) || str_starts(path, STR("b/")))
			       ? str_from(path, 2)
			       : path;
	}
	return (struct str){ NULL, 0 };
}

struct str patch_first_path(struct str text)
{
	enum { LOOK = 8 << 10 };
	struct patch_reader in = patch_reader_of(str_upto(text, LOOK));
	struct str line, last = STR("");

	while (patch_next_line(&in, &line)) {
		const struct str path = path_in(line);
		if (path.p)
			return path;
		if (is_fence(line, '<', STR(" SEARCH")))
			return str_trim(last);
		last = line;
	}
	return STR("");
}
