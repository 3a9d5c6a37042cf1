/* SPDX-License-Identifier: MIT */
/*
 * view: what happens, for people: a line a call, and below it what came of it.
 *
 * On a terminal the calls under way stand at the bottom, with the end of their output, and are
 * drawn again when something comes. Elsewhere nothing is drawn twice: output is printed as it
 * comes. Nothing that a client, a file or a command has chosen reaches the terminal unchanged
 * (base/columns.h).
 */
#ifndef WATCH_VIEW_H
#define WATCH_VIEW_H

#include "base/json.h"
#include "watch/running.h"

struct view_options {
	const struct subject *target; /* asked for diffs and sentences */
	struct cancel *cancel;
	bool terminal; /* the bottom may be drawn again */
	bool coloured;
	bool json;	  /* print the events themselves */
	struct str tool;  /* show only calls of this one; empty: all */
	bool refused;	  /* show only what was refused */
	struct str since; /* an ISO time: show what is not older; empty: the last few */
	int64_t history;  /* events up to this number are from before the start */
	bool is_new;	  /* history is not asked for */
};

struct view;

struct view *view_new(const struct view_options *o);
void view_free(struct view *v);

/* Something happened; for a stream. */
void view_event(void *view, const struct json *event, struct str text);

/* Print what there is. */
void view_pause(void *view);

/* Show a sentence at the bottom until something else happens. */
void view_note(struct view *v, const char *sentence);

/* For the thread of keys: the newest call that runs, or 0; and a line at the bottom that stays
 * until there is another, or "". */
int64_t view_running(struct view *v);
void view_ask(struct view *v, struct str line);

/* Leave the terminal as it was: nothing is left at the bottom that would be drawn again. */
void view_end(struct view *v);

#endif
