/* SPDX-License-Identifier: MIT */
/*
 * text: lines of a file, in bounded memory, at the speed of looking for newlines.
 *
 * Newlines separate lines, so a final newline is followed by one more, empty line: "a\nb\n" has
 * three. A selection is a run of lines. The content is as many whole lines of it as the limits
 * allow; the rest is counted. Lengths are counted in well-formed UTF-8: a byte that is not UTF-8
 * counts as the U+FFFD that will be written for it.
 */
#ifndef WORKSPACE_TEXT_H
#define WORKSPACE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define TEXT_ALL INT64_MAX

struct text_want {
	int64_t size;  /* of the file: bytes added later are not read; 0 if unknown */
	int64_t first; /* the first line wanted, from 1 */
	int64_t count; /* how many lines; TEXT_ALL for the rest of the file */
	int64_t max_lines, max_bytes; /* of the content */
	/* Asked now and then during a long scan, which ends when this fails; may be NULL. */
	int (*may_go_on)(void *arg, struct err *e);
	void *arg;
	int64_t deadline_ms; /* of a long scan; 0: none */
};

enum text_cut { TEXT_WHOLE, TEXT_CUT_LINES, TEXT_CUT_BYTES };

struct text {
	struct str content;	      /* whole lines, the last without its newline */
	int64_t total_lines;	      /* of the file */
	int64_t lines, bytes;	      /* of the selection */
	int64_t out_lines, out_bytes; /* of the content */
	enum text_cut cut;	      /* which limit ended the content, if any */
	bool first_too_long;	      /* not even the first line fits: the content is empty … */
	struct str first;	      /* … and this is as much of its beginning as would fit */
};

/*
 * Read a selection from an open regular file. BINARY_FILE, with its size and type, if
 * its first 8 KiB contain a NUL. A first line after the end is not an error: then total_lines <
 * want->first and the content is empty. Fails with may_go_on's error, or with FILE_TOO_LARGE at the
 * deadline. Holes of a file whose size is known take no time. The content is in the arena.
 */
int text_read(int fd, const struct text_want *want, struct arena *a, struct text *ret,
	      struct err *e);

/* Cut text that is already in memory, by the same rules. */
void text_cut_head(struct str whole, int64_t max_lines, int64_t max_bytes, struct text *ret);

#endif
