/* SPDX-License-Identifier: MIT */
/*
 * result: what a tool returns: a value, which says nothing of how it is shown.
 *
 * There are few kinds. The room results/ shows each of them in every way out (as members of an HTTP
 * answer or of an observation, as text for a model, in the words of a provider's own tool), cuts
 * what does not fit, and takes secrets out. What a result points to lives in the arena of the call;
 * what it owns is released by result_done.
 */
#ifndef TOOLS_RESULT_H
#define TOOLS_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/own.h"
#include "base/str.h"
#include "search/walk.h"
#include "workspace/diff.h"
#include "workspace/path.h"
#include "workspace/text.h"

enum result_kind {
	RESULT_WRITTEN, /* the tool has written it into the call */
	RESULT_PAGE,	/* lines of a file */
	RESULT_IMAGE,	/* a file that is a picture */
	RESULT_FOUND,	/* what a search or a listing found */
	RESULT_NAMES,	/* the names in a directory */
	RESULT_EDITS,	/* what was changed in files */
};

/* A sentence with a name in it, which needs no memory of its own. */
struct sentence {
	const char *before; /* NULL: there is none */
	struct str name;
	const char *after;
};

/* The file that a page or an image is of, which a session has seen when it was shown. */
struct result_file {
	int fd; /* -1: it is none of the workspace */
	struct path path;
	struct stat st;
};

/* Lines of a file. What is shown of them is known once they are shown. */
struct page {
	struct str name;   /* of the file, as it is shown */
	struct text text;  /* as many of the lines as were wanted and may fit */
	int64_t first;	   /* the number of the first one … */
	int64_t last;	   /* … and of the last one that was asked for; 0: that of the file */
	int64_t all_lines; /* of the file, as people count: a final newline begins none */
	bool numbered;	   /* the lines are to be shown with their numbers */

	int64_t next;	  /* where to go on; 0: everything that was asked for is shown */
	int64_t left_out; /* bytes of the only line that are not shown */
	bool whole;	  /* the file is shown from its start to its end */
};

/* What is shown of each hit. */
enum found_show {
	FOUND_LINES,  /* the lines that match, and those around them */
	FOUND_FILES,  /* the file */
	FOUND_COUNTS, /* the file, and how many of its lines match */
	FOUND_PATHS,  /* an entry whose name matches */
	FOUND_TREE,   /* an entry of a directory, with its type and size */
};

/* The names of enum hit_type in a tree; NULL after the last. */
extern const char *const found_types[];

struct found_result {
	struct found found; /* one more than `limit`, if there are more */
	enum found_show show;
	int64_t limit;	   /* most that are shown */
	struct str prefix; /* of the paths, which a cursor does not have */
	struct str path;   /* of the directory that was looked at, as it is shown */
	bool by_name;	   /* a pattern chose the names */
	bool paged;	   /* the client goes on with a cursor */

	size_t seen; /* hits all of whose lines were shown */
};

struct name_list {
	struct str text; /* one a line, "/" after directories */
};

/* What was changed in a file. */
struct edited {
	const char *done;      /* in a text: "edited", "created" … */
	const char *kind;      /* of a patch, in members: "created", "modified" … */
	struct str path, from; /* as they are shown; `from` is its path before, or empty */
	struct diff_size size;
	struct str diff; /* sign, line number, text; empty if there is none to show */
	struct str more; /* in a text, what else is to be said */
};

/* Something of a patch that did not fit exactly and was accepted. */
struct edits_note {
	struct edits_note *next;
	struct str path, text;
};

enum edits_by {
	EDITS_BY_TEXTS, /* texts of a file were replaced */
	EDITS_BY_WRITE, /* a whole file */
	EDITS_BY_PATCH,
};

struct edits {
	enum edits_by by;
	const struct edited *files;
	size_t count;
	const struct edits_note *notes;
	bool dry_run;
	int64_t places; /* that were replaced … */
	bool counted;	/* … which the client wants to know */
	int64_t bytes;	/* that were written */
	bool created;
	struct sentence instead; /* native: of the line about the file; or nothing */
};

struct image {
	struct str bytes;
	const char *type;	/* its media type */
	uint32_t width, height; /* 0: not known */
};

struct result {
	enum result_kind kind;
	struct sentence heading; /* in a text, before everything else; or nothing */
	struct result_file file;
	union {
		struct page page;
		struct image image;
		struct found_result found;
		struct name_list names;
		struct edits edits;
	};
};

#define AUTO_RESULT CLEANUP(result_done) UNINITIALISED struct result

/* Nothing yet. */
static inline void result_init(struct result *r)
{
	r->kind = RESULT_WRITTEN;
	r->heading = (struct sentence){ NULL };
	r->file.fd = -1;
}

void result_done(struct result *r);

#endif
