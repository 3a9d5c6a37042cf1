/* SPDX-License-Identifier: MIT */
/*
 * path: what a requested path means, before anything is opened.
 *
 * A path comes from a request as bytes. path_resolve turns it into a base (one of the directories
 * the workspace holds open) and a name relative to it, by text alone: without a system call and
 * whatever exists. It refuses paths that cannot mean anything inside, but it does not make a path
 * safe: that is decided when the name is opened (beneath.h).
 *
 * How a path is read, in this order:
 *	a NUL byte, too long		INVALID_PATH
 *	\				read as /
 *	"" "." "/"			the workspace root ("/" is literal with `outside`)
 *	/root/x				absolute, into the workspace: x
 *	/data/x				absolute, into the data directory: x there
 *	/x with `outside`		literal, within `allowed`: or PATH_NOT_ALLOWED
 *	/x, PATH_SHORTHAND		x below the workspace root
 *	/x, PATH_STRICT			PATH_OUTSIDE_WORKSPACE
 *	x				below the workspace root; ".." is applied to the text
 * A path that climbs out of the workspace is PATH_OUTSIDE_WORKSPACE. A name that only begins with
 * two dots ("..foo", "...") is a name like any other.
 */
#ifndef WORKSPACE_PATH_H
#define WORKSPACE_PATH_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum path_policy {
	PATH_SHORTHAND, /* "/x" means x below the workspace root */
	PATH_STRICT,	/* an absolute path must lie inside */
};

enum path_base { PATH_WORKSPACE, PATH_DATA, PATH_OUTSIDE, PATH_BASES };

enum { PATH_GITS = 4 };

/* The directories the rules know, as canonical absolute paths; empty if there is none. An alias is
 * the same directory as the operator wrote it, or empty if that is the canonical path. */
struct path_rules {
	struct str root, alias;
	struct str data, data_alias;	   /* DATA_DIR */
	struct str allowed, allowed_alias; /* ALLOWED_ROOT_DIRECTORY: for `outside`, the limit */
	bool outside;			   /* absolute paths are literal */
	/* Git directories outside, which commands may change and no path of a tool leads to; then
	 * empty ones. */
	struct str git[PATH_GITS];
};

struct path {
	enum path_base base;
	char name[PATH_MAX]; /* relative to the base, normalised; "" is the base itself */
};

int path_resolve(const struct path_rules *rules, struct str requested, enum path_policy policy,
		 struct path *ret, struct err *e);

/* Collapse "//", "/./" and "/x/.." in an absolute path; ".." at "/" stays there. `to` has room for
 * absolute.n + 1 bytes. Returns the length. */
size_t path_normalise(struct str absolute, char *to);

/* Whether the path is the directory or below it, comparing whole components of two normalised
 * absolute paths: "/a" contains "/a/b" but not "/ab"; "/" contains everything. On true *below is
 * the part after the directory, without a leading slash. */
bool path_within(struct str dir, struct str path, struct str *below);

#endif
