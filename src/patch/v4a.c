/* SPDX-License-Identifier: MIT */
/* v4a: the patches of OpenAI's apply_patch, with the lenient forms that its models write: a shell's
 * here-document around the patch, blanks around markers, a missing begin or end. */

#include "patch/hunk.h"

/* Whether the line has this marker; *value is what follows it. */
static bool has_marker(struct str line, struct str marker, struct str *value)
{
	if (!str_starts(line, marker))
		return false;
	*value = str_trim(str_from(line, marker.n));
	return true;
}

static bool is_header(struct str line)
{
	struct str ignored;

	return has_marker(line, STR("*** Add File: "), &ignored) ||
	       has_marker(line, STR("*** Delete File: "), &ignored) ||
	       has_marker(line, STR("*** Update File: "), &ignored) ||
	       str_eq(line, STR("*** End Patch"));
}

/* The last line that is not blank, among those from p to end. */
static struct str last_line(const char *p, const char *end)
{
	struct str all = patch_right_trim((struct str){ p, (size_t)(end - p) });
	const char *newline = all.n ? memrchr(all.p, '\n', all.n) : NULL;

	return newline ? str_from(all, (size_t)(newline + 1 - all.p)) : all;
}

/* The word that ends a here-document which this line begins; empty if it does not. */
static struct str here_word(struct str line)
{
	const ptrdiff_t at = str_find(line, STR("<<"));
	struct str word = str_trim(str_from(line, at < 0 ? line.n : (size_t)at + 2));

	if (word.n > 2 && (word.p[0] == '\'' || word.p[0] == '"') &&
	    word.p[word.n - 1] == word.p[0])
		word = (struct str){ word.p + 1, word.n - 2 };
	return str_index(word, ' ') < 0 ? word : STR("");
}

/* Take what is around the patch off: blank lines, a here-document, a code fence, the first marker,
 * and blanks before the last one. */
static void unwrap(struct patch_parser *p)
{
	struct patch_reader next = p->in;
	struct str line, word = STR("");

	while (patch_next_line(&next, &line)) {
		const struct str t = str_trim(line);
		if (is_header(t))
			break;
		const bool begin = str_eq(t, STR("*** Begin Patch"));
		const struct str here = here_word(t);
		if (here.n)
			word = here;
		else if (str_starts(t, STR("```")))
			word = STR("```");
		else if (t.n && !begin)
			break;
		p->in = next;
		if (begin)
			break;
	}
	struct str last = last_line(p->in.p, p->in.end);
	if (word.n && str_eq(str_trim(last), word)) {
		p->in.end = last.p;
		last = last_line(p->in.p, p->in.end);
	}
	/* In an update, a blank before the marker would make a context line of it. */
	if (str_eq(str_trim(last), STR("*** End Patch")) && last.n)
		p->in.end = last.p;
}

static int parse_add(struct patch_parser *p, struct str path)
{
	struct patch_reader next = p->in;
	struct str line;

	if (!patch_add_file(p, PATCH_ADD, path))
		return -1;
	struct patch_hunk *h = patch_add_hunk(p);
	if (!h)
		return -1;
	const char *begin = p->in.p;
	while (patch_next_line(&next, &line) && line.n && line.p[0] == '+')
		p->in = next;
	h->body = (struct str){ begin, (size_t)(p->in.p - begin) };
	patch_count(h);
	return 0;
}

/* The "@@" lines at the start of a hunk. */
static struct str read_anchors(struct patch_parser *p)
{
	const char *begin = p->in.p;
	struct patch_reader next = p->in;
	struct str line;

	while (patch_next_line(&next, &line) &&
	       (str_eq(patch_right_trim(line), STR("@@")) || str_starts(line, STR("@@ "))))
		p->in = next;
	return (struct str){ begin, (size_t)(p->in.p - begin) };
}

static bool is_body(struct str line)
{
	return line.n == 0 || line.p[0] == ' ' || line.p[0] == '+' || line.p[0] == '-' ||
	       line.p[0] == '\r';
}

/* Read one hunk. The next line is not a header. */
static int parse_hunk(struct patch_parser *p)
{
	struct patch_hunk *h = patch_add_hunk(p);
	struct str line;

	if (!h)
		return -1;
	h->line = p->in.line + 1;
	h->anchors = read_anchors(p);
	const char *begin = p->in.p;
	struct patch_reader next = p->in;
	while (patch_next_line(&next, &line) && is_body(line))
		p->in = next;
	h->body = (struct str){ begin, (size_t)(p->in.p - begin) };
	patch_count(h);
	if (h->old_count + h->new_count == 0)
		return patch_fail(p, next.line,
				  "the hunk has no lines. Its lines must begin with a blank "
				  "(context), + (added) or - (removed)");
	if (next.line > p->in.line && str_eq(patch_right_trim(line), STR("*** End of File"))) {
		h->at_end = true;
		p->in = next;
	}
	return 0;
}

static int parse_update(struct patch_parser *p, struct str path)
{
	const int64_t begin = p->in.line;
	struct patch_file *f = patch_add_file(p, PATCH_UPDATE, path);
	struct patch_reader next = p->in;
	struct str line, to;

	if (!f)
		return -1;
	if (patch_next_line(&next, &line) && has_marker(line, STR("*** Move to: "), &to)) {
		p->in = next;
		if (to.n == 0)
			return patch_fail(p, p->in.line, "the path is empty");
		f->kind = PATCH_MOVE;
		f->from = path;
		f->path = to;
	}
	for (next = p->in; patch_next_line(&next, &line); next = p->in) {
		if (is_header(patch_right_trim(line)))
			break;
		/* After the end of the file there is only another hunk, or nothing. */
		if (p->last && p->last->at_end && str_trim(line).n == 0) {
			p->in = next;
			continue;
		}
		const bool more = p->last && !str_starts(line, STR("@@"));
		if (more || (!str_starts(line, STR("@@")) && !is_body(line)))
			return patch_fail(p, next.line,
					  "expected a line that begins with a blank (context), + "
					  "(added) or - (removed), or @@ before the next hunk");
		if (parse_hunk(p) < 0)
			return -1;
	}
	if (f->hunk_count == 0 && f->kind == PATCH_UPDATE)
		return patch_fail(p, begin, "the update of this file has no hunk");
	return 0;
}

static int parse_file(struct patch_parser *p, struct str header)
{
	struct str path;

	if (has_marker(header, STR("*** Add File: "), &path))
		return parse_add(p, path);
	if (has_marker(header, STR("*** Update File: "), &path))
		return parse_update(p, path);
	if (has_marker(header, STR("*** Delete File: "), &path))
		return patch_add_file(p, PATCH_DELETE, path) ? 0 : -1;
	return patch_fail(p, p->in.line,
			  "expected \"*** Add File: path\", \"*** Update File: path\", \"*** "
			  "Delete File: path\" or \"*** End Patch\"");
}

int v4a_parse(struct patch_parser *p)
{
	struct str line;

	unwrap(p);
	while (patch_next_line(&p->in, &line)) {
		const struct str t = str_trim(line);
		if (t.n == 0 || str_starts(t, STR("*** Environment ID:")))
			continue;
		if (str_eq(t, STR("*** End Patch")))
			break;
		if (parse_file(p, t) < 0)
			return -1;
	}
	while (patch_next_line(&p->in, &line))
		if (str_trim(line).n)
			return patch_fail(p, p->in.line, "text after \"*** End Patch\"");
	return 0;
}
