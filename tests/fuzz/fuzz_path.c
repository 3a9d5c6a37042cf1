/* SPDX-License-Identifier: MIT */
/*
 * The path rules against a second, plain implementation, and against what must always hold.
 *
 * The first byte of the input chooses the directories and the policy; the rest is the request.
 */

#include <stdio.h>
#include <stdlib.h>

#include "base/own.h"
#include "workspace/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define S(text)                                                                                    \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

static const struct path_rules sets[] = {
	{ .root = S("/tmp/root") },
	{ .root = S("/") },
	{ .root = S("/tmp/root"), .outside = true },
	{ .root = S("/r/w"), .alias = S("/w") },
	{ .root = S("/r"), .data = S("/d") },
	{ .root = S("/p/w"), .data = S("/d"), .allowed = S("/p"), .outside = true },
	{ .root = S("/m/p/w"),
	  .alias = S("/p/w"),
	  .data = S("/m/d"),
	  .data_alias = S("/d"),
	  .allowed = S("/m/p"),
	  .allowed_alias = S("/p"),
	  .outside = true },
	{ .root = S("/d/w"), .data = S("/d") },
};

/* A path as the list of its names. */
struct names {
	size_t n;
	struct str at[2 * PATH_MAX];
};

/* Add the names of a path, ".." taking the last one away. */
static void add(struct names *to, struct str path)
{
	for (size_t i = 0; i < path.n;) {
		size_t end = i;
		while (end < path.n && path.p[end] != '/' && path.p[end] != '\\')
			end++;
		const struct str name = { path.p + i, end - i };
		i = end + 1;
		if (name.n == 2 && memcmp(name.p, "..", 2) == 0)
			to->n -= to->n > 0;
		else if (name.n && !(name.n == 1 && *name.p == '.'))
			to->at[to->n++] = name;
	}
}

/* Whether the names begin with those of the directory; *skip is how many those are. */
static bool inside(const struct names *path, struct str dir, size_t *skip)
{
	static struct names of;

	of.n = 0;
	add(&of, dir);
	if (!dir.n || of.n > path->n)
		return false;
	for (size_t i = 0; i < of.n; i++)
		if (!str_eq(of.at[i], path->at[i]))
			return false;
	*skip = of.n;
	return true;
}

/* What the names mean as an absolute path; -1 for nothing. */
static int meaning(const struct path_rules *r, const struct names *path, bool relative,
		   size_t *skip)
{
	if (inside(path, r->root, skip) || (!relative && inside(path, r->alias, skip)))
		return PATH_WORKSPACE;
	if ((!relative || r->outside) &&
	    (inside(path, r->data, skip) || inside(path, r->data_alias, skip)))
		return PATH_DATA;
	if (r->outside && (!r->allowed.n || inside(path, r->allowed, skip) ||
			   inside(path, r->allowed_alias, skip))) {
		if (!r->allowed.n)
			*skip = 0;
		return PATH_OUTSIDE;
	}
	return -1;
}

static bool too_long(struct str asked)
{
	size_t n = 0;

	for (size_t i = 0; i < asked.n; i++) {
		n = asked.p[i] == '/' || asked.p[i] == '\\' ? 0 : n + 1;
		if (n > NAME_MAX || asked.p[i] == '\0')
			return true;
	}
	return asked.n >= PATH_MAX;
}

/* The plain way: the base, or minus the error's code; the name is written to `out`. */
static int model(const struct path_rules *r, struct str asked, enum path_policy policy, char *out)
{
	static struct names path;
	size_t skip = 0;

	*out = '\0';
	path.n = 0;
	if (too_long(asked))
		return -ERR_INVALID_PATH;
	const bool absolute = asked.n && (*asked.p == '/' || *asked.p == '\\');
	if (!absolute)
		add(&path, r->root);
	add(&path, asked);
	/* "/" alone means the root. */
	bool only_slash = absolute && !r->outside;
	for (size_t i = 0; i < asked.n; i++)
		only_slash =
			only_slash && (asked.p[i] == '/' || asked.p[i] == '\\' ||
				       (asked.p[i] == '.' && (i == 0 || asked.p[i - 1] != '.')));
	int base = only_slash ? PATH_WORKSPACE : meaning(r, &path, !absolute, &skip);
	if (base < 0 && absolute && policy == PATH_SHORTHAND && !r->outside) {
		path.n = 0;
		add(&path, r->root);
		add(&path, asked);
		base = meaning(r, &path, true, &skip);
	}
	if (base < 0)
		return r->outside ? -ERR_PATH_NOT_ALLOWED : -ERR_PATH_OUTSIDE_WORKSPACE;
	for (size_t i = skip; i < path.n; i++)
		out += sprintf(out, "%s%.*s", i > skip ? "/" : "", STR_FMT(path.at[i]));
	return base;
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_name(const char *name)
{
	must(strlen(name) < PATH_MAX);
	must(name[0] != '/');
	for (struct str rest = str_of(name), part; rest.n;) {
		const bool more = str_cut(rest, '/', &part, &rest);
		must(part.n > 0 && part.n <= NAME_MAX);
		must(!str_eq(part, STR(".")) && !str_eq(part, STR("..")));
		must(!more || rest.n > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char expected[4 * PATH_MAX];
	struct path p;
	struct err e = { 0 };

	if (size == 0)
		return 0;
	const struct path_rules *rules = &sets[data[0] % ARRAY_LEN(sets)];
	const enum path_policy policy = data[0] & 0x80 ? PATH_STRICT : PATH_SHORTHAND;
	const struct str asked = { (const char *)data + 1, size - 1 };
	const int rc = path_resolve(rules, asked, policy, &p, &e);
	const int want = model(rules, asked, policy, expected);
	if (rc < 0) {
		must(want == -(int)e.code);
		return 0;
	}
	check_name(p.name);
	must(want == (int)p.base);
	must(strcmp(p.name, expected) == 0);
	must(rules->outside || p.base != PATH_OUTSIDE);
	return 0;
}
