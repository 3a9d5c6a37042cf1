/* SPDX-License-Identifier: MIT */
/* limits: of the service; base/limits.h has those that others share. */
#ifndef SERVICE_LIMITS_H
#define SERVICE_LIMITS_H

#include "base/limits.h"

enum {
	/* Characters of a call's subject, in the log and in events; and the memory that it takes to
	 * find secrets in it. */
	LIMIT_SUBJECT = 500,
	LIMIT_SUBJECT_MEMORY = 1 << 20,

	/* The newest events are kept, within both limits. So are a call's arguments, up to the third
	 * limit, as they came if they are short; of its result only the beginning. */
	LIMIT_EVENTS = 10000,
	LIMIT_EVENT_BYTES = 8 << 20,
	LIMIT_EVENT_ARGUMENTS = 64 << 10,
	LIMIT_EVENT_RAW = 1 << 10,
	LIMIT_EVENT_RESULT = 4 << 10,
	/* The beginning and the end of a call's output that are told have so many bytes each. The
	 * end is kept in pieces, of which the oldest goes first. */
	LIMIT_EVENT_OUTPUT_HALF = LIMIT_EVENT_OUTPUT / 2,
	LIMIT_EVENT_OUTPUT_PIECE = 1 << 10,
	LIMIT_EVENT_FILES = 50,
	/* The lines that a change adds are counted in files up to the first size, and up to the
	 * second size in all: those who watch wait for it. */
	LIMIT_EVENT_DIFF = 64 << 10,
	LIMIT_EVENT_DIFFS = 256 << 10,
	/* Output of a command waits for more of it this long: 20 events a second for two streams.
	 */
	LIMIT_EVENT_JOIN_MS = 100,
	/* After the clock was set, events may carry the old time for this long. */
	LIMIT_EVENT_DATE_MS = 1000,

	/* The audit file: how long lines that no call waits for may not be on disk, and the longest
	 * line. Its subject may have LIMIT_SUBJECT characters of four bytes, each of them escaped.
	 */
	LIMIT_AUDIT_SYNC_MS = 500,
	LIMIT_AUDIT_LINE = 32 << 10,

	/* Files that the read tracker remembers for all sessions, about 300 bytes each. */
	LIMIT_TRACKED_FILES = 8192,

	/* Lines of a result as a model's client passes it on: one client cuts at 2,000. */
	LIMIT_RESULT_LINES = 1800,

	/* Variables that models' commands get, those of the operator included. */
	LIMIT_COMMAND_VARIABLES = 128,

	/* Tools that metrics distinguish, 400 bytes each: about twice as many as there are. */
	LIMIT_METRIC_TOOLS = 48,

	/* The settings in force as JSON: three paths in which every byte may have to be escaped. */
	LIMIT_FACTS = 128 << 10,
};

#endif
