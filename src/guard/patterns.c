/* SPDX-License-Identifier: MIT */
/* patterns: each rule is a set of its own, so that it can be named. */

#include "guard/patterns.h"

#include <string.h>

static bool add_line(struct patterns *r, struct str line)
{
	struct ignore *set = ignore_new(line, 0, NULL);

	if (!set)
		return true; /* a comment, or nothing */
	if (r->count == PATTERNS_MOST) {
		ignore_drop(set);
		return false;
	}
	r->text[r->count] = line;
	r->each[r->count++] = set;
	return true;
}

bool patterns_add(struct patterns *r, struct str lines)
{
	struct str rest = lines, line;

	while (rest.n) {
		(void)str_cut(rest, '\n', &line, &rest);
		if (!add_line(r, line))
			return false;
	}
	r->all = ignore_new(lines, 0, r->all);
	return true;
}

void patterns_done(struct patterns *r)
{
	for (size_t i = 0; i < r->count; i++)
		ignore_drop(r->each[i]);
	ignore_drop(r->all);
	*r = (struct patterns){ .count = 0 };
}

/* What decides about this name alone. */
static int match_one(const struct patterns *r, struct str path, size_t name_at, bool is_dir)
{
	for (size_t i = r->count; i-- > 0;) {
		const enum ignore_verdict v = ignore_match(r->each[i], path, name_at, is_dir);
		if (v != IGNORE_SILENT)
			return v == IGNORE_YES ? (int)i : PATTERNS_FREE;
	}
	return PATTERNS_SILENT;
}

int patterns_match_name(const struct patterns *r, struct str path, bool is_dir)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
	const size_t at = slash ? (size_t)(slash + 1 - path.p) : 0;

	if (!r->all || ignore_match(r->all, path, at, is_dir) == IGNORE_SILENT)
		return PATTERNS_SILENT;
	return match_one(r, path, at, is_dir);
}

int patterns_match(const struct patterns *r, struct str path, bool is_dir)
{
	int found = PATTERNS_SILENT;

	for (size_t at = 0, end; at < path.n; at = end + 1) {
		const char *slash = memchr(path.p + at, '/', path.n - at);
		end = slash ? (size_t)(slash - path.p) : path.n;
		const int one =
			patterns_match_name(r, (struct str){ path.p, end }, end < path.n || is_dir);
		found = one == PATTERNS_SILENT ? found : one;
	}
	return found;
}
