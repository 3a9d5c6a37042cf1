/* SPDX-License-Identifier: MIT */
/* hunk: split the text of a hunk into lines with signs. */

#include "patch/hunk.h"

static struct str without_cr(struct str line)
{
	return line.n && line.p[line.n - 1] == '\r' ? str_upto(line, line.n - 1) : line;
}

/* How many lines after the current SEARCH line may be looked at for one that REPLACE repeats. */
enum { ALIGN_AHEAD = 32 };

/* Put the lines of SEARCH up to one that equals `want` into the hunk, and that one as context;
 * false, and nothing has changed, if there is no such line near. */
static bool align(struct patch_reader *search, struct str want, struct patch_line *lines, size_t *n)
{
	struct patch_reader ahead = *search;
	struct str line;
	size_t skipped = 0;

	for (;; skipped++) {
		if (skipped == ALIGN_AHEAD || !patch_next_line(&ahead, &line))
			return false;
		if (str_eq(without_cr(line), want))
			break;
	}
	for (size_t i = 0; i <= skipped; i++) {
		(void)patch_next_line(search, &line);
		lines[(*n)++] =
			(struct patch_line){ i == skipped ? ' ' : '-', false, without_cr(line) };
	}
	return true;
}

static size_t block_lines(const struct patch_hunk *h, struct patch_line *lines)
{
	struct patch_reader search = patch_reader_of(h->body);
	struct patch_reader replace = patch_reader_of(h->replace);
	struct str line;
	size_t n = 0;

	while (patch_next_line(&replace, &line)) {
		line = without_cr(line);
		if (!align(&search, line, lines, &n))
			lines[n++] = (struct patch_line){ '+', false, line };
	}
	while (patch_next_line(&search, &line))
		lines[n++] = (struct patch_line){ '-', false, without_cr(line) };
	return n;
}

/* Only the last line of a side can be without a newline, and an empty one would be nothing. */
static void close_inner(struct patch_line *lines, size_t n)
{
	bool old = false, new = false;

	while (n--) {
		struct patch_line *line = &lines[n];
		if (line->text.n == 0 || (old && line->sign != '+') || (new && line->sign != '-'))
			line->open = false;
		old |= line->sign != '+';
		new |= line->sign != '-';
	}
}

size_t patch_hunk_lines(const struct patch *p, const struct patch_hunk *h, struct patch_line *lines)
{
	struct patch_reader in = patch_reader_of(h->body);
	struct str line;
	size_t n = 0;

	if (p->format == PATCH_BLOCKS)
		return block_lines(h, lines);
	while (patch_next_line(&in, &line)) {
		if (p->format == PATCH_V4A)
			line = without_cr(line);
		if (line.n && line.p[0] == '\\') {
			if (n)
				lines[n - 1].open = true;
			continue;
		}
		/* Some editors remove the blank of an empty context line. */
		const bool bare = line.n == 0 || line.p[0] == '\r';
		lines[n++] = (struct patch_line){ bare ? ' ' : line.p[0], false,
						  bare ? line : str_from(line, 1) };
	}
	close_inner(lines, n);
	return n;
}

void patch_hunk_content(const struct patch *p, const struct patch_hunk *h, struct buf *out)
{
	const bool blocks = p->format == PATCH_BLOCKS;
	struct patch_reader in = patch_reader_of(blocks ? h->replace : h->body);
	struct str line, last = STR("");
	bool open = false;

	while (patch_next_line(&in, &line)) {
		/* An empty line without its newline would be nothing. */
		open = !blocks && line.n && line.p[0] == '\\' && last.n;
		if (!blocks && line.n && line.p[0] == '\\')
			continue;
		last = blocks ? line : str_from(line, 1);
		if (p->format != PATCH_UNIFIED)
			last = without_cr(last);
		buf_add(out, last);
		buf_addc(out, '\n');
	}
	if (open && !out->failed)
		out->n--;
}
