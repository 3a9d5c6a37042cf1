/* SPDX-License-Identifier: MIT */
/* dispatch: make the call, tell its observers, run the tool, show its result. To add an observer:
 * write its functions, and add its row to the list. */

#include "service/dispatch.h"

#include "base/io.h"
#include "base/own.h"
#include "guard/guard.h"
#include "guard/hidden.h"
#include "sandbox/canonical.h"
#include "results/results.h"
#include "service/account.h"
#include "service/limits.h"
#include "tools/aliases.h"
#include "tools/seen.h"
#include "tools/suggest.h"
#include "tools/watched.h"

/* One call on its way through dispatch. It must not be moved. */
struct execution {
	struct service *service;
	struct dispatch asked; /* with the arguments by the names that the tool has */
	const struct dispatch *d;
	struct call call;
	struct account account;
	struct turn turn;	   /* to compute */
	struct change made;	   /* what it changed; id 0: nothing */
	struct buf aside;	   /* where its texts lose their secrets */
	const char *why;	   /* the sentence of a failure; NULL: there is none */
	struct live_result result; /* what was shown */

	/* The observers' own. */
	struct roster_entry entry;
	struct live_call live;
	struct call_record record;
	struct witness witness;
};

/* What a kind of caller may do, and how it is treated. Nothing else depends on the kind. */
static const struct {
	enum path_policy paths; /* what an absolute path means unless the operator decides */
	bool judged;		/* the command policy applies */
	bool scrubbed;		/* secrets are taken out of results */
	bool model;		/* its commands have the variables and times of models */
	bool native;		/* it has other tools than ours */
	bool timed;		/* its commands have the times of MCP: it waits no longer */
	enum call_reads reads;	/* what must be read before, unless the operator decides */
} kinds[CALL_KINDS] = {
	/* clang-format off */
	[CALL_WIRE]    = { PATH_SHORTHAND, .judged = false, .scrubbed = false, .model = false, .reads = CALL_READS_NONE },
	[CALL_MODEL]   = { PATH_STRICT,    .judged = true,  .scrubbed = true,  .model = true,  .reads = CALL_READS_NONE },
	[CALL_MCP]     = { PATH_STRICT,    .judged = true,  .scrubbed = true,  .model = true,  .timed = true, .reads = CALL_READS_OVERWRITTEN },
	[CALL_NATIVE]  = { PATH_SHORTHAND, .judged = true,  .scrubbed = true,  .model = true,  .native = true, .timed = true, .reads = CALL_READS_NONE },
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

static enum path_policy paths_of(const struct service *s, enum call_kind kind)
{
	return s->absolute_paths == CONFIG_PATHS_AUTO ? kinds[kind].paths
	       : s->absolute_paths == CONFIG_STRICT   ? PATH_STRICT
						      : PATH_SHORTHAND;
}

static bool is_observed(const struct service *s, enum call_kind kind)
{
	return service_observes_all(s) || (s->observe == CONFIG_OBSERVE_AUTO && kinds[kind].judged);
}

/* How long a result may be. */
static struct call_size size_of(const struct service *s, const struct dispatch *d)
{
	struct call_size size = { s->mcp.result_bytes, LIMIT_RESULT_LINES };

	if (s->sized)
		return size;
	size.most = d->passed_on.bytes;
	if (size.most && size.bytes > size.most)
		size.bytes = size.most;
	if (d->passed_on.lines)
		size.lines = d->passed_on.lines;
	return size;
}

static struct call make_call(struct service *s, const struct dispatch *d)
{
	const bool model = kinds[d->kind].model;
	struct call c = {
		.shared = &s->shared,
		.session = d->session.n ? d->session : json_text(d->arguments, STR("sessionId")),
		.arena = d->arena,
		.cancel = d->cancel,
		.thread = { d->before_slow, d->before_slow_arg },
		.policy = paths_of(s, d->kind),
		.reads = reads_of(s, d->kind),
		.rules = kinds[d->kind].judged ? s->rules : NULL,
		.times = kinds[d->kind].timed ? s->mcp.times : s->model_times,
		.observe = is_observed(s, d->kind),
		.guarded = s->guard && (kinds[d->kind].judged || s->sandbox.mode != SANDBOX_OFF),
		.scrub = kinds[d->kind].scrubbed ? s->scrub : NULL,
		.for_model = model,
		.for_reader = d->text,
		.kept = model ? s->kept : NULL,
		.takers = d->taker,
		.progress = d->progress,
	};

	/* A file that a client has read for a session, as an attachment, counts for it. */
	if (c.reads != CALL_READS_NONE || c.session.n)
		c.tracker = s->tracker;
	if (d->sized)
		c.size = size_of(s, d);
	if (d->taker)
		d->taker->clean = c.scrub;
	return c;
}

/* The path that a call was about. */
static struct str path_of(const struct json *arguments)
{
	const struct str path = json_text(arguments, STR("path"));

	return path.n ? path : json_text(arguments, STR("cwd"));
}

/* A text of the client as it is shown. */
static struct str shown(struct execution *x, struct str text)
{
	if (!text.n)
		return text;
	const struct str clean = account_clean(x->service->secrets, text, &x->aside);
	/* What was changed is in `aside`, which the next text needs. */
	return clean.p == text.p ? clean : arena_dup(x->d->arena, clean);
}

/* Whether it is by the routes of those who watch. */
static bool is_look(const struct tool *t)
{
	return t == &tool_changes || t == &tool_change || t == &tool_change_diff ||
	       t == &tool_jobs || t == &tool_job;
}

/* What is known of the call before it is made. */
static void open_account(struct execution *x, struct str tool, struct str session)
{
	const struct dispatch *d = x->d;
	const struct account_paths paths = { x->service->shared.ws, x->call.policy };
	/* The paths of the memory tool are none of the workspace. */
	const bool inside = x->service->shared.ws && d->tool != &tool_memory;
	const struct str subject =
		d->arguments ? account_subject(inside ? &paths : NULL, d->arguments, d->arena)
			     : STR("");

	x->service->looks += !d->unseen && is_look(d->tool);
	x->account = (struct account){
		.began_us = io_now_us(),
		.id = d->unseen ? 0 : ++x->service->calls,
		.tool = tool,
		.subject = shown(x, subject),
		.session = str_upto(shown(x, session), LIMIT_LOG_SESSION),
		.uid = d->uid,
		.pid = d->pid,
	};
	/* Those who visit the roster may look at it before its start is told. */
	x->live.live = &x->service->live;
	x->live.id = (uint64_t)x->account.id;
	x->live.account = &x->account;
	atomic_init(&x->live.has_output, false);
	x->live.about = (struct live_about){
		.arguments = d->arguments ? d->arguments : &json_empty,
		.raw = d->raw,
		.mcp = d->kind == CALL_MCP,
		.client = shown(x, d->client),
	};
}

/* Make the call. */
static void open_execution(struct execution *x, struct service *s, const struct dispatch *d)
{
	x->service = s;
	x->asked = *d;
	if (d->tool && d->arguments && kinds[d->kind].model && !kinds[d->kind].native)
		x->asked.arguments = aliases_resolve(d->tool->args, d->arguments, d->arena);
	x->d = &x->asked;
	x->made = (struct change){ .id = 0 };
	x->aside = (struct buf){ .max = LIMIT_SUBJECT_MEMORY };
	x->why = NULL;
	x->result = (struct live_result){ STR(""), false };
	x->entry.entered = false;
	x->turn = (struct turn){ .of = &s->turns };
	x->call = make_call(s, x->d);
	x->call.made = &x->made;
}

static void execution_done(struct execution *x)
{
	turn_give(&x->turn); /* showing a result may be work, too */
	buf_done(&x->aside);
}

/* The front end may have entered the call already, by a name of its own. */
static int enter_roster(struct execution *x, struct err *e)
{
	struct roster *roster = &x->service->roster;

	if (x->d->entry) {
		roster_describe(roster, x->d->entry, (uint64_t)x->account.id, &x->live);
		x->call.cancel = x->d->entry->cancel;
		return 0;
	}
	x->entry = (struct roster_entry){ .call = (uint64_t)x->account.id,
					  .cancel = x->d->cancel,
					  .about = &x->live };
	const int rc = roster_enter(roster, &x->entry, e);
	x->call.cancel = x->entry.cancel;
	return rc;
}

static int leave_roster(struct execution *x, struct err *e)
{
	(void)e;
	if (x->d->entry)
		roster_describe(&x->service->roster, x->d->entry, 0, NULL);
	else
		(void)roster_leave(&x->service->roster, &x->entry);
	live_gone(&x->live);
	return 0;
}

static int begin_events(struct execution *x, struct err *e)
{
	(void)e;
	live_begin(&x->live, &x->call);
	return 0;
}

static int end_events(struct execution *x, struct err *e)
{
	(void)e;
	live_end(&x->live, &x->account, &x->made, x->why, &x->result);
	return 0;
}

static bool may_change(const struct execution *x)
{
	return x->d->tool && !(x->d->tool->flags & TOOL_READ_ONLY);
}

static int begin_record(struct execution *x, struct err *e)
{
	if (!x->service->audit)
		return 0;
	return audit_begin(x->service->audit, &x->account, x->live.about.client, x->live.about.mcp,
			   may_change(x), e);
}

static int end_record(struct execution *x, struct err *e)
{
	return x->service->audit ? audit_end(x->service->audit, &x->account, may_change(x), e) : 0;
}

static int ask_guard(void *arg, int dir, const char *name, struct err *e)
{
	const struct execution *x = arg;
	const struct service *s = x->service;
	char at[2 * PATH_MAX];

	if (s->shared.hidden && canonical_in(dir, name, at) &&
	    hidden_permits(s->shared.hidden, at, e) < 0)
		return -1;
	if (s->guard && x->call.guarded)
		return guard_permits(s->guard, dir, name, e);
	if (s->guard)
		guard_accept(s->guard, x, dir, name);
	return 0;
}

static int ask_guard_move(void *arg, int dir, const char *name, int new_dir, const char *new_name,
			  struct err *e)
{
	const struct execution *x = arg;
	char to[2 * PATH_MAX];

	if (!x->service->guard || !x->call.guarded || !canonical_in(new_dir, new_name, to))
		return 0;
	return guard_permits_move(x->service->guard, dir, name, to, e);
}

static void tell_journal(void *arg, int dir, const char *name, enum witness_act act)
{
	struct execution *x = arg;

	history_before(&x->record, dir, name, act);
}

static void tell_content(void *arg, int dir, const char *name, struct str content)
{
	struct execution *x = arg;

	history_wrote(&x->record, dir, name, content);
}

/* The recording begins with the first change; most calls have none. */
static int begin_journal(struct execution *x, struct err *e)
{
	(void)e;
	x->record = (struct call_record){ x->service->history.journal, x->d->tool,
					  x->account.subject, x->call.session };
	const bool records = x->service->history.journal;
	const bool asks = x->service->guard || x->service->shared.hidden;
	x->witness = (struct witness){ .permits = asks ? ask_guard : NULL,
				       .permits_move = ask_guard_move,
				       .before = records ? tell_journal : NULL,
				       .wrote = records ? tell_content : NULL,
				       .arg = x };
	x->call.witness = asks || records ? &x->witness : NULL;
	return 0;
}

static void end_journal(struct execution *x)
{
	if (x->service->guard && !x->call.guarded)
		guard_accepted(x->service->guard, x);
	if (x->record.recording.journal)
		(void)history_end(&x->record, x->d->arena, &x->made);
}

static int count_call(struct execution *x, struct err *e)
{
	const struct account *a = &x->account;

	(void)e;
	metrics_count(&x->service->metrics, x->d->tool, a->code, a->ended_us - a->began_us);
	return 0;
}

static int log_call(struct execution *x, struct err *e)
{
	(void)e;
	if (!x->service->quiet)
		account_log(&x->account);
	return 0;
}

/* Who learns of each call, in this order: when it begins, when its tool has run, and when its result
 * has been shown. A tool knows none of them. Each function may be NULL. A call enters the roster before
 * its event is sent, so that those who read the event can stop the call. `always`: also of calls
 * that are `unseen`. */
static const struct {
	int (*begin)(struct execution *x, struct err *e);
	void (*ran)(struct execution *x);
	int (*end)(struct execution *x, struct err *e);
	bool always;
} observers[] = {
	{ .begin = begin_journal, .ran = end_journal, .always = true },
	{ .begin = begin_record, .end = end_record },
	{ .begin = enter_roster, .always = true },
	{ .begin = begin_events, .end = end_events },
	{ .end = leave_roster, .always = true },
	{ .end = count_call },
	{ .end = log_call },
};

static bool observes(size_t i, const struct execution *x)
{
	return observers[i].always || !x->d->unseen;
}

/* The call begins. -1 if it must not be made; the others begin all the same. */
static int observers_begin(struct execution *x, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(observers); i++) {
		struct err why UNINITIALISED;
		if (!observers[i].begin || !observes(i, x) || observers[i].begin(x, &why) == 0 ||
		    rc < 0)
			continue;
		*e = why;
		rc = -1;
	}
	return rc;
}

