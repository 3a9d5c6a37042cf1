/* SPDX-License-Identifier: MIT */
/*
 * way: how and where the result of a call is shown.
 *
 *	wire		members of an answer of the HTTP endpoints, as the existing clients know them
 *	observation	members of what a model's program gets as JSON (`model`)
 *	text		what a model reads best: what a person would want to see in a terminal; what
 *			is said about the result stands in lines in square brackets (`text`)
 *	native		text or members in which none of our tools is named, for a model that has
 *			its provider's own tools (`native`)
 */
#ifndef RESULTS_WAY_H
#define RESULTS_WAY_H

#include "tools/result.h"
#include "tools/tool.h"

/* A result as text. */
struct way_text {
	struct buf *text;
	const char *image_type; /* the result is an image of this media type … */
	struct str image;	/* … with these bytes, in the arena; the text describes it */
};

struct way {
	const struct call *c;  /* whose result it is */
	struct jw *members;    /* an open object, for members */
	struct way_text *text; /* NULL: members */
	bool model;	       /* members have the names that models know */
	bool native;
	bool clean; /* secrets are taken out of all of it, by the rules of the call */
};

/* What a call has changed, and what its sandbox refused. The texts are for models, in the arena. */
struct call_change {
	uint64_t id;
	size_t not_kept;   /* paths of it that cannot be brought back */
	struct str json;   /* the object "changes" of an observation */
	struct str denied; /* the array "denied" */
	int64_t denied_count;
	struct str later, unguarded; /* the arrays "runs_later" and "guard_changed" */
};

/* How many bytes of its result may still be written; INT64_MAX if there is no limit. Room for
 * LIMIT_RESULT_NOTES is left out. */
int64_t way_room(const struct way *out);

/* Add a line about the result, in square brackets, to its text. Its newline is not added, because
 * it is mostly the last line. */
void way_note(const struct way *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Take secrets out of what was added to a text after the first `from` bytes, if results of this call are to
 * have none. */
void way_clean(const struct way *out, struct buf *text, size_t from);

/* Add a sentence to the text, if it is one. */
void way_sentence(const struct way *out, const struct sentence *s);

/* Write the member "truncation", about a text that was cut. */
void way_write_truncation(const struct way *out, const struct text *t, int64_t max_lines,
			  int64_t max_bytes);

/* Write a job's id as a member of that name: a string, because numbers may lose digits. */
void way_write_job(const struct way *out, const char *name, uint64_t id);

/* Write the member "ports". */
void way_write_ports(const struct way *out, const struct port_list *ports);

/* call_reserve (tools/tool.h) for this way. */
int way_reserve(const void *way, const struct edits *change, struct err *e);

#endif
