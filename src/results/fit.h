/* SPDX-License-Identifier: MIT */
/*
 * fit: how much of a text an answer holds.
 *
 * The client of a call passes on only so many bytes and lines of a result. In JSON a text takes more
 * bytes than it has, because some of them are escaped.
 */
#ifndef RESULTS_FIT_H
#define RESULTS_FIT_H

#include "tools/result.h"
#include "tools/tool.h"

struct fit {
	int64_t bytes, lines; /* that are left in the answer; INT64_MAX: any number */
	bool escaped;	      /* texts become strings of JSON */
};

/* What is left in the answer of a call. */
struct fit fit_of(const struct call *c);

/* How many bytes of the answer the text takes. */
int64_t fit_cost(const struct fit *f, struct str text);

/* The whole lines at the start of the text that fit, each with `more` bytes besides its own; *count
 * is how many. */
struct str fit_lines(const struct fit *f, struct str text, int64_t more, int64_t *count);

/* Leave lines out of a page until it fits, and note what is not shown. */
void fit_page(const struct fit *f, int64_t more, struct page *p);

/* The beginning of a diff that fits, cut at a hunk, of at most so many lines. */
struct diff_head fit_diff(const struct fit *f, int64_t lines, struct str diff);

/* The start of a line that fits, in whole characters. */
struct str fit_start(const struct fit *f, struct str line);

#endif