/* Its tool has run, or was not run. */
static void observers_ran(struct execution *x)
{
	for (size_t i = 0; i < ARRAY_LEN(observers); i++)
		if (observers[i].ran && observes(i, x))
			observers[i].ran(x);
}

/* The call has ended, as its account and `why` say. -1 if it had succeeded, and that could not be
 * recorded. */
static int observers_end(struct execution *x, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(observers); i++) {
		struct err why UNINITIALISED;
		if (!observers[i].end || !observes(i, x) || observers[i].end(x, &why) == 0 ||
		    x->why)
			continue;
		/* Those after it learn that the call has failed. */
		*e = why;
		x->why = e->msg;
		x->account.code = e->code;
		rc = -1;
	}
	return rc;
}

/* Run the tool. */
static int run(struct execution *x, const struct way *out, struct result *ret, struct err *e)
{
	const struct dispatch *d = x->d;

	x->call.began_ms = x->account.began_us / 1000;
	x->call.about =
		(struct call_about){ (uint64_t)x->account.id, x->account.tool, x->account.subject };
	x->call.thread.turn = d->at_once ? NULL : &x->turn;
	x->call.reserve = way_reserve;
	x->call.reserve_arg = out;
	if (tool_call(d->tool, &x->call, d->arguments, ret, e) == 0)
		return 0;
	if (e->code == ERR_FILE_NOT_FOUND && !e->advice && (d->hints || kinds[d->kind].model))
		suggest_path(&x->call, path_of(d->arguments), e);
	if (d->details)
		results_write_details(ret, e, d->details);
	return -1;
}

