/* SPDX-License-Identifier: MIT */
/* limits: every number that limits what is shown of a result, with its reason. */
#ifndef RESULTS_LIMITS_H
#define RESULTS_LIMITS_H

enum {
	/* Bytes of all matches of an observation together. */
	LIMIT_SEARCH_ANSWER = 256 << 10,
};

#endif
