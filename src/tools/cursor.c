/* SPDX-License-Identifier: MIT */
/* cursor: a line and a path, there and back. */

#include "tools/cursor.h"

#include <stdio.h>

static bool unescape(struct str s, char *to, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (c == '%') {
			if (s.n - i < 3 || str_hex(s.p[i + 1]) < 0 || str_hex(s.p[i + 2]) < 0)
				return false;
			c = (char)(str_hex(s.p[i + 1]) << 4 | str_hex(s.p[i + 2]));
			i += 2;
		}
		if (c == '\0')
			return false;
		to[(*n)++] = c;
	}
	return true;
}

int cursor_read(struct str text, struct arena *a, struct cursor *ret, struct err *e)
{
	struct str line, path;
	int64_t number;
	size_t n;

	*ret = (struct cursor){ 0 };
	if (text.n == 0)
		return 0;
	char *to = arena_alloc(a, text.n);
	if (!to)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	if (!str_cut(text, ':', &line, &path) || path.n == 0 || !str_int(line, &number) ||
	    number < 0 || !unescape(path, to, &n))
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "cursor must be the next_cursor of an earlier answer, not \"%.*s\"",
			       STR_FMT(str_upto(text, 100)));
	*ret = (struct cursor){ { to, n }, number ? number : INT64_MAX };
	return 0;
}

/* INT64_MAX is written as 0: easier to copy than nineteen digits. */
void cursor_write(struct jw *w, const char *name, const struct cursor *c)
{
	char text[32];
	const int64_t line = c->line == INT64_MAX ? 0 : c->line;

	jw_open_str(w, name);
	(void)snprintf(text, sizeof text, "%lld:", (long long)line);
	jw_piece(w, str_of(text));
	for (size_t i = 0; i < c->path.n; i++) {
		const unsigned char byte = (unsigned char)c->path.p[i];
		const bool plain = byte > ' ' && byte < 0x7f && byte != '%';
		(void)snprintf(text, sizeof text, plain ? "%c" : "%%%02X", byte);
		jw_piece(w, str_of(text));
	}
	jw_close_str(w);
}
