/* SPDX-License-Identifier: MIT */
/*
 * hunk: a parsed patch: its files, their hunks, and the lines of these.
 *
 * A hunk is a part of the patch's text; its lines are split when they are needed, because a large
 * patch has millions of them.
 */
#ifndef PATCH_HUNK_H
#define PATCH_HUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum patch_format { PATCH_AUTO, PATCH_V4A, PATCH_UNIFIED, PATCH_BLOCKS };

/* The paths of a unified patch: take "a/" and "b/" off. */
enum { PATCH_STRIP_AUTO = -1 };

enum patch_kind {
	PATCH_ADD,    /* make `path` */
	PATCH_DELETE, /* remove `path` */
	PATCH_UPDATE, /* change `path` */
	PATCH_MOVE,   /* `from` becomes `path`, changed by the hunks if there are any */
	PATCH_COPY,   /* `from` stays, its changed content becomes `path` */
};

struct patch_hunk {
	const struct patch_hunk *next;
	int64_t line;	    /* of the patch in which it begins, from 1 */
	struct str body;    /* its lines, each with its sign; of blocks the SEARCH lines */
	struct str replace; /* of blocks: the REPLACE lines */
	struct str anchors; /* of v4a: its "@@ text" lines */
	int64_t old_start, new_start; /* of unified: the line numbers; -1: they are not given */
	int64_t old_said, new_said;   /* of unified: the line counts; -1: they are not given */
	size_t old_count, new_count;  /* lines of each side, as they are */
	bool at_end;		      /* of v4a: "*** End of File" */
};

struct patch_file {
	enum patch_kind kind;
	struct str path;
	struct str from; /* only of PATCH_MOVE and PATCH_COPY */
	unsigned mode;	 /* that the file gets, such as 0100755; 0: the patch does not say */
	bool may_add;	 /* a PATCH_UPDATE that makes the file if there is none: "@@ -0,0" */
	int64_t line;	 /* of the patch in which it begins, from 1 */
	size_t hunk_count;
	const struct patch_hunk *hunks;
};

struct patch {
	enum patch_format format; /* never PATCH_AUTO */
	struct patch_file *files;
	size_t count;
};

/* The lines of a patch, one after the other. A reader can be copied: a copy looks ahead. */
struct patch_reader {
	const char *p, *end;
	int64_t line; /* number of the line that was read last */
};

static inline struct patch_reader patch_reader_of(struct str s)
{
	return (struct patch_reader){ s.p, s.n ? s.p + s.n : s.p, 0 };
}

/* The next line without its newline, but with its CR; false at the end. */
static inline bool patch_next_line(struct patch_reader *r, struct str *line)
{
	if (r->p == r->end)
		return false;
	const size_t left = (size_t)(r->end - r->p);
	const char *newline = memchr(r->p, '\n', left);
	*line = (struct str){ r->p, newline ? (size_t)(newline - r->p) : left };
	r->p = newline ? newline + 1 : r->end;
	r->line++;
	return true;
}

/* Without white space at its end. */
static inline struct str patch_right_trim(struct str s)
{
	while (s.n && (s.p[s.n - 1] == ' ' || (s.p[s.n - 1] >= '\t' && s.p[s.n - 1] <= '\r')))
		s.n--;
	return s;
}

/* A line of a hunk. */
struct patch_line {
	char sign;	 /* ' ', '-' or '+' */
	bool open;	 /* no newline follows it: it is the last of its file */
	struct str text; /* without sign and newline; with its CR in a unified patch only */
};

/* The lines of a hunk of this patch, in room for old_count + new_count of them; returns how many
 * there are. A SEARCH line that REPLACE repeats in the same order is one line, of the sign ' '. */
size_t patch_hunk_lines(const struct patch *p, const struct patch_hunk *h,
			struct patch_line *lines);

/* Append the added lines of a hunk, of which it has no others: what a new file contains. */
void patch_hunk_content(const struct patch *p, const struct patch_hunk *h, struct buf *out);

/* A sentence about something in a hunk that did not fit exactly and was accepted. */
struct patch_note {
	const struct patch_note *next;
	struct str text; /* without the path: "hunk 2 (line 14 of the patch): …" */
};

/* TOO_BUSY: there is no memory for the patch. Returns -1. */
int patch_fail_memory(struct err *e);

/* What the parsers of the formats share: the list of files that they fill. It is kept in patch.c,
 * where the parser of blocks is, too. */
struct patch_parser {
	struct patch_reader in;
	int strip;
	struct arena *arena;
	struct patch *patch;
	size_t room;		 /* for files */
	struct patch_hunk *last; /* of the last file; NULL: it has none */
	struct err *e;
};

/* Add a file, which begins in the line that was read last; NULL with an error if that is not
 * possible. It is valid until the next one is added. */
struct patch_file *patch_add_file(struct patch_parser *p, enum patch_kind kind, struct str path);

/* Add a hunk to the last file; NULL with an error if there is no memory. */
struct patch_hunk *patch_add_hunk(struct patch_parser *p);

/* INVALID_PATCH about a line of the patch. Returns -1. */
int patch_fail(struct patch_parser *p, int64_t line, const char *why);

/* Count the lines of both sides of a body with signs. */
void patch_count(struct patch_hunk *h);

/* Each fills the list from p->in. 0, or -1 with INVALID_PATCH or TOO_BUSY. */
int v4a_parse(struct patch_parser *p);
int unified_parse(struct patch_parser *p);

#endif
