/* SPDX-License-Identifier: MIT */
/* event: a struct becomes the members of an object. */

#include "service/event.h"

#include <stddef.h>
#include <stdio.h>

#include "base/utc.h"
#include "exec/proc.h"

static const char *const type_names[EVENT_TYPES] = {
	[EVENT_CALL_START] = "call.start", [EVENT_OUTPUT] = "output",
	[EVENT_CALL_END] = "call.end",	   [EVENT_CHANGE] = "change",
	[EVENT_REFUSED] = "refused",	   [EVENT_JOB_START] = "job.start",
	[EVENT_JOB_END] = "job.end",
};

_Static_assert(offsetof(struct event, details) == offsetof(struct event, texts[EVENT_TEXTS - 1]),
	       "every text is in the array");

static void write_start(struct jw *w, const struct event *e)
{
	char peer[64];

	if (e->tool.n)
		jw_str(w, "tool", e->tool);
	jw_str(w, "subject", e->subject);
	(void)snprintf(peer, sizeof peer, "uid %lld pid %lld", (long long)e->uid,
		       (long long)e->pid);
	jw_str(w, "session", e->session);
	jw_str(w, "client", e->client.n ? e->client : e->uid < 0 ? STR("") : str_of(peer));
	jw_str(w, "front", e->mcp ? STR("mcp") : STR("http"));
}

/* What a tool could not do is not ok; a command that was ended did not do it either. */
static void write_end(struct jw *w, const struct event *e)
{
	jw_bool(w, "ok", e->code == ERR_NONE);
	if (e->code == ERR_NONE)
		jw_null(w, "code");
	else
		jw_str(w, "code", str_of(err_name(e->code)));
	if (e->end.ran)
		jw_int(w, "exit_code", e->end.exit_code);
	else
		jw_null(w, "exit_code");
	if (e->end.signal)
		jw_str(w, "signal", str_of(proc_signal_name(e->end.signal)));
	else
		jw_null(w, "signal");
	jw_bool(w, "timed_out", e->end.timed_out);
	if (e->end.ran && e->type == EVENT_CALL_END) {
		jw_int(w, "cpu_ms", e->end.cpu_ms);
		jw_int(w, "peak_memory_bytes", e->end.peak_memory_bytes);
		jw_int(w, "survivors", e->end.survivors);
	}
	jw_int(w, "ms", e->ms);
	jw_int(w, "bytes", e->bytes);
	if (e->dropped)
		jw_int(w, "dropped", e->dropped);
	if (e->change)
		jw_int(w, "change", (int64_t)e->change);
}

static void write_rest(struct jw *w, const struct event *e)
{
	switch (e->type) {
	case EVENT_CALL_START:
	case EVENT_JOB_START:
		write_start(w, e);
		break;
	case EVENT_OUTPUT:
		jw_str(w, "stream", e->is_stderr ? STR("stderr") : STR("stdout"));
		jw_str(w, "text", e->text);
		break;
	case EVENT_CALL_END:
	case EVENT_JOB_END:
		write_end(w, e);
		break;
	case EVENT_CHANGE:
		jw_int(w, "change", (int64_t)e->change);
		jw_raw(w, "files", e->details);
		jw_int(w, "count", e->count);
		break;
	case EVENT_REFUSED:
		jw_str(w, "what", e->tool);
		jw_str(w, "subject", e->subject);
		jw_str(w, "why", e->text);
		break;
	case EVENT_TYPES:
		break;
	}
}

void event_write(struct jw *w, const struct event *e)
{
	char time[UTC_TEXT];

	jw_int(w, "id", (int64_t)e->id);
	jw_str(w, "time", utc_iso(e->time_ms / 1000, (int)(e->time_ms % 1000), time));
	jw_str(w, "type", str_of(type_names[e->type]));
	if (e->call)
		jw_int(w, "call", (int64_t)e->call);
	if (e->job)
		jw_int(w, "job", (int64_t)e->job);
	write_rest(w, e);
}
