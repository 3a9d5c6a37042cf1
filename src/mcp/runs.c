/* SPDX-License-Identifier: MIT */
/* runs: a list of what is running, and what is told of it meanwhile. */

#include "mcp/runs.h"

#include <stdio.h>
#include <unistd.h>

#include "api/observation.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utf8.h"
#include "mcp/limits.h"

static struct mcp_run *find(struct mcp_runs *r, struct str session, const struct json *id)
{
	for (struct mcp_run *run = r->first; run; run = run->next)
		if (run->session.n && str_eq(run->session, session) && mcp_same_id(run->id, id))
			return run;
	return NULL;
}

/* The last line that is not empty, as much as is shown of it. */
static struct str last_line(struct str text)
{
	const char *p;

	text = str_trim(text);
	for (p = text.p + text.n; p > text.p && p[-1] != '\n' && p[-1] != '\r'; p--)
		;
	const struct str line =
		str_upto((struct str){ p, (size_t)(text.p + text.n - p) }, LIMIT_MCP_LINE);
	return str_upto(line, utf8_whole(line));
}

/* The run's lock is held. */
static void tell(struct mcp_run *run, int64_t now_ms, struct str message)
{
	AUTO_BUF out = { .max = LIMIT_MCP_PROGRESS };
	const int64_t elapsed = now_ms - run->began_ms;

	run->told_ms = now_ms;
	if (run->token) {
		run->value = elapsed > run->value ? elapsed : run->value + 1;
		mcp_progress(run->token, run->value, message, &out);
	}
	/* A token may be as long as a message: then nothing is told. */
	if (!out.failed)
		run->notify(run->arg, buf_str(&out));
}

static void output(void *arg, bool is_stderr, struct str piece, size_t bytes)
{
	struct mcp_run *run = arg;
	const int64_t now = io_now_ms();
	struct str part;
	char text[64];

	(void)pthread_mutex_lock(&run->lock);
	run->bytes += (int64_t)bytes;
	while ((part = utf8_take(&run->texts[is_stderr], &piece)).n)
		buf_add(&run->tail, part);
	if (run->tail.n > LIMIT_MCP_TAIL) {
		buf_drop(&run->tail, run->tail.n - LIMIT_MCP_TAIL);
		buf_drop(&run->tail, utf8_cut_rest(buf_str(&run->tail)));
	}
	if (now - run->told_ms >= LIMIT_MCP_PROGRESS_MS) {
		(void)snprintf(text, sizeof text, "%lld bytes of output", (long long)run->bytes);
		const struct str line = run->tail.failed ? STR("") : last_line(buf_str(&run->tail));
		tell(run, now, line.n ? line : str_of(text));
	}
	(void)pthread_mutex_unlock(&run->lock);
}

int mcp_runs_enter(struct mcp_runs *r, struct mcp_run *run, struct err *e)
{
	int rc = 0;

	run->cancel = (struct cancel)CANCEL_INIT;
	run->unwanted = false;
	run->progress = (struct call_progress){ .output = output, .arg = run };
	(void)pthread_mutex_init(&run->lock, NULL);
	run->began_ms = run->told_ms = io_now_ms();
	run->value = run->bytes = 0;
	/* A piece is a read at most, with what was held back of both outputs. */
	run->tail.max = LIMIT_MCP_TAIL + LIMIT_OUTPUT_CHUNK + 4 * LIMIT_SCRUB_HELD;
	(void)pthread_mutex_lock(&r->lock);
	if (r->ended) {
		rc = err_set(e, ERR_TOO_BUSY, "The server is ending");
	} else if (run->session.n && find(r, run->session, run->id)) {
		rc = err_set(e, ERR_INVALID_ARGUMENTS, "A request with this id is still running");
	} else {
		run->next = r->first;
		r->first = run;
	}
	(void)pthread_mutex_unlock(&r->lock);
	return rc;
}

void mcp_runs_refused(struct mcp_request *r, const struct err *e, struct buf *out)
{
	if (e->code == ERR_TOO_BUSY) {
		mcp_fail(r, e, out);
		return;
	}
	(void)mcp_refuse(r, 400, MCP_INVALID_REQUEST, "%s", e->msg);
	mcp_error(r, out);
}