/* Show its result. */
static int show(struct execution *x, const struct way *out, struct result *r, struct err *e)
{
	const struct aftermath after = { &x->made, x->call.denied, x->d->change };
	const size_t before = jw_length(out->members);

	if (results_show(out, r, &after, e) < 0)
		return -1;
	if (x->call.tracker)
		seen_result(&x->call, r);
	if (r->kind == RESULT_FILE && x->d->file) {
		x->d->file->fd = TAKE(r->file.fd, -1);
		x->d->file->size = r->file.st.st_size;
	}
	const bool as_text = out->text && out->text->text->n;
	x->result.members = !as_text;
	x->result.text = as_text ? buf_str(out->text->text)
				 : str_from(buf_str(jw_buf(out->members)), before);
	x->account.bytes = (int64_t)x->result.text.n;
	return 0;
}

/* A command that was ended has a result, but is not a success. */
static enum err_code code_of(const struct call_end *end)
{
	return end->timed_out ? ERR_TIMED_OUT : end->cancelled ? ERR_CANCELLED : ERR_NONE;
}

static bool only_deletes(const struct change *made)
{
	return made->id && made->counts[ITEM_DELETED] && !made->counts[ITEM_CREATED] &&
	       !made->counts[ITEM_MODIFIED] && !made->counts[ITEM_RENAMED];
}

