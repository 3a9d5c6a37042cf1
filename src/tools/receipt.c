/* SPDX-License-Identifier: MIT */
/* receipt: remember both ends of what comes, and have all of it kept. */

#include "tools/receipt.h"

#include "tools/limits.h"

static const char *const limit_words[] = { "none",   "timeout",	  "cpu", "file_size",
					   "memory", "processes", NULL };

static const struct field usage_fields[] = {
	{ "cpu_ms", "CPU time of all its processes", FIELD_INT },
	{ "peak_memory_bytes", "Memory of its largest process", FIELD_INT },
	{ "oom_killed", "Whether it was killed because memory ran out", FIELD_BOOL },
	{ "limit", "Which limit it ran into", FIELD_STR, .choices = limit_words },
	F_END,
};

static const struct field survivor_fields[] = {
	{ "pid", "Process number", FIELD_INT },
	{ "command", "Its command line", FIELD_STR },
	{ "ports", "Ports it listened on", FIELD_INT, FIELD_LIST },
	{ "job_id", "The job in which it continues", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

/* A command in the background has job_id alone; every other command has the rest. */
const struct field receipt_fields[] = {
	{ "stdout",
	  "Standard output; of more than 50 KiB both ends, and between them a line with "
	  "the number of bytes left out",
	  FIELD_STR, FIELD_OPTIONAL },
	{ "stderr", "Standard error, cut likewise", FIELD_STR, FIELD_OPTIONAL },
	{ "exit_code", "0 is success; 128 and more: ended by a signal; null if it was ended",
	  FIELD_INT, FIELD_NULLABLE | FIELD_OPTIONAL },
	{ "signal", "Name of the signal that ended it, or null", FIELD_STR,
	  FIELD_NULLABLE | FIELD_OPTIONAL },
	{ "timed_out", "Whether it took longer than timeout_ms", FIELD_BOOL, FIELD_OPTIONAL },
	{ "stopped", "If it was stopped by a person", FIELD_BOOL, FIELD_OPTIONAL },
	{ "truncated", "Whether output was left out", FIELD_BOOL, FIELD_OPTIONAL },
	{ "output_id", "If so: the path under which read_file and search_files find all of it",
	  FIELD_STR, FIELD_OPTIONAL },
	{ "duration_ms", "How long it took", FIELD_INT, FIELD_OPTIONAL },
	{ "usage", "What it cost", FIELD_OBJECT, FIELD_OPTIONAL, usage_fields },
	{ "survivors", "Processes it left running; hint tells what became of them", FIELD_OBJECT,
	  FIELD_LIST | FIELD_OPTIONAL, survivor_fields },
	{ "hint", "Advice, if there is any", FIELD_STR, FIELD_OPTIONAL },
	{ "observed", "false: what it changed is not known and cannot be undone; else missing",
	  FIELD_BOOL, FIELD_OPTIONAL },
	{ "note",
	  "If so: that timeout_ms was more than calls may have here; once in a session, why "
	  "commands are not observed",
	  FIELD_STR, FIELD_OPTIONAL },
	{ "job_id", "With background: the job, and nothing else but observed and note", FIELD_STR,
	  FIELD_OPTIONAL },
	F_END,
};

static int take(void *arg, bool is_stderr, struct str piece, size_t bytes)
{
	struct receipt *r = arg;

	(void)bytes;
	ends_add(&r->ends[is_stderr && !r->merged], piece);
	keeping_add(&r->keeping, piece);
	return 0;
}

struct receipt *receipt_new(struct receipt **list, const struct call *c, int64_t bytes,
			    struct err *e)
{
	enum { NOTES = 8 }; /* lines about the result */
	const bool sized = c->size.bytes || bytes != RECEIPT_ROOM;
	const struct ends_limit limit = {
		.bytes = bytes != RECEIPT_ROOM ? bytes
			 : sized	       ? call_room(c)
					       : LIMIT_COMMAND_OUTPUT,
		.lines = c->size.lines ? c->size.lines - NOTES : INT64_MAX,
		.head = sized ? 40 : 25,
		.at_lines = sized,
	};
	const size_t head = (size_t)limit.bytes * limit.head / 100;
	struct receipt *r = arena_alloc(c->arena, sizeof *r);

	if (!r) {
		(void)err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
		return NULL;
	}
	*r = (struct receipt){ .merged = c->for_reader,
			       .most = limit,
			       .keeping = keeping_new(c->kept) };
	r->taker = (struct sink_taker){ .take = take, .arg = r, .clean = c->scrub };
	sink_init(&r->sink, c, SINK_SCREEN, &r->taker);
	while (*list)
		list = &(*list)->next;
	*list = r; /* which frees it, whatever comes */
	for (int i = PROC_STDOUT; i <= (r->merged ? PROC_STDOUT : PROC_STDERR); i++)
		if (ends_init(&r->ends[i], head, (size_t)limit.bytes - head, c->arena, e) < 0)
			return NULL;
	return r;
}

void receipts_free(struct receipt *list)
{
	for (struct receipt *r = list; r; r = r->next) {
		sink_done(&r->sink);
		keeping_done(&r->keeping);
	}
}
