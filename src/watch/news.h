/* SPDX-License-Identifier: MIT */
/*
 * news: the events of a sidecar as they come, over one connection after another.
 *
 * Where it stands is remembered from one connection to the next. What was missed in between comes
 * then; what is lost comes as a gap.
 */
#ifndef WATCH_NEWS_H
#define WATCH_NEWS_H

#include "base/arena.h"
#include "base/lines.h"
#include "watch/subject.h"

struct news {
	const struct subject *target;
	struct cancel *cancel;
	bool from_start; /* with what the sidecar remembers; else from now on */
	/* An event: its object, and the same as text. Both are valid during the call. */
	void (*event)(void *arg, const struct json *event, struct str text);
	void (*pause)(void *arg); /* those that had come have been told */
	void *arg;

	/* Its own: */
	char last[64]; /* the id of the last event; "": there was none */
	struct lines lines;
	struct arena arena;
};

/* Read one connection to its end. Always -1 and *e: CANCELLED, UNAUTHORIZED, CONNECTION_LOST … */
int news_read(struct news *s, struct err *e);

void news_done(struct news *s);

#endif
