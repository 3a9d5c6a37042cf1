/* SPDX-License-Identifier: MIT */
/* runs: what is told of a call while it runs; and how it is answered. */

#include "mcp/runs.h"

#include <stddef.h>
#include <stdio.h>

#include "results/observation.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "mcp/limits.h"

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

static int take_output(void *arg, bool is_stderr, struct str piece, size_t bytes)
{
	struct mcp_run *run = arg;
	const int64_t now = io_now_ms();
	char text[64];

	(void)is_stderr;
	(void)pthread_mutex_lock(&run->lock);
	run->bytes += (int64_t)bytes;
	buf_add(&run->tail, piece);
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
	return 0;
}

static void tick(struct roster_entry *entry, int64_t now)
{
	struct mcp_run *run = (void *)((char *)entry - offsetof(struct mcp_run, entry));
	char text[64];

	/* The thread that holds it is telling something at this moment. */
	if (pthread_mutex_trylock(&run->lock) != 0)
		return;
	const int64_t silence = !run->token	  ? LIMIT_MCP_KEEP_ALIVE_MS
				: run->value == 0 ? LIMIT_MCP_FIRST_MS
						  : LIMIT_MCP_SILENCE_MS;
	if (now - run->told_ms >= silence && !cancel_asked(entry->cancel)) {
		(void)snprintf(text, sizeof text, "running for %lld s",
			       (long long)(now - run->began_ms) / 1000);
		tell(run, now, str_of(text));
	}
	(void)pthread_mutex_unlock(&run->lock);
}

int mcp_run_enter(struct roster *r, struct mcp_run *run, struct err *e)
{
	run->taker = (struct sink_taker){ .take = take_output, .arg = run };
	(void)pthread_mutex_init(&run->lock, NULL);
	run->began_ms = run->told_ms = io_now_ms();
	run->value = run->bytes = 0;
	/* A piece is a read at most, with what was held back of both outputs. */
	run->tail.max = LIMIT_MCP_TAIL + LIMIT_OUTPUT_CHUNK + 4 * LIMIT_SCRUB_HELD;
	run->entry = (struct roster_entry){
		.session = run->session,
		.name = run->id,
		.cancel = run->session.n ? NULL : run->cancel,
		.tick = tick,
	};
	return roster_enter(r, &run->entry, e);
}

void mcp_run_refused(struct mcp_request *r, const struct err *e, struct buf *out)
{
	if (e->code == ERR_TOO_BUSY) {
		mcp_fail(r, e, out);
		return;
	}
	(void)mcp_refuse(r, 400, MCP_INVALID_REQUEST, "%s", e->msg);
	mcp_error(r, out);
}

bool mcp_run_leave(struct roster *r, struct mcp_run *run)
{
	const bool wanted = roster_leave(r, &run->entry);

	/* No other thread knows of it any more. */
	buf_done(&run->tail);
	(void)pthread_mutex_destroy(&run->lock);
	return wanted;
}

void mcp_run_follow(struct mcp_run *run, struct dispatch *d)
{
	if (run->token)
		d->taker = &run->taker;
	d->entry = &run->entry;
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
	struct way_text t = { .text = &text };
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
	const struct mcp_client *client = mcp_client_find(r->client);
	struct dispatch sized = *d;
	struct err e;

	sized.sized = true;
	sized.passed_on = (struct call_size){ client->bytes, client->lines };
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
