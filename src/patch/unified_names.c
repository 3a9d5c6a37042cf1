/* SPDX-License-Identifier: MIT */
/* unified_names: read the paths in the headers of unified diffs as git does. */

#include "patch/unified_names.h"

#include "patch/hunk.h"
#include "patch/reader.h"

/* The byte that a backslash and these characters stand for; *used is how many there are. -1: it is
 * not an escape. */
static int unescape(struct str s, size_t *used)
{
	static const char letters[] = "abfnrtv\\\"", bytes[] = "\a\b\f\n\r\t\v\\\"";
	int value = 0;

	if (s.n == 0)
		return -1;
	const char *letter = memchr(letters, s.p[0], sizeof letters - 1);
	if (letter) {
		*used = 1;
		return bytes[letter - letters];
	}
	for (size_t i = 0; i < 3; i++) {
		if (i >= s.n || s.p[i] < '0' || s.p[i] > '7')
			return -1;
		value = value * 8 + (s.p[i] - '0');
	}
	*used = 3;
	return value <= 255 ? value : -1;
}

/* The quoted path at the start of s; *used is its length with the quotes. */
static struct str unquote(struct str s, struct arena *a, size_t *used)
{
	char *out = arena_alloc(a, s.n + 1);
	size_t n = 0;

	for (size_t i = 1; out && i < s.n; i++) {
		if (s.p[i] == '"') {
			*used = i + 1;
			return (struct str){ out, n };
		}
		if (s.p[i] != '\\') {
			out[n++] = s.p[i];
			continue;
		}
		size_t escape = 0;
		const int byte = unescape(str_from(s, i + 1), &escape);
		if (byte < 0)
			break;
		out[n++] = (char)byte;
		i += escape;
	}
	return STR("");
}

static struct str strip_name(struct str s, int strip)
{
	if (strip == PATCH_STRIP_AUTO)
		return str_starts(s, STR("a/")) || str_starts(s, STR("b/")) ? str_from(s, 2) : s;
	for (; strip > 0; strip--) {
		struct str head, tail;
		if (!str_cut(s, '/', &head, &tail))
			return STR("");
		while (str_starts(tail, STR("/")))
			tail = str_from(tail, 1);
		s = tail;
	}
	return s;
}

struct str name_read(struct str s, int strip, struct arena *a)
{
	struct str head, tail;
	size_t used;

	s = patch_right_trim(s);
	if (str_starts(s, STR("\"")))
		return strip_name(unquote(s, a, &used), strip);
	(void)str_cut(s, '\t', &head, &tail);
	return strip_name(head, strip);
}

struct str name_of_both(struct str s, int strip, struct arena *a)
{
	const int one = strip == PATCH_STRIP_AUTO ? 1 : strip;

	s = patch_right_trim(s);
	if (str_starts(s, STR("\""))) {
		size_t used = 0;
		const struct str first = unquote(s, a, &used);
		const struct str second = name_read(str_trim(str_from(s, used)), strip, a);
		return used && str_eq(strip_name(first, strip), second) ? second : STR("");
	}
	/* Without quotes a blank can be part of a path: both halves must be the same. */
	for (size_t i = 1; i + 1 < s.n; i++) {
		if (s.p[i] != ' ' || i * 2 + 1 != s.n)
			continue;
		const struct str first = str_upto(s, i), second = str_from(s, i + 1);
		if (str_eq(strip_name(first, strip), strip_name(second, strip)))
			return strip_name(first, strip);
		if (strip == PATCH_STRIP_AUTO &&
		    str_eq(strip_name(first, one), strip_name(second, one)))
			return strip_name(first, one);
	}
	return STR("");
}

bool name_is_none(struct str s)
{
	struct str head, time;

	s = patch_right_trim(s);
	(void)str_cut(s, '\t', &head, &time);
	return str_eq(patch_right_trim(head), STR("/dev/null")) ||
	       str_starts(time, STR("1970-01-01 00:00:00")) || str_starts(time, STR("1969-12-31 "));
}
