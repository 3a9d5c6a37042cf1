/* SPDX-License-Identifier: MIT */
/* words: one pass over the text; a word is never longer than what it stands in. */

#include "policy/words.h"

#include <stdbool.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Where reading stands. */
struct reader {
	struct str in;
	size_t at;
	char *out; /* the next byte of a word goes here */
};

/* What is between two quotes; `at` is behind the first. -1 when there is no second. */
static int read_quoted(struct reader *r, char quote)
{
	for (; r->at < r->in.n; *r->out++ = r->in.p[r->at++]) {
		const char c = r->in.p[r->at];
		if (c == quote) {
			r->at++;
			return 0;
		}
		if (c != '\\' || quote == '\'' || r->at + 1 == r->in.n)
			continue;
		const char next = r->in.p[r->at + 1];
		r->at += next == '"' || next == '\\';
	}
	return -1;
}

/* The word that begins at `at`. */
static int read_word(struct reader *r, struct str *ret, struct err *e)
{
	char *const begin = r->out;

	while (r->at < r->in.n && !is_blank(r->in.p[r->at])) {
		const char c = r->in.p[r->at++];
		if (c == '\'' || c == '"') {
			if (read_quoted(r, c) < 0)
				return err_set(e, ERR_INVALID_ARGUMENTS,
					       "The command has a %c that is not closed", c);
			continue;
		}
		if (c == '\\' && r->at == r->in.n)
			return err_set(e, ERR_INVALID_ARGUMENTS,
				       "The command ends in a backslash with nothing behind it");
		*r->out++ = c == '\\' ? r->in.p[r->at++] : c;
	}
	*ret = (struct str){ begin, (size_t)(r->out - begin) };
	return 0;
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->in.n && is_blank(r->in.p[r->at]))
		r->at++;
}

/* Words are at most what stands between blanks. */
static size_t count_most(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += !is_blank(text.p[i]) && (i == 0 || is_blank(text.p[i - 1]));
	return n;
}

int words_split(struct str text, struct arena *a, struct str **ret, size_t *count, struct err *e)
{
	const size_t most = count_most(text);

	if (most == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid command");
	if (str_index(text, '\0') >= 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "The command has a NUL byte");
	struct str *list = arena_array(a, most, sizeof *list);
	struct reader r = { .in = text, .out = arena_alloc(a, text.n) };
	size_t n = 0;

	if (!list || !r.out)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the command, try again");
	for (skip_blanks(&r); r.at < text.n; skip_blanks(&r))
		if (read_word(&r, &list[n++], e) < 0)
			return -1;
	*ret = list;
	*count = n;
	return 0;
}
