/* SPDX-License-Identifier: MIT */
/* words: command lines without a shell. */

#include "policy/words.h"

#include "policy/shword.h"

static bool is_blank(char c)
{
	return c && strchr(" \t\r\n", c);
}

/* Every word begins after a blank, or at the start. */
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
	char *room = arena_alloc(a, text.n);
	struct shlex s = { .p = text.p,
			   .end = text.p + text.n,
			   .arena = a,
			   .text = buf_over(room, room ? text.n : 0),
			   .literal = true };
	size_t n = 0;

	while (list && s.p < s.end) {
		if (is_blank(*s.p))
			s.p++;
		else
			list[n++] = shword_read(&s, 0).text;
	}
	if (a->failed || s.trouble)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the command, try again");
	if (s.unclosed == '\\')
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "The command ends in a backslash with nothing after it");
	if (s.unclosed)
		return err_set(e, ERR_INVALID_ARGUMENTS, "The command has a %c that is not closed",
			       s.unclosed);
	*ret = list;
	*count = n;
	return 0;
}
