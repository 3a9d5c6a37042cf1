/* SPDX-License-Identifier: MIT */
/* dispatch: make the call, run the tool, clean its result, count and log it. */

#include "service/dispatch.h"

#include <stdio.h>

#include "base/io.h"
#include "base/own.h"
#include "results/results.h"
#include "service/account.h"
#include "service/limits.h"
#include "tools/changed.h"
#include "tools/denied.h"
#include "tools/seen.h"
#include "tools/suggest.h"

/* What a kind of caller may do, and how it is treated. Nothing else depends on the kind. */
static const struct {
	enum path_policy paths; /* what an absolute path means unless the operator decides */
	bool judged;		/* the command policy applies */
	bool scrubbed;		/* secrets are taken out of results */
	bool model;		/* its commands have the variables and times of models */
	bool native;		/* it has other tools than ours, and no time to give */
	enum call_reads reads;	/* what must be read before, unless the operator decides */
} kinds[CALL_KINDS] = {
	/* clang-format off */
	[CALL_WIRE]    = { PATH_SHORTHAND, .judged = false, .scrubbed = false, .model = false, .reads = CALL_READS_NONE },
	[CALL_MODEL]   = { PATH_STRICT,    .judged = true,  .scrubbed = true,  .model = true,  .reads = CALL_READS_NONE },
	[CALL_MCP]     = { PATH_STRICT,    .judged = true,  .scrubbed = true,  .model = true,  .reads = CALL_READS_OVERWRITTEN },
	[CALL_NATIVE]  = { PATH_SHORTHAND, .judged = true,  .scrubbed = true,  .model = true,  .native = true, .reads = CALL_READS_NONE },
	[CALL_SURFACE] = { PATH_SHORTHAND, .judged = true,  .scrubbed = false, .model = false, .reads = CALL_READS_NONE },
	/* clang-format on */
};

static enum call_reads reads_of(const struct service *s, enum call_kind kind)
{
	switch (s->read_before_write) {
	case CONFIG_READS_OFF:
		return CALL_READS_NONE;
	case CONFIG_READS_OVERWRITES:
		return CALL_READS_OVERWRITTEN;
	case CONFIG_READS_ON:
		return CALL_READS_CHANGED;
	case CONFIG_READS_AUTO:
		break;
	}
	return kinds[kind].reads;
}

static struct call make_call(struct service *s, const struct dispatch *d, struct jw *out)
{
	struct call c = s->call;

	c.policy = s->absolute_paths == CONFIG_PATHS_AUTO ? kinds[d->kind].paths
		   : s->absolute_paths == CONFIG_STRICT	  ? PATH_STRICT
							  : PATH_SHORTHAND;
	if (kinds[d->kind].judged)
		c.rules = s->rules;
	if (kinds[d->kind].scrubbed)
		c.scrub = s->scrub;
	c.scrubbed = &s->scrubbed;
	if (kinds[d->kind].model) {
		c.variables = s->variables;
		c.variable_count = s->variable_count;
		c.kept = s->kept;
	}
	/* Without a sandbox an observed command cannot use sudo. What is judged must not anyway. */
	c.observe = s->observe == CONFIG_OBSERVE_ON ||
		    (s->observe == CONFIG_OBSERVE_AUTO &&
		     (kinds[d->kind].judged || s->sandbox.mode != SANDBOX_OFF));
	c.native = kinds[d->kind].native;
	c.times = d->kind == CALL_MCP || c.native ? s->mcp.times : s->model_times;
	c.arena = d->arena;
	c.out = out;
	c.session = d->session.n ? d->session : json_text(d->arguments, STR("sessionId"));
	c.reads = reads_of(s, d->kind);
	/* A file that a client has read for a session, as an attachment, counts for it. */
	if (c.reads != CALL_READS_NONE || c.session.n)
		c.tracker = s->tracker;
	c.cancel = d->cancel;
	c.before_slow = d->before_slow;
	c.before_slow_arg = d->before_slow_arg;
	c.stream = d->stream;
	c.progress = d->progress;
	c.file = d->file;
	c.details = d->details;
	c.text = d->text;
	c.for_reader = d->text;
	c.for_model = kinds[d->kind].model;
	if (d->sized) {
		c.max_bytes = s->mcp.result_bytes;
		c.max_lines = LIMIT_RESULT_LINES;
	}
	return c;
}

