/* SPDX-License-Identifier: MIT */
/*
 * grep: lines of the files of a tree, or of one file, that match a pattern.
 *
 * The hits come in byte order of the path, then by line, and do not depend on the threads. To
 * continue where a limit stopped, give path (without the prefix) and line of the last hit as
 * where.after and after_line; in the modes that give one hit per file, after_line is INT64_MAX.
 *
 * Searched are regular files that the ignore rules leave (walk.h), whose type is among the types if
 * any are given, and that the globs select. The last glob that matches decides; "!x" excludes, also
 * a whole directory; a file that no glob matches is searched only if all globs are "!".
 */
#ifndef SEARCH_GREP_H
#define SEARCH_GREP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "search/scan.h"
#include "search/walk.h"

struct grep_request {
	/* The tree; with file_fd only limit, deadline and cancel count. */
	struct walk_request where;
	int file_fd;	      /* one file instead, read from its start; -1: the tree */
	struct str file_path; /* its path in the hits, after the prefix */
	struct str prefix;    /* put before each path in the hits */

	struct str pattern;
	struct regex_options options;
	const struct str *globs;
	size_t glob_count;
	const struct str *types;
	size_t type_count;

	enum scan_mode mode;
	bool invert;
	unsigned context;  /* lines on each side, capped at LIMIT_SEARCH_CONTEXT */
	int64_t max_bytes; /* larger files are left out and counted; 0: no maximum */
	int64_t after_line;
};

/* Search. -1 with INVALID_REGEX, INVALID_GLOB, INVALID_ARGUMENTS (no such type), or when the
 * directory cannot be read. *ret is zeroed by the caller, who also releases it. */
int grep_run(const struct grep_request *r, struct found *ret, struct err *e);

/* types: types of files by name: "c", "py", "js" …
 *
 * The names are those of ripgrep and the usual ones ("py" and "python").
 */

struct file_type;

/* The type with that name in any case, or NULL. */
const struct file_type *type_by_name(struct str name);

/* Add all types, a line each: "c: *.c, *.h". */
void types_list(struct buf *to);

/* Whether a file, by the last component of its path, is of that type. */
bool type_has(const struct file_type *type, struct str name);

#endif
