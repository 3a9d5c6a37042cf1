/* SPDX-License-Identifier: MIT */
/*
 * event: something that happened to a call or a job, for those who watch; and its form as JSON.
 *
 * Which members an event has depends on its type: docs/live.md has the table. All texts are without
 * secrets before they come here.
 */
#ifndef SERVICE_EVENT_H
#define SERVICE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/jw.h"
#include "base/str.h"
#include "tools/tool.h"

enum event_type {
	EVENT_CALL_START,
	EVENT_OUTPUT,
	EVENT_CALL_END,
	EVENT_CHANGE,
	EVENT_REFUSED,
	EVENT_JOB_START,
	EVENT_JOB_END,
	EVENT_TYPES,
};

enum { EVENT_TEXTS = 6 };

struct event {
	enum event_type type;
	bool mcp;	/* the call came by MCP */
	bool is_stderr; /* of an output */
	enum err_code code;
	uint64_t id;	 /* the ring counts them, from 1 */
	int64_t time_ms; /* since 1970 */
	uint64_t call;	 /* its number; 0: none */
	uint64_t job, change;
	int64_t uid, pid; /* of the caller, if it has no name */
	int64_t ms, bytes;
	int64_t dropped; /* bytes of output that are in no event */
	int64_t count;	 /* paths that a change has */
	struct call_end end;

	union {
		struct str texts[EVENT_TEXTS];
		struct {
			struct str tool; /* of a refusal: what was refused */
			struct str subject, session;
			struct str client; /* its name */
			struct str text;   /* of an output; of a refusal: why */
			/* The files of a change as JSON; else only for who asks for one call: its
			 * arguments (values_show), or a text with the beginning of its result. The
			 * last one. */
			struct str details;
		};
	};
};

/* Write the members, without the details of a call. */
void event_write(struct jw *w, const struct event *e);

#endif
