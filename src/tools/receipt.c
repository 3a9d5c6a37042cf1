/* SPDX-License-Identifier: MIT */
/* receipt: the end of a command as JSON. */

#include "tools/receipt.h"

static const char *const limit_words[] = { "none",   "timeout",	  "cpu", "file_size",
					   "memory", "processes", NULL };

static const struct field usage_fields[] = {
	{ "cpu_ms", "CPU time of all its processes", FIELD_INT },
	{ "peak_memory_bytes", "Memory of its largest process", FIELD_INT },
	{ "oom_killed", "Whether it was killed for want of memory", FIELD_BOOL },
	{ "limit", "Which limit it ran into", FIELD_STR, .choices = limit_words },
	F_END,
};

static const struct field survivor_fields[] = {
	{ "pid", "Process number", FIELD_INT },
	{ "command", "Its command line", FIELD_STR },
	{ "ports", "Ports it listened on", FIELD_INT, FIELD_LIST },
	F_END,
};

/* Everything but job_id is there unless the command runs in the background. */
const struct field receipt_fields[] = {
	{ "stdout",
	  "Standard output; of more than 50 KiB both ends, and between them a line with "
	  "the number of bytes left out",
	  FIELD_STR, FIELD_OPTIONAL },
	{ "stderr", "Standard error, cut likewise", FIELD_STR, FIELD_OPTIONAL },
	{ "exit_code", "0 is success; 128 and more: ended by a signal; null after a timeout",
	  FIELD_INT, FIELD_NULLABLE | FIELD_OPTIONAL },
	{ "signal", "Name of the signal that ended it, or null", FIELD_STR,
	  FIELD_NULLABLE | FIELD_OPTIONAL },
	{ "timed_out", "Whether it took longer than timeout_ms", FIELD_BOOL, FIELD_OPTIONAL },
	{ "truncated", "Whether output was left out", FIELD_BOOL, FIELD_OPTIONAL },
	{ "duration_ms", "How long it took", FIELD_INT, FIELD_OPTIONAL },
	{ "usage", "What it cost", FIELD_OBJECT, FIELD_OPTIONAL, usage_fields },
	{ "survivors", "Processes it left running; ended unless hint says otherwise", FIELD_OBJECT,
	  FIELD_LIST | FIELD_OPTIONAL, survivor_fields },
	{ "hint", "Advice, if there is any", FIELD_STR, FIELD_OPTIONAL },
	{ "job_id", "With background: the job, and nothing else", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

static void write_usage(struct jw *w, const struct proc_result *r)
{
	jw_object(w, "usage");
	jw_int(w, "cpu_ms", r->cpu_ms);
	jw_int(w, "peak_memory_bytes", r->peak_memory_bytes);
	jw_bool(w, "oom_killed", r->oom_killed);
	jw_str(w, "limit", str_of(proc_limit_name(r->limit)));
	jw_end(w);
}

static void write_survivors(struct call *c, const struct proc_result *r)
{
	struct jw *w = c->out;

	jw_array(w, "survivors");
	for (size_t i = 0; i < r->survivor_count && i < LIMIT_SURVIVORS; i++) {
		const struct survivor *s = &r->survivors[i];
		jw_object(w, NULL);
		jw_int(w, "pid", s->pid);
		jw_str(w, "command", call_shown_command(c, s->command, sizeof s->command));
		jw_array(w, "ports");
		for (size_t j = 0; j < s->port_count; j++)
			jw_int(w, NULL, s->ports[j]);
		jw_end(w);
		jw_end(w);
	}
	jw_end(w);
}

static const char *hint_of(const struct call *c, const struct proc_result *r)
{
	if (r->denied && c->read_only)
		return "The workspace is read-only: a command can write to /tmp and nowhere else.";
	if (r->denied)
		return "The sandbox refused a write outside the workspace: write below the "
		       "workspace or to /tmp.";
	if (r->timed_out)
		return "Give a larger timeout_ms if it needs more time.";
	if (r->limit != PROC_LIMIT_NONE)
		return "It ran into a limit that was set for commands here: do the work in smaller "
		       "steps.";
	if (r->survivor_count && r->survivors_kept)
		return "What the command left running in the background goes on.";
	if (r->survivor_count)
		return "What the command left running in the background was ended with it.";
	return NULL;
}

int receipt_write(struct call *c, const struct proc_result *r, const struct ends *out,
		  const struct ends *err, struct err *e)
{
	const struct str out_text = ends_text(out, c->scrub, c->arena);
	const struct str err_text = ends_text(err, c->scrub, c->arena);
	const char *hint = hint_of(c, r);

	if (!out_text.p || !err_text.p)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
	jw_str(c->out, "stdout", out_text);
	jw_str(c->out, "stderr", err_text);
	if (r->exit_code >= 0 && !r->timed_out)
		jw_int(c->out, "exit_code", r->exit_code);
	else
		jw_null(c->out, "exit_code");
	if (r->signal)
		jw_str(c->out, "signal", str_of(proc_signal_name(r->signal)));
	else
		jw_null(c->out, "signal");
	jw_bool(c->out, "timed_out", r->timed_out);
	jw_bool(c->out, "truncated", ends_cut(out) || ends_cut(err));
	jw_int(c->out, "duration_ms", r->duration_ms);
	write_usage(c->out, r);
	write_survivors(c, r);
	if (hint)
		jw_str(c->out, "hint", str_of(hint));
	return 0;
}
