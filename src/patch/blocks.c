/* SPDX-License-Identifier: MIT */
/* blocks: SEARCH and REPLACE texts, each with the path of its file on the line before. */

#include "patch/parser.h"

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
		if (patch_is_fence(line, c, text)) {
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

int blocks_parse(struct patch_parser *p)
{
	struct str line, path = STR("");

	while (patch_next_line(&p->in, &line)) {
		const struct str t = str_trim(line);
		if (t.n == 0 || str_starts(t, STR("```")))
			continue;
		if (!patch_is_fence(line, '<', STR(" SEARCH"))) {
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
