/* SPDX-License-Identifier: MIT */
/*
 * patch: a text that says how files change, as a list of files and hunks.
 *
 * Three formats are understood:
 *	v4a	"*** Begin Patch", "*** Update File: path", "@@ line before", ' ' '-' '+' lines
 *	unified	"diff -u" and "git diff"
 *	blocks	the path, "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
 *
 * Parsing looks at the text only; a plan places the hunks in a file. Everything in the result
 * points into the text, which must live as long, or into the arena. Paths are as the patch has
 * them: whether they are inside of the workspace is for the caller to say. Files are in the order
 * of the patch, and a later one can be about the result of an earlier one.
 */
#ifndef PATCH_PATCH_H
#define PATCH_PATCH_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "patch/hunk.h"

/*
 * Parse a patch. `strip` is how many directories are taken off the front of each path of a unified
 * patch; PATCH_STRIP_AUTO takes "a/" and "b/" off. Returns 0; or -1 with INVALID_PATCH, whose
 * sentence names the line of the patch, or TOO_BUSY if the arena is full. Takes time linear in the
 * text.
 */
int patch_parse(struct str text, enum patch_format format, int strip, struct arena *a,
		struct patch *ret, struct err *e);

/* The first path that a patch names, by a quick look at the beginning of its text; empty if there
 * is none. For logs: it may be wrong. */
struct str patch_first_path(struct str text);

/* The names of the formats, by their number; NULL after the last. */
extern const char *const patch_formats[];

/*
 * plan: what a file will contain once the hunks of a patch are applied to it, in memory.
 *
 * Each hunk is placed where its old lines, context and removed ones, are in the file: exactly; if
 * there is no such place, with white space at the ends of lines ignored; if there is none either,
 * with indentation ignored and typographic quotes, dashes and spaces made ASCII. Which place:
 *
 *	v4a	the first after the previous hunk and after the lines that its "@@" lines name; with
 *		"*** End of File" the end. A hunk that only adds goes after its "@@" line, or to the
 *		end of the file.
 *	unified	the nearest to its line number. A hunk that begins with line 1 must be at the start
 *		of the file, and one without context after its last change at the end, as in git.
 *	blocks	the only one.
 *
 * Context lines keep the bytes of the file, also where they match loosely. Added lines get the line
 * ends of the file, unless a unified hunk matches exactly: then every byte is the patch's. A file
 * without a newline at its end stays so, unless a unified patch says otherwise.
 *
 * All hunks are placed in the old content: none can be about lines that another one added.
 */

struct plan {
	int64_t added, removed; /* lines */
	const struct patch_note *notes;
};

/*
 * Append what the file will contain to `content`: `old` is what it contains now, empty for
 * PATCH_ADD. Of PATCH_DELETE nothing is appended; a unified patch that deletes must have removed
 * every line. Returns 0; or -1 with TEXT_NOT_FOUND, TEXT_NOT_UNIQUE, FILE_TOO_LARGE or TOO_BUSY.
 * The sentence names the file, the hunk, the nearest text and what differs. The time is linear in
 * the patch and the file: a file in which too many places look alike is refused.
 */
int plan_file(const struct patch *p, const struct patch_file *f, struct str old, struct arena *a,
	      struct buf *content, struct plan *ret, struct err *e);

#endif
