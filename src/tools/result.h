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

#include "base/json.h"
#include "base/own.h"
#include "base/str.h"
#include "changes/journal.h"
#include "changes/undo.h"
#include "exec/jobs.h"
#include "search/walk.h"
#include "workspace/diff.h"
#include "workspace/path.h"
#include "workspace/text.h"
#include "workspace/workspace.h"

enum result_kind {
	RESULT_NOTHING,	 /* there is nothing to say */
	RESULT_SENTENCE, /* what was done, and no more is to be said */
	RESULT_PAGE,	 /* lines of a file */
	RESULT_IMAGE,	 /* a file that is a picture */
	RESULT_FOUND,	 /* what a search or a listing found */
	RESULT_NAMES,	 /* the names in a directory */
	RESULT_ENTRIES,	 /* the files in a directory, with what is known of them */
	RESULT_FILE,	 /* a file as it is: its descriptor, and its size */
	RESULT_MEMBERS,	 /* a few named values, for programs */
	RESULT_EDITS,	 /* what was changed in files */
	RESULT_RECEIPT,	 /* what became of a model's commands */
	RESULT_EXIT,	 /* how a command ended whose output was passed on as it came */
	RESULT_OUTPUTS,	 /* all that a command has written */
	RESULT_STARTED,	 /* a command goes on in the background */
	RESULT_JOBS,	 /* the commands in the background */
	RESULT_JOB,	 /* what one of them has written, and its state */
	RESULT_ENDED,	 /* one of them is being ended */
	RESULT_CHANGES,	 /* what calls have changed */
	RESULT_CHANGE,	 /* what one of them has changed */
	RESULT_UNDONE,	 /* what was taken back; of a call that failed, why it could not be */
};

/* A sentence with a name in it, which needs no memory of its own. */
struct sentence {
	const char *before; /* NULL: there is none */
	struct str name;
	const char *after;
};

/* The file that a page or an image is of, which a session has seen when it was shown; or that is
 * itself the result. */
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
	int64_t limit;	       /* most that are shown */
	struct str prefix;     /* of the paths, which a cursor does not have */
	struct str path;       /* of the directory that was looked at, as it is shown … */
	struct str scope;      /* … and before the path of a directory that was skipped */
	bool spread;	       /* those that are shown are to be from everywhere */
	bool by_name;	       /* a pattern chose the names */
	bool paged;	       /* the client goes on with a cursor */
	bool multiline;	       /* of a page of matches: they may cross lines … */
	bool is_file;	       /* … they are in the file that was asked for … */
	int64_t before, after; /* … and are shown with this many lines around them */

	size_t seen; /* hits all of whose lines were shown */
};

struct name_list {
	struct str text; /* one a line, "/" after directories */
};

struct file_entry {
	struct str name;
	struct stat st;
	unsigned depth; /* how many directories below the one that is listed */
};

/* What is in a directory comes after it. */
struct entries {
	const struct file_entry *list;
	size_t count;
	bool more;	 /* there are others */
	bool described;	 /* with the path, and all that is known of each; else the list alone */
	struct str path; /* of the directory, as it was asked for */
};

/* By the names that they have on the wire. */
enum { RESULT_MEMBERS_MOST = 6 };
struct member_list {
	struct json list[RESULT_MEMBERS_MOST];
	size_t count;
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

struct job_list {
	const struct job_state *states;
	size_t count;
};

struct job_news {
	struct job_piece piece; /* its text is released with the result */
	struct str text;	/* the part of it that may be shown */
};

/* A change as the journal has it. */
struct known_change {
	struct change_entry entry;
	struct change change;
};

struct change_list {
	const struct known_change *list;
	size_t count;
	bool more;	/* there are newer ones */
	size_t total;	/* of those that were asked for */
	uint64_t older; /* there are some before this one; 0: there are none */
};

/* One change with its items. */
struct change_shown {
	struct known_change known;
	int64_t offset, limit; /* of the items, those that are shown as members */
};

struct undone {
	struct undo_result did;
	bool dry_run;
};

struct image {
	struct str bytes;
	const char *type;	/* its media type; NULL: any file, as bytes */
	uint32_t width, height; /* 0: not known */
};

struct receipt_list {
	struct receipt *first; /* receipt.h */
	bool listed;	       /* there may be several … */
	int64_t bytes;	       /* … which together show at most this many bytes; 0: no limit */
};

struct exit_result {
	int exit_code; /* as in struct proc_result */
	bool timed_out, stopped;
	int64_t cut_ms;	  /* the time it had, if that was less than asked for; else 0 */
	int64_t streamed; /* bytes of output that were passed on */
};

struct outputs {
	struct str text[2]; /* stdout, stderr */
	int exit_code;
};

struct result {
	enum result_kind kind;
	struct sentence heading; /* in a text, before everything else; or nothing */
	struct result_file file;
	union {
		struct sentence sentence;
		struct page page;
		struct image image;
		struct found_result found;
		struct name_list names;
		struct entries entries;
		struct member_list members;
		struct edits edits;
		struct receipt_list receipts;
		struct exit_result exit;
		struct outputs outputs;
		uint64_t started; /* the job */
		struct job_list jobs;
		struct job_news job;
		uint64_t ended; /* the job */
		struct change_list changes;
		struct change_shown change;
		struct undone undone;
	};
};

#define AUTO_RESULT CLEANUP(result_done) UNINITIALISED struct result

/* Nothing yet. */
static inline void result_init(struct result *r)
{
	r->kind = RESULT_NOTHING;
	r->heading = (struct sentence){ NULL };
	r->file.fd = -1;
}

void result_done(struct result *r);

/* A few named values are the result. Returns 0. */
int result_say(struct result *r, const struct json *members, size_t count);

#endif
