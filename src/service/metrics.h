/* SPDX-License-Identifier: MIT */
/*
 * metrics: what the server has done, as Prometheus asks for it.
 *
 * Every call of a tool is counted once, where it is logged (calls.c): by tool, how it ended, and
 * how long it took. The labels are names of tools and codes of errors, never anything a client
 * sent, so the memory is that of this struct for ever. Counting is a few additions without a lock;
 * the sums of a scrape may be one call apart from each other.
 */
#ifndef SERVICE_METRICS_H
#define SERVICE_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"

struct http_budget;
struct service;

enum { METRICS_STEPS = 13 }; /* of the histogram, the last without an end */

struct metrics_tool {
	_Atomic uint64_t ended[ERR_COUNT];	/* calls by code; ERR_NONE: they succeeded */
	_Atomic uint64_t within[METRICS_STEPS]; /* calls by the step their time falls in */
	_Atomic uint64_t us;			/* their time together, in microseconds */
};

struct metrics {
	/* As in the registry; the last one is for names that are no tool's. */
	struct metrics_tool tools[LIMIT_METRIC_TOOLS + 1];
};

/* A call has ended. */
void metrics_count(struct metrics *m, struct str tool, enum err_code code, int64_t us);

/* The text of a scrape, format version 0.0.4. */
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
void metrics_write(const struct service *s, const struct http_budget *connections, struct buf *out);

#endif