/* Takes secrets out of the strings of a result. */
struct cleaner {
	struct service *service;
	struct buf *out; /* the result: fails if a string could not be looked at */
	struct buf aside, pieces;
	struct jw_filter filter;
};

static void cleaner_done(struct cleaner *c)
{
	if (!c->service)
		return;
	buf_done(&c->aside);
	buf_done(&c->pieces);
}

static struct str clean_string(void *arg, struct str value)
{
	struct cleaner *c = arg;
	const struct str text =
		scrub_text(c->service->scrub, &c->service->scrubbed, value, &c->aside);

	if (c->aside.failed)
		c->out->failed = true;
	return text;
}

/* Have everything that the call shows pass the cleaner. */
static void clean(struct cleaner *c, struct service *s, struct call *call)
{
	*c = (struct cleaner){
		.service = s,
		.out = jw_buf(call->out),
		.aside = { .max = LIMIT_ANSWER },
		.pieces = { .max = LIMIT_ANSWER },
		.filter = { .apply = clean_string, .arg = c, .pieces = &c->pieces },
	};
	jw_set_filter(call->out, &c->filter);
}

/* A text is looked at as a whole. */
static void clean_text(struct cleaner *c, struct buf *text)
{
	const struct str clean =
		scrub_text(c->service->scrub, &c->service->scrubbed, buf_str(text), &c->aside);

	if (c->aside.failed)
		text->failed = true;
	if (clean.p == text->p)
		return;
	text->n = 0;
	buf_add(text, clean);
}

/* An error may quote the file that it is about. */
static void clean_error(struct cleaner *c, struct err *e)
{
	const struct str text =
		scrub_text(c->service->scrub, &c->service->scrubbed, str_of(e->msg), &c->aside);

	if (text.p != e->msg)
		(void)err_set(e, e->code, "%.*s", STR_FMT(text));
}

/* Where the calls of a tool are counted. */
static struct metrics_tool *counts_of(struct service *s, const struct tool *t)
{
	size_t i = 0;

	while (tool_at(i) && tool_at(i) != t)
		i++;
	return &s->metrics.tools[tool_at(i) && i < LIMIT_METRIC_TOOLS ? i : LIMIT_METRIC_TOOLS];
}

