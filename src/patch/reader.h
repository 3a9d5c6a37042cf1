/* SPDX-License-Identifier: MIT */
/*
 * reader: the lines of a patch, one after the other.
 *
 * A reader is small and can be copied: a copy looks ahead.
 */
#ifndef PATCH_READER_H
#define PATCH_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

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

#endif
