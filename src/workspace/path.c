/* SPDX-License-Identifier: MIT */
/* path: the rules from a requested path to a name below a base, as pure text. */

#include "workspace/path.h"

#include "base/own.h"

/* Root and request joined, both of legal length. */
enum { JOINED_MAX = 2 * PATH_MAX + 2 };

size_t path_normalise(struct str absolute, char *to)
{
	size_t n = 0;

	while (absolute.n) {
		struct str part;
		(void)str_cut(absolute, '/', &part, &absolute);
		if (part.n == 0 || str_eq(part, STR(".")))
			continue;
		if (str_eq(part, STR(".."))) {
			while (n && to[--n] != '/')
				;
			continue;
		}
		to[n++] = '/';
		memcpy(to + n, part.p, part.n);
		n += part.n;
	}
	if (n == 0)
		to[n++] = '/';
	to[n] = '\0';
	return n;
}

bool path_within(struct str dir, struct str path, struct str *below)
{
	if (!str_starts(path, dir))
		return false;
	struct str rest = str_from(path, dir.n);
	/* "/" ends in the separator that must follow every other directory. */
	if (dir.n > 1 && rest.n && rest.p[0] != '/')
		return false;
	if (rest.n && rest.p[0] == '/')
		rest = str_from(rest, 1);
	*below = rest;
	return true;
}

static int refuse_outside(struct err *e, struct str requested)
{
	(void)err_set(e, ERR_PATH_OUTSIDE_WORKSPACE, "Path is outside the workspace: %.*s.",
		      STR_FMT(requested));
	return err_advise(e, "Use a path relative to the workspace root.");
}

static int check_bytes(struct str requested, struct err *e)
{
	if (str_index(requested, '\0') >= 0)
		return err_set(e, ERR_INVALID_PATH, "Invalid path: it contains a NUL byte");
	if (requested.n >= PATH_MAX)
		return err_set(e, ERR_INVALID_PATH, "Invalid path: %zu bytes, the longest is %d",
			       requested.n, PATH_MAX - 1);
	return 0;
}

static int check_names(struct str path, struct err *e)
{
	for (struct str part; path.n;) {
		(void)str_cut(path, '/', &part, &path);
		if (part.n > NAME_MAX)
			return err_set(
				e, ERR_INVALID_PATH,
				"Invalid path: a name in it has %zu bytes, the longest is %d",
				part.n, NAME_MAX);
	}
	return 0;
}

static int found(struct path *ret, enum path_base base, struct str name, struct err *e)
{
	if (name.n >= sizeof ret->name)
		return err_set(e, ERR_INVALID_PATH, "Invalid path: longer than %d bytes",
			       PATH_MAX - 1);
	ret->base = base;
	if (name.n)
		memcpy(ret->name, name.p, name.n);
	ret->name[name.n] = '\0';
	return 0;
}

/* Whether the path is in the directory or its alias, either of which may be empty. */
static bool within_either(struct str dir, struct str alias, struct str path, struct str *below)
{
	return (dir.n && path_within(dir, path, below)) ||
	       (alias.n && path_within(alias, path, below));
}

/* A literal path, because the operator allows paths outside the workspace. */
static int outside(const struct path_rules *rules, struct str absolute, struct str requested,
		   struct path *ret, struct err *e)
{
	const struct str allowed = rules->allowed.n ? rules->allowed : STR("/");
	struct str below;

	if (within_either(rules->data, rules->data_alias, absolute, &below))
		return found(ret, PATH_DATA, below, e);
	if (!within_either(allowed, rules->allowed_alias, absolute, &below)) {
		(void)err_set(e, ERR_PATH_NOT_ALLOWED, "Path not allowed: %.*s.",
			      STR_FMT(requested));
		return err_advise(e, "Must be within ALLOWED_ROOT_DIRECTORY or DATA_DIR.");
	}
	return found(ret, PATH_OUTSIDE, below, e);
}

static int relative(const struct path_rules *rules, struct str name, struct str requested,
		    struct path *ret, struct err *e)
{
	char joined[JOINED_MAX] UNINITIALISED, normal[JOINED_MAX] UNINITIALISED;
	struct str below;
	size_t n = rules->root.n;

	memcpy(joined, rules->root.p, n);
	joined[n++] = '/';
	memcpy(joined + n, name.p, name.n);
	const struct str absolute = { normal,
				      path_normalise((struct str){ joined, n + name.n }, normal) };
	if (path_within(rules->root, absolute, &below))
		return found(ret, PATH_WORKSPACE, below, e);
	if (rules->outside)
		return outside(rules, absolute, requested, ret, e);
	return refuse_outside(e, requested);
}

int path_resolve(const struct path_rules *rules, struct str requested, enum path_policy policy,
		 struct path *ret, struct err *e)
{
	char slashed[PATH_MAX] UNINITIALISED, normal[PATH_MAX + 1] UNINITIALISED;
	struct str below;

	if (check_bytes(requested, e) < 0)
		return -1;
	for (size_t i = 0; i < requested.n; i++)
		slashed[i] = requested.p[i] == '\\' ? '/' : requested.p[i];
	struct str path = { slashed, requested.n };
	if (check_names(path, e) < 0)
		return -1;
	if (!str_starts(path, STR("/")))
		return relative(rules, path, requested, ret, e);

	const struct str absolute = { normal, path_normalise(path, normal) };
	if (str_eq(absolute, STR("/")) && str_find(path, STR("..")) < 0 && !rules->outside)
		return found(ret, PATH_WORKSPACE, STR(""), e);
	if (within_either(rules->root, rules->alias, absolute, &below))
		return found(ret, PATH_WORKSPACE, below, e);
	if (within_either(rules->data, rules->data_alias, absolute, &below))
		return found(ret, PATH_DATA, below, e);
	if (rules->outside)
		return outside(rules, absolute, requested, ret, e);
	if (policy == PATH_STRICT)
		return refuse_outside(e, requested);
	while (path.n && path.p[0] == '/')
		path = str_from(path, 1);
	return relative(rules, path, requested, ret, e);
}