bool mcp_runs_leave(struct mcp_runs *r, struct mcp_run *run)
{
	(void)pthread_mutex_lock(&r->lock);
	for (struct mcp_run **at = &r->first; *at; at = &(*at)->next) {
		if (*at != run)
			continue;
		*at = run->next;
		break;
	}
	(void)pthread_mutex_unlock(&r->lock);
	/* No other thread knows of it any more. */
	cancel_done(&run->cancel);
	buf_done(&run->tail);
	(void)pthread_mutex_destroy(&run->lock);
	return !run->unwanted;
}

void mcp_run_follow(struct mcp_run *run, struct dispatch *d)
{
	if (run->token)
		d->progress = &run->progress;
	if (run->session.n)
		d->cancel = &run->cancel;
}

/* Its client does not want an answer any more. One who watches may also end a call: that has one.
 */
static void drop(struct mcp_run *run)
{
	run->unwanted = true;
	cancel_ask(&run->cancel);
}

void mcp_runs_cancel(struct mcp_runs *r, struct str session, const struct json *id)
{
	(void)pthread_mutex_lock(&r->lock);
	struct mcp_run *run = find(r, session, id);
	if (run)
		drop(run);
	(void)pthread_mutex_unlock(&r->lock);
}

void mcp_runs_cancel_all(struct mcp_runs *r, const struct str *session)
{
	(void)pthread_mutex_lock(&r->lock);
	r->ended = r->ended || !session;
	for (struct mcp_run *run = r->first; run; run = run->next)
		if (!session || str_eq(run->session, *session))
			drop(run);
	(void)pthread_mutex_unlock(&r->lock);
}

static void tick(struct mcp_run *run, int64_t now)
{
	char text[64];

	/* The thread that holds it is telling something at this moment. */
	if (pthread_mutex_trylock(&run->lock) != 0)
		return;
	const int64_t silence = !run->token	  ? LIMIT_MCP_KEEP_ALIVE_MS
				: run->value == 0 ? LIMIT_MCP_FIRST_MS
						  : LIMIT_MCP_SILENCE_MS;
	if (now - run->told_ms >= silence && !cancel_asked(&run->cancel)) {
		(void)snprintf(text, sizeof text, "running for %lld s",
			       (long long)(now - run->began_ms) / 1000);
		tell(run, now, str_of(text));
	}
	(void)pthread_mutex_unlock(&run->lock);
}

void mcp_runs_tick(struct mcp_runs *r)
{
	const int64_t now = io_now_ms();

	(void)pthread_mutex_lock(&r->lock);
	for (struct mcp_run *run = r->first; run; run = run->next)
		tick(run, now);
	(void)pthread_mutex_unlock(&r->lock);
}

static void call_structured(struct service *s, struct dispatch *d, const struct mcp_request *r,
			    struct buf *out)
{
	struct call_change change = { .id = 0 };
	const struct str name = str_of(r->tool->name);
	AUTO_BUF observation = { .max = LIMIT_MCP_MESSAGE };
	struct jw w = jw_to(&observation);
	struct err e;

	d->change = &change;
	observation_begin(&w, name);
	if (dispatch(s, d, &w, &e) < 0) {
		mcp_fail(r, &e, out);
		return;
	}
	observation_end(&w, &change);
	mcp_result_structured(r, buf_str(&observation), true, out);
}

static void call_text(struct service *s, struct dispatch *d, const struct mcp_request *r,
		      struct buf *out)
{
	AUTO_BUF text = { .max = LIMIT_MCP_MESSAGE };
	AUTO_BUF members = { .max = LIMIT_MCP_MESSAGE };
	struct call_text t = { .text = &text };
	struct jw w = jw_members_to(&members);
	struct err e;

	d->text = &t;
	if (dispatch(s, d, &w, &e) < 0) {
		mcp_fail(r, &e, out);
		return;
	}
	mcp_result_text(r, &t, true, out);
}

void mcp_call(struct service *s, const struct dispatch *d, const struct mcp_request *r,
	      struct buf *out)
{
	const size_t start = out->n;
	struct dispatch sized = *d;
	struct err e;

	sized.sized = true;
	if (r->structured)
		call_structured(s, &sized, r, out);
	else
		call_text(s, &sized, r, out);
	if (!out->failed && out->n - start <= LIMIT_MCP_MESSAGE)
		return;
	(void)err_set(&e, ERR_EXECUTION_ERROR, "The answer is too large: ask for less");
	out->n = start;
	out->failed = false;
	mcp_fail(r, &e, out);
}
