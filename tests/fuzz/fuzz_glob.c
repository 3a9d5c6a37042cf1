/* SPDX-License-Identifier: MIT */
/* Globs: the first byte gives the flags, a newline separates pattern and path. Small ones without
 * classes are compared with a matcher that tries everything. */

#include <stdint.h>
#include <stdlib.h>

#include "base/own.h"
#include "search/glob.h"
#include "search/wild.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SMALL = 20 };

/* Where the brace that opens at p[0] closes, or the end of the first alternative from p[0]. */
static size_t skip_to(struct str p, bool alternative)
{
	size_t depth = 0;

	for (size_t i = 0; i < p.n; i++) {
		if (p.p[i] == '\\')
			i++;
		else if (p.p[i] == '{')
			depth++;
		else if (alternative && depth == 0 && (p.p[i] == ',' || p.p[i] == '}'))
			return i;
		else if (p.p[i] == '}' && --depth == 0 && !alternative)
			return i;
	}
	return p.n;
}

static bool try_all(struct str p, struct str t, bool starts);

/* "{a,b}rest": a rest, or b rest, each written out. */
static bool try_brace(struct str p, struct str t, bool starts)
{
	const size_t close = skip_to(p, false);
	const struct str rest = str_from(p, close + 1);

	for (size_t at = 1; at <= close;) {
		const size_t n = skip_to(str_from(p, at), true);
		char one[4 * SMALL];

		memcpy(one, p.p + at, n);
		memcpy(one + n, rest.p, rest.n);
		if (try_all((struct str){ one, n + rest.n }, t, starts))
			return true;
		at += n + 1;
	}
	return false;
}

static bool try_star(struct str p, struct str t, bool starts)
{
	size_t n = 0;

	while (n < p.n && p.p[n] == '*')
		n++;
	const struct str rest = str_from(p, n);
	const bool deep = n > 1 && starts &&
			  (rest.n == 0 || rest.p[0] == '/' || str_starts(rest, STR("\\/")));
	if (deep && str_starts(rest, STR("/")) && try_all(str_from(rest, 1), t, true))
		return true;
	for (size_t i = 0; i <= t.n; i++) {
		if (try_all(rest, str_from(t, i), false))
			return true;
		if (i < t.n && t.p[i] == '/' && !deep)
			return false;
	}
	return false;
}

static bool try_all(struct str p, struct str t, bool starts)
{
	if (p.n == 0)
		return t.n == 0;
	if (p.p[0] == '{')
		return try_brace(p, t, starts);
	if (p.p[0] == '*')
		return try_star(p, t, starts);
	if (t.n == 0)
		return false;
	if (p.p[0] == '?')
		return t.p[0] != '/' && try_all(str_from(p, 1), str_from(t, 1), false);
	const size_t escape = p.p[0] == '\\';
	return p.p[escape] == t.p[0] &&
	       try_all(str_from(p, escape + 1), str_from(t, 1), t.p[0] == '/');
}

static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80 || s.p[i] == '[' || s.p[i] == '(')
			return false;
	return s.n <= SMALL;
}

/* Written out, "**" may end up next to other stars; the two matchers then differ on its meaning.
 * Neither is wrong. */
static bool is_comparable(struct str p)
{
	return is_plain(p) && !(str_index(p, '{') >= 0 && str_find(p, STR("*")) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = { (const char *)data, size }, pattern, path;
	struct err e = { 0 };
	struct glob *g = NULL;
	struct wild *w = NULL;

	if (size < 1)
		return 0;
	const unsigned flags = data[0] & 3;
	str_cut(str_from(input, 1), '\n', &pattern, &path);
	if (glob_new(pattern, flags, &g, &e) == 0) {
		const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
		const struct str name = slash ? str_from(path, (size_t)(slash + 1 - path.p)) : path;

		(void)glob_match(g, path, name, data[0] & 4);
		glob_free(g);
	}
	if (wild_new(pattern, flags, &w, &e) == 0) {
		const bool got = wild_match(w, path);

		if (flags == 0 && is_comparable(pattern) && path.n <= SMALL && is_plain(path) &&
		    got != try_all(pattern, path, true))
			abort();
		wild_free(w);
	}
	return 0;
}
