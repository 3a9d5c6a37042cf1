/* SPDX-License-Identifier: MIT */
/*
 * metrics: what the server has done, in the form that Prometheus asks for.
 *
 * dispatch counts every call of a tool once: by tool, how it ended, and how long it took. The
 * labels are names of tools and codes of errors, never anything a client sent, so the memory is
 * that of this struct, forever. Counting is a few additions without a lock; the sums of a scrape
 * may be one call apart from each other.
 */
#ifndef SERVICE_METRICS_H
#define SERVICE_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "service/limits.h"

struct scrub_counts;
struct store_facts;

enum { METRICS_STEPS = 13 }; /* of the histogram, the last without an end */

struct tool;

struct metrics_tool {
	_Atomic uint64_t ended[ERR_COUNT];	/* calls by code; ERR_NONE: they succeeded */
	_Atomic uint64_t within[METRICS_STEPS]; /* calls by the step their time falls in */
	_Atomic uint64_t us;			/* their time together, in microseconds */
};

struct metrics {
	/* In the order of the registry; the last one is for calls of tools that do not exist. */
	struct metrics_tool tools[LIMIT_METRIC_TOOLS + 1];
};

/* Count a call that has ended; t is NULL if there is no such tool. */
void metrics_count(struct metrics *m, const struct tool *t, enum err_code code, int64_t us);

/* What a scrape tells besides: the state of the server at this moment. */
struct metrics_now {
	int64_t started_ms;  /* on the monotonic clock */
	int64_t commands;    /* running, those in the background included */
	int64_t connections; /* open */
	int64_t received, sent;
	const struct scrub_counts *scrubbed;
	const struct store_facts *journal; /* NULL: there is none */
};

/* The text of a scrape, format version 0.0.4. */
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
void metrics_write(const struct metrics *m, const struct metrics_now *now, struct buf *out);

#endif
