/* SPDX-License-Identifier: MIT */
/*
 * followed: what the events tell of one call, in the words of a line for people. view.c has the list
 * of those that are not printed yet.
 */
#ifndef WATCH_FOLLOWED_H
#define WATCH_FOLLOWED_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/columns.h"
#include "base/human.h"
#include "base/json.h"

/* A call that runs, or has ended and is not printed yet. */
struct followed {
	struct followed *next;
	int64_t id, job; /* job: its number if it is one */
	struct arena memory;
	struct str tool, subject, session, clock, why, outcome, duration;
	enum log_colour colour;
	struct buf output; /* the end of it; elsewhere than on a terminal what is not printed yet */
	int64_t dropped;   /* lines before that */
	int64_t reasons;   /* why something was refused: how many `why` has, and more */
	bool refused, changed, deletes, failed, ended;
	bool headed; /* it has been announced, because its output came before its end */
};

/* From its call.start, or from its job.start with the number of the job; NULL: no memory. */
struct followed *followed_new(const struct json *event, int64_t job);
void followed_free(struct followed *c);

/* Output has come. Of that only the end is kept if `tail`. */
void followed_output(struct followed *c, const struct json *event, bool tail);

/* Something was refused to it. */
void followed_refusal(struct followed *c, struct str why);

/* It has ended: outcome and colour, by its call.end or job.end. */
void followed_end(struct followed *c, const struct json *end);

/* When an event was, as the clock of this machine shows it: "09:13:02"; or empty. */
struct str followed_clock(const struct json *event, char room[HUMAN_SIZE]);

/* Whether a change has only deleted, as far as its files are told. */
bool followed_deletes(const struct json *event);

#endif
