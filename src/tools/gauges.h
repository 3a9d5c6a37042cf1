/* SPDX-License-Identifier: MIT */
/*
 * gauges: numbers about the running server that only the layers below know, for whoever watches it.
 */
#ifndef TOOLS_GAUGES_H
#define TOOLS_GAUGES_H

#include <stdint.h>

struct call;

/* What cannot be known is -1. */
struct gauges {
	int64_t commands; /* running now, those in the background included */
	int64_t cpu_ms;	  /* of this process, as all below */
	int64_t resident_bytes, virtual_bytes;
	int64_t open_fds, max_fds;
};

void gauges_read(const struct call *c, struct gauges *ret);

#endif
