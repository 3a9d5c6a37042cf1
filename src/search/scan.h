/* SPDX-License-Identifier: MIT */
/*
 * scan: one file, its matching lines.
 *
 * A scanner belongs to one thread and is used for one file after the other; its buffer is as large
 * as the longest line needed so far, at most LIMIT_SEARCH_LINE (when matches may cross lines: as
 * the largest file, at most LIMIT_SEARCH_MULTILINE). A file may grow or shrink while it is read;
 * what is added meanwhile to a large one is not waited for.
 *
 * What a file is to a search:
 *	- A file with a NUL byte is binary, and nothing is reported of it. The first bytes are
 *	  always looked at, all others that were read when something matched.
 *	- A byte order mark of UTF-8 at the start is not part of the first line.
 *	- A line longer than LIMIT_SEARCH_LINE is searched in pieces of that size, each as if it
 *	  were a line, and reported once, by the first that matches; a match across two is not
 *	  seen.
 *	- Behind a last newline there is one more line, empty: it can be context, never a match.
 */
#ifndef SEARCH_SCAN_H
#define SEARCH_SCAN_H

#include "search/hits.h"
#include "regex/regex.h"

enum scan_mode {
	SCAN_LINES,  /* a hit for each matching line */
	SCAN_FILES,  /* a hit for each file with a match */
	SCAN_COUNTS, /* the same, hit.value is the number of matching lines */
};

struct scan_options {
	const struct regex *regex;
	enum scan_mode mode;
	bool multiline;	   /* the pattern was compiled so: a hit may have several matching lines */
	unsigned context;  /* lines on each side, at most LIMIT_SEARCH_CONTEXT */
	int64_t max_bytes; /* larger files are left out; 0 for no maximum */
	size_t limit;	   /* stop when the list has so many hits; 0 for none */
	struct str prefix; /* stands before each path in the hits */
	struct regex_budget budget;
};

enum scan_outcome {
	SCAN_SEARCHED,
	SCAN_BINARY,
	SCAN_TOO_LARGE,
	SCAN_UNREADABLE,
	SCAN_STOPPED, /* told to, or the budget is used up; hits found until then are kept */
};

struct scanner;

struct scanner *scanner_new(const struct scan_options *o); /* NULL when there is no memory */
void scanner_free(struct scanner *s);

struct scan_input {
	int fd;		    /* read from its present position */
	struct str path;    /* for the hits */
	int64_t after_line; /* only lines behind this one count; 0 for all */
	const bool *stop;   /* looked at now and then (__atomic); may be NULL */
	bool reads_whole;   /* a read gives less than asked for only at the end (dir_reads_whole) */
};

/* Search a file and add what is found. */
enum scan_outcome scan_file(struct scanner *s, const struct scan_input *in, struct hits *out);

/* Lines of the last file that the pattern could not be tried on (regex_lines_skipped). */
int64_t scanner_long_lines(const struct scanner *s);

/* What the pattern engine said after SCAN_STOPPED; no code when it was not the one that stopped. */
const struct err *scanner_why(const struct scanner *s);

#endif
