/* SPDX-License-Identifier: MIT */
/* rules: what a scrub consists of; for the files of this folder. */
#ifndef SCRUB_RULES_H
#define SCRUB_RULES_H

#include "base/arena.h"
#include "scrub/finder.h"

struct scrub {
	struct arena memory;  /* of everything the shapes point to */
	struct shape *shapes; /* configured secrets, patterns, known shapes; the first wins */
	size_t count;
	struct finder finder;
};

#endif
