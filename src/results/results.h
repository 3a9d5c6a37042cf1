/* SPDX-License-Identifier: MIT */
/*
 * results: shows what a tool has returned (tools/result.h) in one of the ways out (way.h).
 *
 * One table in results.c has a row for each kind of result and a column for each way out. A kind
 * has one file, with a function for each way; what does not fit into an answer is cut by fit.c.
 */
#ifndef RESULTS_RESULTS_H
#define RESULTS_RESULTS_H

#include "results/way.h"

/* What became of a call besides its result. */
struct aftermath {
	const struct change *made;   /* what it changed; id 0: nothing */
	const struct denied *denied; /* what the sandbox refused; or NULL */
	struct call_change *told;    /* gets what is said of both; or NULL */
};

/* Show the result, and what became of the call. What was shown of it is noted in the result. -1 if
 * this way out cannot show it, with the reason. */
int results_show(const struct way *out, struct result *r, const struct aftermath *after,
		 struct err *e);

/* Take secrets out of an error, which may quote the file that it is about. */
void results_clean_error(const struct scrub *rules, struct scrub_counts *counts, struct err *e);

/* Write members that the answer has besides the error's sentence, if the tool left any. */
void results_write_details(const struct result *r, const struct err *e, struct buf *out);

/* The members created, modified, deleted and renamed: how many paths each. */
void changed_write_counts(struct jw *w, const uint32_t counts[ITEM_KINDS]);

/* What the sandbox refused, as lines of text: "[sandbox: writing /etc/hosts is not allowed; writable: the workspace, /tmp]",
 * as many as fit. `out` may not have more than max_bytes (0: any). */
void denied_show(struct buf *out, int64_t max_bytes, const struct denied *d);

/* The functions of the table. Members that differ in their names alone have one function. */
typedef int results_function(const struct way *out, struct result *r, struct err *e);

results_function page_wire, page_observation, page_text;
results_function image_wire, image_text;
results_function names_wire;
results_function entries_wire, entries_text;
results_function members_wire;
results_function found_wire, found_observation, found_text;
results_function edits_members, edits_text;
results_function receipt_observation, receipt_text;
results_function exit_wire, outputs_wire;
results_function started_members, started_text;
results_function jobs_members, jobs_text;
results_function job_members, job_text;
results_function ended_members, ended_text;
results_function changes_members, changes_text;
results_function change_wire, change_text;
results_function undone_members, undone_text;

#endif
