/* SPDX-License-Identifier: MIT */
/*
 * scope: where a search looks, and where it continues.
 *
 * A scope is a directory or a file of the workspace, opened, together with the directories above it
 * (up to the workspace's root, never beyond) whose ignore rules apply. A cursor says where an
 * earlier search stopped; a client hands it back to get the rest.
 *
 *	AUTO_SCOPE scope = SCOPE_NONE;
 *	if (scope_open(c, a->path, a->cursor, false, &scope, e) < 0)
 *		return -1;
 *	request.where = scope_walk(c, &scope, limit);
 *	… search …
 *	if (scope_check_found(c, &found, e) < 0)
 *		return -1;
 */
#ifndef TOOLS_SCOPE_H
#define TOOLS_SCOPE_H

#include "search/walk.h"
#include "tools/tool.h"

/* The last path and line that were given out. As a text it is "120:src/a.c"; bytes of the path that
 * are not printable ASCII, '%' and ']', are written %XX, so that it survives any client and has an
 * end in a text. */
struct cursor {
	struct str path; /* empty: from the start */
	int64_t line;	 /* INT64_MAX: nothing more of that file; -1: from the start, in order
			    ("0:"); 0: there was no cursor */
};

/* An empty text is the start. INVALID_ARGUMENTS for a text that cursor_text did not write. The
 * path is in the arena. */
int cursor_read(struct str text, struct arena *a, struct cursor *ret, struct err *e);

/* In the arena; { NULL, 0 } if there is no memory. */
struct str cursor_text(const struct cursor *c, struct arena *a);

enum { SCOPE_PARENTS = 64 }; /* rules of directories further up are not read */

struct scope {
	int dir;	   /* -1: it is a file */
	int file;	   /* -1: it is a directory */
	struct str shown;  /* its path as an agent knows it */
	struct str prefix; /* makes a path below the scope one below the workspace: "src/", or "" */
	struct cursor from; /* where the search starts */
	int parents[SCOPE_PARENTS];
	size_t parent_count;
	struct str parent_path;
};

#define SCOPE_NONE                                                                                 \
	{                                                                                          \
		.dir = -1, .file = -1                                                              \
	}
#define AUTO_SCOPE CLEANUP(scope_done) struct scope

/* Open what the path leads to; an empty path is the workspace. For models it may be output that was
 * kept (kept.h). With only_dirs a file is NOT_A_DIRECTORY. The cursor is the text that a client
 * gave, or empty. */
int scope_open(struct call *c, struct str path, struct str cursor, bool only_dirs,
	       struct scope *ret, struct err *e);
void scope_done(struct scope *s);

/* Open the directory that the leading components of a pattern name, if they are plain text, below
 * `path`: as if it had been given as the path. Then *ret is open, *lead that path as it was written,
 * and the result how many bytes of the pattern it was. 0: there is none. -1: it may not be used. */
int scope_enter(struct call *c, struct str path, struct str cursor, struct str pattern,
		struct str *lead, struct scope *ret, struct err *e);

/* The walk through the scope from its cursor on, with the call's threads, deadline and rules. */
struct walk_request scope_walk(const struct call *c, const struct scope *s, size_t limit);

/* For find_request: is a path below a scope, with which it begins, hidden from agents? */
struct scope_names {
	const struct call *call;
	struct str prefix;
};
bool scope_hides(void *names, struct str path);

/* The globs that choose files below the scope: the given one and, because that may be meant from
 * the workspace, the same without the path of the scope if it begins with that. Returns how many.
 */
size_t scope_globs(const struct call *c, const struct scope *s, struct str glob, struct str ret[2]);

/* SEARCH_TIMEOUT if the search was stopped before it found anything: by the pattern, which says
 * why, or because its time was up. TOO_BUSY if the call ran out of memory. */
int scope_check_found(const struct call *c, const struct found *found, struct err *e);

enum { SCOPE_NOTE = 160 };

/* If nothing was found: whether everything that matches is ignored, or whether the pattern could
 * not be tried on some lines. NULL if there is nothing to say. */
const char *scope_note(const struct found *found, char room[SCOPE_NOTE]);

/* The same as a member "note". */
void scope_write_note(struct jw *w, const struct found *found);

/* The members of what is said of a struct filled. */
extern const struct field filled_fields[];

/* The names of enum scan_mode and of enum walk_stop; NULL after the last. */
extern const char *const scope_modes[], *const scope_stops[];

#endif
