/* SPDX-License-Identifier: MIT */
/* matches: the hits of a search as a model reads them. */
#ifndef TOOLS_MATCHES_H
#define TOOLS_MATCHES_H

#include "search/hits.h"
#include "search/scan.h"
#include "tools/tool.h"

/* The fields of one match: {file, line?, content?, before?, after?, count?}. */
extern const struct field match_fields[];

/* The first LIMIT_GREP_LINE characters of a line, counted as JavaScript counts; *cut becomes true
 * when there are more. */
struct str match_cut_line(struct str line, bool *cut);

/* Write "matches": the first `max` hits, fewer when they are too large for one answer. Returns how
 * many; *last is the last one. A line is not cut inside of what the call's scrubber takes for a
 * secret. */
int64_t matches_write(struct call *c, const struct hits *hits, enum scan_mode mode, int64_t max,
		      struct hit *last);

#endif
