/* SPDX-License-Identifier: MIT */
/*
 * fit: how much of a text an answer holds.
 *
 * The client of a call passes on a limited number of bytes and lines of a result. In JSON a text takes more
 * bytes than it has, because some of them are escaped.
 */
#ifndef RESULTS_FIT_H
#define RESULTS_FIT_H

#include "results/way.h"
#include "tools/ends.h"

struct fit {
	int64_t bytes, lines; /* that are left in the answer; INT64_MAX: any number */
	bool escaped;	      /* texts become strings of JSON */
};

/* What is left of the answer. */
struct fit fit_of(const struct way *out);

/* How many bytes of the answer the text takes. */
int64_t fit_cost(const struct fit *f, struct str text);

/* Leave lines out of a page, each of which takes `more` bytes besides its own, until it fits; and
 * note what is not shown. */
void fit_page(const struct fit *f, int64_t more, struct page *p);

/* The beginning of a diff that fits, cut at a hunk, of at most `lines` lines. */
struct diff_head fit_diff(const struct fit *f, int64_t lines, struct str diff);

/* A text of which both ends are shown if it is too long. */
struct fit_text {
	const struct ends *all; /* NULL: nothing of it is shown */
	struct ends_limit limit;
	struct ends_shown shown;
};

/* A text that is there as a whole, to be shown so. */
struct ends fit_whole(struct str text);

/* What is shown of each text within its own limit, so that together they take no more than
 * f->bytes: less is shown of the longest, the others are spared. -1 with TOO_BUSY if there is no
 * memory. */
int fit_ends(const struct fit *f, struct fit_text *texts, size_t count, struct arena *a,
	     struct err *e);

#endif
