/* SPDX-License-Identifier: MIT */
/*
 * text: lines of a file, in bounded memory, at the speed of looking for newlines.
 *
 * Lines are what stands between newlines, so a final newline is followed by one more, empty line:
 * "a\nb\n" has three. A selection is a run of lines; of it, as many whole lines are given out as
 * the limits allow, and what was left out is counted. Lengths are counted in well-formed UTF-8: a
 * byte that is none counts as the U+FFFD it will be written as.
 */
#ifndef WORKSPACE_TEXT_H
#define WORKSPACE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/jw.h"
#include "base/str.h"

#define TEXT_ALL INT64_MAX

struct text_want {
	int64_t size;  /* of the file: bytes added later are not read; 0 if unknown */
	int64_t first; /* the first line wanted, from 1 */
	int64_t count; /* how many lines; TEXT_ALL for the rest of the file */
	int64_t max_lines, max_bytes; /* how much is given out at most */
	/* Asked now and then during a long scan, which ends when this fails; may be NULL. */
	int (*may_go_on)(void *arg, struct err *e);
	void *arg;
	int64_t deadline_ms; /* when a long scan has to be over; 0: it may take as long as it does
			      */
};

enum text_cut { TEXT_WHOLE, TEXT_CUT_LINES, TEXT_CUT_BYTES };

struct text {
	struct str content;	      /* whole lines, the last without its newline */
	int64_t total_lines;	      /* of the file */
	int64_t lines, bytes;	      /* of the selection */
	int64_t out_lines, out_bytes; /* of the content */
	enum text_cut cut;	      /* which limit the content met, if any */
	bool first_too_long;	      /* not even the first line fits */
};

/*
 * Read a selection from an open regular file. BINARY_FILE, with size and type in the message, when
 * there is a NUL among its first 8 KiB. A first line behind the end is no error: then total_lines <
 * want->first and the content is empty. The error of may_go_on, FILE_TOO_LARGE at the
 * deadline: a file may have any size and cost nothing. The content is in the arena.
 */
int text_read(int fd, const struct text_want *want, struct arena *a, struct text *ret,
	      struct err *e);

/* Cut text that is already in memory, by the same rules. */
void text_cut_head(struct str whole, int64_t max_lines, int64_t max_bytes, struct text *ret);

/* The wire's account of what was cut, as an object: {content, truncated, truncatedBy …}. */
void text_write_truncation(struct jw *w, const char *name, const struct text *t, int64_t max_lines,
			   int64_t max_bytes);

#endif