static void add(_Atomic uint64_t *to, uint64_t n)
{
	(void)atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

/* Count a call that has ended; t is NULL if there is no such tool. */
static void count(struct service *s, const struct tool *t, enum err_code code, int64_t us)
{
	struct metrics_tool *counts = counts_of(s, t);
	size_t step = 0;

	while (step < ARRAY_LEN(metrics_steps) && us > metrics_steps[step].us)
		step++;
	add(&counts->ended[code], 1);
	add(&counts->within[step], 1);
	add(&counts->us, (uint64_t)us);
}

/* The path that a call was about. */
static struct str path_of(const struct json *arguments)
{
	const struct str path = json_text(arguments, STR("path"));

	return path.n ? path : json_text(arguments, STR("cwd"));
}

static void note(struct service *s, const struct dispatch *d, const struct account *a)
{
	if (d->unseen)
		return;
	count(s, d->tool, a->code, a->ended_us - a->began_us);
	if (!s->quiet)
		account_log(a);
}

/* A text of the client as it is shown. */
static struct str shown(struct service *s, const struct dispatch *d, struct str text,
			struct buf *aside)
{
	if (!text.n)
		return text;
	const struct str clean = account_clean(s->secrets, text, aside);
	/* What was changed is in `aside`, which the next text needs. */
	return clean.p == text.p ? clean : arena_dup(d->arena, clean);
}

/* A call that is to be told of. Its subject is without secrets; it may lie in `aside`. */
static struct account open_account(struct service *s, const struct dispatch *d, struct str tool,
				   struct str session, struct buf *aside)
{
	const int64_t began_us = io_now_us();
	const struct str subject = d->arguments ? account_subject(d->arguments, d->arena) : STR("");

	return (struct account){
		.began_us = began_us,
		.id = d->unseen ? 0 : ++s->calls,
		.tool = tool,
		.subject = shown(s, d, subject, aside),
		.session = str_upto(shown(s, d, session, aside), LIMIT_LOG_SESSION),
		.uid = d->uid,
		.pid = d->pid,
	};
}

/* What the call has written: text, or members after so many bytes that were there before. */
static struct str result_of(const struct call *c, size_t before)
{
	return c->text && c->text->text->n ? buf_str(c->text->text)
					   : str_from(buf_str(jw_buf(c->out)), before);
}

/* A command that was ended has a result, but is not a success. */
static enum err_code code_of(const struct call_end *end)
{
	return end->timed_out ? ERR_TIMED_OUT : end->cancelled ? ERR_CANCELLED : ERR_NONE;
}

/* Models are told what they changed; the HTTP endpoints only the number. */
static void tell_change(const struct dispatch *d, const struct call *c, const struct change *made,
			const struct jw_filter *filter)
{
	AUTO_BUF json = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&json);

	if (kinds[d->kind].model && !c->native && c->text)
		changed_show(c->text->text, c->max_bytes, made);
	if (!d->change)
		return;
	d->change->id = made->id;
	if (!kinds[d->kind].model || c->text)
		return;
	jw_set_filter(&w, filter);
	changed_write(&w, made);
	if (!json.failed)
		d->change->json = arena_dup(d->arena, buf_str(&json));
}

/* Models are told what their command was refused. */
static void tell_denied(const struct dispatch *d, const struct call *c,
			const struct jw_filter *filter)
{
	AUTO_BUF json = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(&json);

	if (kinds[d->kind].model && c->text)
		denied_show(c->text->text, c->max_bytes, c->denied);
	if (!d->change || !kinds[d->kind].model || c->text)
		return;
	jw_set_filter(&w, filter);
	denied_write(&w, c->denied);
	if (!json.failed)
		d->change->denied = arena_dup(d->arena, buf_str(&json));
	d->change->denied_count = (int64_t)c->denied->count;
}

/* Those who watch learn of the call, and may stop it. */
static void begin(struct service *s, const struct dispatch *d, const struct account *a,
		  struct buf *aside, struct live_call *live, struct call *c)
{
	static struct live off;

	live->about = (struct live_about){
		.arguments = d->arguments ? d->arguments : &json_empty,
		.mcp = d->kind == CALL_MCP,
		.client = shown(s, d, d->client, aside),
	};
	c->began_ms = a->began_us / 1000;
	c->number = (uint64_t)a->id;
	c->tool = a->tool;
	c->subject = a->subject;
	live_begin(d->unseen ? &off : &s->live, live, a, c);
}

/* The record learns of the call. -1: it must not be made. */
static int record_start(struct service *s, const struct dispatch *d, const struct account *a,
			struct buf *aside, struct err *e)
{
	const bool changes = d->tool && !(d->tool->flags & TOOL_READ_ONLY);

	if (!s->audit || d->unseen)
		return 0;
	return audit_begin(s->audit, a, shown(s, d, d->client, aside), d->kind == CALL_MCP, changes,
			   e);
}

/* And how it ended. -1: it was made, but that is not recorded. */
static int record_end(struct service *s, const struct dispatch *d, const struct account *a,
		      struct err *e)
{
	const bool changes = d->tool && !(d->tool->flags & TOOL_READ_ONLY);

	return !s->audit || d->unseen ? 0 : audit_end(s->audit, a, changes, e);
}

/* Whether all of the result was written. */
static int check_result(const struct call *c, struct err *e)
{
	if (c->text && c->text->text->failed)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the result, try again");
	/* Room for the end of the envelope, so that the front end cannot fail to write it. */
	if (!buf_room(jw_buf(c->out), LIMIT_ENVELOPE_END))
		return err_set(e, ERR_EXECUTION_ERROR, "The answer is too large: ask for less");
	return 0;
}

