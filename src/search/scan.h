/* SPDX-License-Identifier: MIT */
/*
 * scan: the matching lines of one file.
 *
 * A scanner belongs to one thread and is used for one file after the other; its buffer is as large
 * as the longest line so far, at most LIMIT_SEARCH_LINE (if matches may cross lines: as the largest
 * file, at most LIMIT_SEARCH_MULTILINE). A file may grow or shrink while it is read; what is added
 * to a large file in the meantime is not read.
 *
 * How a file is searched:
 *	- A file with a NUL byte is binary, and nothing in it is reported. The first bytes are
 *	  always checked, all others that were read once something matched.
 *	- A byte order mark of UTF-8 at the start is not part of the first line.
 *	- A line longer than LIMIT_SEARCH_LINE is searched in parts of that size, each as if it were
 *	  a line, and reported once, for the first part that matches; a match across two parts is
 *	  not found.
 *	- After a last newline there is one more line, empty: it can be context, never a match.
 */
#ifndef SEARCH_SCAN_H
#define SEARCH_SCAN_H

#include "regex/regex.h"
#include "search/hits.h"

enum scan_mode {
	SCAN_LINES,   /* one hit per matching line */
	SCAN_FILES,   /* one hit per file with a match */
	SCAN_COUNTS,  /* the same, hit.value is the number of matching lines */
	SCAN_WITHOUT, /* one hit per file without a match */
};

struct scan_options {
	const struct regex *regex;
	enum scan_mode mode;
	bool invert;	   /* lines that do not match count as matches; not with multiline */
	bool multiline;	   /* as the pattern was compiled: a hit may have several matching lines */
	unsigned context;  /* lines on each side, at most LIMIT_SEARCH_CONTEXT */
	int64_t max_bytes; /* larger files are left out; 0: no maximum */
	size_t limit;	   /* stop when the list has this many hits; 0: no limit */
	struct str prefix; /* put before each path in the hits */
	struct regex_budget budget;
};

enum scan_outcome {
	SCAN_SEARCHED,
	SCAN_BINARY,
	SCAN_TOO_LARGE,
	SCAN_UNREADABLE,
	SCAN_STOPPED, /* by `stop`, or the budget is used up; hits found until then are kept */
};

struct scanner;

struct scanner *scanner_new(const struct scan_options *o); /* NULL when there is no memory */
void scanner_free(struct scanner *s);

struct scan_input {
	int fd;		    /* read from its current position */
	struct str path;    /* for the hits */
	int64_t after_line; /* only lines after this one count; 0: all */
	const bool *stop;   /* checked now and then (__atomic); may be NULL */
	bool reads_whole;   /* a short read means the end of the file (dir_reads_whole) */
};

/* Search a file and add what is found. */
enum scan_outcome scan_file(struct scanner *s, const struct scan_input *in, struct hits *out);

/* How many lines of the last file were too long for the pattern (regex_lines_skipped). */
int64_t scanner_long_lines(const struct scanner *s);

/* The error of the pattern engine after SCAN_STOPPED; no code when something else stopped the scan.
 */
const struct err *scanner_why(const struct scanner *s);

#endif
