/* SPDX-License-Identifier: MIT */
/*
 * results: shows what a tool has returned (tools/result.h), in one of the ways out:
 *
 *	wire		members of an answer of the HTTP endpoints		wire.c
 *	observation	members of what a model's program gets as JSON		observation.c
 *	text		what a model reads best: what a person would want
 *			to see in a terminal; what is said about the result
 *			stands in lines in square brackets			text.c
 *	native		text in which none of our tools is named, for a
 *			model that has its provider's own tools			text.c
 *
 * Each way out is one file with a function for each kind of result. What does not fit into an answer
 * is cut by fit.c alone.
 */
#ifndef RESULTS_RESULTS_H
#define RESULTS_RESULTS_H

#include "tools/result.h"
#include "tools/tool.h"

/* Show the result in the way out of the call: into its members or its text. What was shown of it is
 * noted in the result. -1 if this way out cannot show it, with the reason. */
int results_show(const struct call *c, struct result *r, struct err *e);

/* The ways out, one row a kind of result. */
int wire_show(const struct call *c, struct result *r, struct err *e);
int observation_show(const struct call *c, struct result *r, struct err *e);
int text_show(const struct call *c, struct result *r, struct err *e);

/* What the ways out that show a page have in common: the refusal of one that begins after the last
 * of so many lines; the width of its line numbers; and its lines with their numbers before them, if
 * it is to have these ({ NULL, 0 } without memory). `as_seen`: a final newline begins no line. */
int results_beyond_end(const struct page *p, int64_t lines, struct err *e);
int results_number_width(const struct page *p, int least);
struct str results_number(const struct page *p, int width, bool as_seen, struct arena *a);

/* The member "fuzz" of a patch. */
void results_write_notes(struct jw *w, const struct edits *d);

/* What is not shown of a diff, in words; empty if all of it is. */
enum { RESULTS_ABOUT = 128 };
void results_describe(const struct diff_head *head, char room[RESULTS_ABOUT]);

#endif