/* How it ended; e is NULL if it did not fail. */
static void close_account(struct execution *x, const struct result *r, const struct err *e)
{
	struct account *a = &x->account;

	a->ended_us = io_now_us();
	a->ms = (a->ended_us - a->began_us) / 1000;
	a->code = e ? e->code : code_of(&x->call.end);
	a->end = x->call.end;
	a->bytes += r->kind == RESULT_EXIT ? r->exit.streamed : 0;
	a->change = x->made.id;
	a->deletes = only_deletes(&x->made);
	a->denied = x->call.denied && x->call.denied->count;
	x->why = e ? e->msg : NULL;
	if (x->d->end)
		*x->d->end = x->call.end;
}

static struct way way_of(const struct execution *x, struct jw *out)
{
	const struct dispatch *d = x->d;

	return (struct way){
		.c = &x->call,
		.members = out,
		.text = d->text,
		.model = kinds[d->kind].model,
		.native = kinds[d->kind].native,
		.clean = x->call.scrub && (d->tool->flags & TOOL_SCRUB || x->service->scrub_files),
	};
}

int dispatch(struct service *s, const struct dispatch *d, struct jw *out, struct err *e)
{
	CLEANUP(execution_done) struct execution x UNINITIALISED;
	AUTO_RESULT result;

	open_execution(&x, s, d);
	result_init(&result);
	const struct way way = way_of(&x, out);
	open_account(&x, str_of(d->tool->name), x.call.session);
	int rc = observers_begin(&x, e);
	if (rc == 0)
		rc = run(&x, &way, &result, e);
	observers_ran(&x);
	if (rc == 0)
		rc = show(&x, &way, &result, e);
	if (rc < 0 && x.call.scrub && s->scrub_files)
		results_clean_error(x.call.scrub, &s->scrubbed, e);
	close_account(&x, &result, rc < 0 ? e : NULL);
	return observers_end(&x, e) < 0 ? -1 : rc;
}

void dispatch_refused(struct service *s, const struct dispatch *d, struct str name,
		      const struct err *e)
{
	CLEANUP(execution_done) struct execution x UNINITIALISED;
	const struct result none = { .kind = RESULT_NOTHING };
	struct err unused;

	open_execution(&x, s, d);
	/* What the client calls the tool may be anything. */
	open_account(&x, shown(&x, name), d->session);
	(void)observers_begin(&x, &unused);
	observers_ran(&x);
	close_account(&x, &none, e);
	(void)observers_end(&x, &unused);
}