/* Run the tool, and show what it returns. */
static int run(const struct dispatch *d, struct call *c, struct err *e)
{
	AUTO_RESULT result;

	result_init(&result);
	if (tool_call(d->tool, c, d->arguments, &result, e) < 0 || results_show(c, &result, e) < 0)
		return -1;
	seen_result(c, &result);
	return 0;
}

int dispatch(struct service *s, const struct dispatch *d, struct jw *out, struct err *e)
{
	struct call c = make_call(s, d, out);
	CLEANUP(cleaner_done) struct cleaner cleaner = { 0 };
	struct change made = { .id = 0 };
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };
	struct account a = open_account(s, d, str_of(d->tool->name), c.session, &aside);
	struct call_record record = { s->history.journal, d->tool, a.subject, c.session };
	const struct witness witness = { history_before, history_wrote, &record };
	const size_t before = jw_length(out);
	struct live_call live UNINITIALISED;
	CLEANUP(turn_give) struct turn turn = { .of = &s->turns };

	begin(s, d, &a, &aside, &live, &c);
	c.turn = d->at_once ? NULL : &turn;
	c.witness = s->history.journal ? &witness : NULL;
	c.made = &made;
	const bool scrubbed = c.scrub && (d->tool->flags & TOOL_SCRUB || s->scrub_files);
	if (scrubbed)
		clean(&cleaner, s, &c);
	int rc = record_start(s, d, &a, &aside, e) < 0 ? -1 : run(d, &c, e);
	if (rc < 0 && e->code == ERR_FILE_NOT_FOUND && !e->advice &&
	    (d->hints || kinds[d->kind].model))
		suggest_path(&c, path_of(d->arguments), e);
	if (record.recording.journal)
		(void)history_end(&record, d->arena, &made);
	if (rc == 0 && c.denied)
		tell_denied(d, &c, scrubbed ? &cleaner.filter : NULL);
	if (rc == 0 && made.id)
		tell_change(d, &c, &made, scrubbed ? &cleaner.filter : NULL);
	jw_set_filter(out, NULL);
	if (rc < 0 && c.scrub && s->scrub_files)
		clean_error(&cleaner, e);
	if (rc == 0 && c.text && scrubbed)
		clean_text(&cleaner, c.text->text);
	if (rc == 0)
		rc = check_result(&c, e);
	if (d->end)
		*d->end = c.end;
	a.ended_us = io_now_us();
	a.ms = (a.ended_us - a.began_us) / 1000;
	a.code = rc < 0 ? e->code : code_of(&c.end);
	a.end = c.end;
	a.bytes = live.bytes + (rc < 0 ? 0 : (int64_t)result_of(&c, before).n);
	a.change = made.id;
	struct err unrecorded;
	if (record_end(s, d, &a, &unrecorded) < 0 && rc == 0) {
		*e = unrecorded;
		a.code = e->code;
		rc = -1;
	}
	/* What was only read is not kept a second time: looking for secrets in it would cost more
	 * than reading it. */
	live_end(&live, &a, &made, rc < 0 ? e->msg : NULL,
		 c.end.ran || made.id ? result_of(&c, before) : STR(""));
	note(s, d, &a);
	return rc;
}

void dispatch_refused(struct service *s, const struct dispatch *d, struct str name,
		      const struct err *e)
{
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };
	/* What the client calls the tool may be anything. */
	struct account a = open_account(s, d, shown(s, d, name, &aside), d->session, &aside);

	struct live_call live UNINITIALISED;
	struct call none = { .cancel = NULL };
	const struct change made = { .id = 0 };

	struct err unused;

	begin(s, d, &a, &aside, &live, &none);
	(void)record_start(s, d, &a, &aside, &unused);
	a.code = e->code;
	a.ended_us = a.began_us;
	(void)record_end(s, d, &a, &unused);
	live_end(&live, &a, &made, e->msg, STR(""));
	note(s, d, &a);
}
