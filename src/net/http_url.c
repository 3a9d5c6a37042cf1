/* SPDX-License-Identifier: MIT */
/* http_url: escapes and parameters. */

#include "net/http_url.h"

/* The byte that is written at *i, which moves past it; or -1. */
static int next_byte(struct str s, size_t *i, char plus)
{
	const char c = s.p[(*i)++];

	if (c == '+')
		return plus;
	if (c != '%')
		return (unsigned char)c;
	if (s.n - *i < 2)
		return -1;
	const int high = str_hex(s.p[*i]), low = str_hex(s.p[*i + 1]);
	*i += 2;
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static ptrdiff_t decode(struct str raw, char plus, char *out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < raw.n; n++) {
		const int c = next_byte(raw, &i, plus);
		if (c < 0 || n == room)
			return -1;
		out[n] = (char)c;
	}
	return (ptrdiff_t)n;
}

ptrdiff_t http_path_decode(struct str raw, char *out)
{
	return decode(raw, '+', out, raw.n);
}

/* Whether a raw name decodes to this one. */
static bool is_name(struct str raw, struct str name)
{
	size_t i = 0, n = 0;

	while (i < raw.n && n < name.n)
		if (next_byte(raw, &i, ' ') != (unsigned char)name.p[n++])
			return false;
	return i == raw.n && n == name.n;
}

int http_query(struct str query, struct str name, char *out, size_t room, struct str *ret)
{
	while (query.n) {
		struct str pair, raw_name, value;
		(void)str_cut(query, '&', &pair, &query);
		(void)str_cut(pair, '=', &raw_name, &value);
		if (pair.n == 0 || !is_name(raw_name, name))
			continue;
		if (str_index(value, '%') < 0 && str_index(value, '+') < 0) {
			*ret = value;
			return 1;
		}
		const ptrdiff_t n = decode(value, ' ', out, room);
		if (n < 0)
			return -1;
		*ret = (struct str){ out, (size_t)n };
		return 1;
	}
	return 0;
}
