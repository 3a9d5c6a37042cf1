/* SPDX-License-Identifier: MIT */
/* mcp_tasks: answer at once what takes no time, and hand the rest to threads. */

#include "mcp/tasks.h"

#include <unistd.h>

#include "api/calls.h"
#include "mcp/protocol.h"
#include "mcp/batch.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"

/* Within which ids are unique, and by which the tracker knows what has been read. */
#define SESSION STR("stdio")

enum {
	STACK = 512 << 10, /* of a call's thread, as of the server's workers */
	KEEP = 96 << 10,   /* the answer buffer is kept up to this size */
};

/* One message, and all that its answer needs. */
struct task {
	struct mcp_tasks *m;
	struct arena arena;
	struct buf out;
	const struct json *message;
	struct mcp_request request;
	struct mcp_run run;
};

static void task_free(struct task *t)
{
	if (!t)
		return;
	arena_done(&t->arena);
	buf_done(&t->out);
	mem_free(t);
}

/* The task's answer, if it has one; its memory is ready for the next. */
static void send_answer(struct task *t)
{
	if (t->out.failed) {
		buf_reset(&t->out, 0);
		(void)mcp_refuse(&t->request, 503, MCP_INTERNAL, "Not enough memory");
		mcp_error(&t->request, &t->out);
	}
	if (t->out.n) {
		buf_addc(&t->out, '\n');
		mcp_pipe_write(&t->m->out, buf_str(&t->out));
	}
	buf_reset(&t->out, KEEP);
	arena_reset(&t->arena);
}

static void notify(void *arg, struct str message)
{
	struct mcp_tasks *m = arg;

	if (message.n)
		mcp_pipe_try(&m->out, message);
}

static struct call new_call(struct task *t)
{
	struct call c = t->m->service->mcp_call;

	c.arena = &t->arena;
	c.session = SESSION;
	return c;
}

static void call(struct task *t, struct call *c, const struct mcp_request *r)
{
	const int64_t began_us = io_now_us();
	const enum err_code code = mcp_call(t->m->service, c, r, &t->out);

	calls_note(t->m->service, geteuid(), getppid(), str_of(r->tool->name), c->session,
		   io_now_us() - began_us, code);
}

/* Let others know of the call. Whether that was possible; else it is answered. */
static bool enter(struct task *t, struct mcp_request *r)
{
	struct err e;

	t->run = (struct mcp_run){
		.scrub = t->m->service->scrub,
		.session = SESSION,
		.id = r->id,
		.token = r->token,
		.notify = notify,
		.arg = t->m,
	};
	if (mcp_runs_enter(&t->m->runs, &t->run, &e) == 0)
		return true;
	mcp_runs_refused(r, &e, &t->out);
	return false;
}

/* A call that can be cancelled and tells of its progress; it has been entered. */
static void call_entered(struct task *t, const struct mcp_request *r)
{
	const size_t before = t->out.n;
	struct call c = new_call(t);

	mcp_run_call(&t->run, &c);
	call(t, &c, r);
	if (!mcp_runs_leave(&t->m->runs, &t->run))
		t->out.n = before;
}

static void *run_call(void *arg)
{
	struct task *t = arg;
	struct mcp_tasks *m = t->m;

	call_entered(t, &t->request);
	send_answer(t);
	task_free(t);
	m->threads--; /* from here on m may be gone */
	return NULL;
}

static void call_item(void *arg, struct mcp_request *r, struct buf *out)
{
	(void)out;
	if (enter(arg, r))
		call_entered(arg, r);
}

static void cancel_item(void *arg, const struct json *id)
{
	struct task *t = arg;

	mcp_runs_cancel(&t->m->runs, SESSION, id);
}

static void *run_batch(void *arg)
{
	struct task *t = arg;
	struct mcp_tasks *m = t->m;
	const struct mcp_batch batch = { .call = call_item, .cancel = cancel_item, .arg = t };

	mcp_batch_answer(m->service, &batch, t->message, &t->out);
	send_answer(t);
	task_free(t);
	m->threads--;
	return NULL;
}

/* Go on with the task in a thread of its own, which owns it from then on; false when there can be
 * none. */
static bool hand_over(struct task *t, void *(*work)(void *arg))
{
	struct mcp_tasks *m = t->m;
	pthread_attr_t attr;
	pthread_t thread;

	if (m->threads >= LIMIT_MCP_CALLS || pthread_attr_init(&attr) != 0)
		return false;
	(void)pthread_attr_setstacksize(&attr, STACK);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	m->threads++;
	const bool started = pthread_create(&thread, &attr, work, t) == 0;
	if (!started)
		m->threads--;
	(void)pthread_attr_destroy(&attr);
	return started;
}

/* Whether the task is somebody else's now. */
static bool call_tool(struct task *t)
{
	struct mcp_tasks *m = t->m;
	struct err e;

	if (m->ready)
		m->ready(m->arg);
	if (!tool_is_slow(t->request.tool, t->request.arguments)) {
		struct call c = new_call(t);
		call(t, &c, &t->request);
		return false;
	}
	/* Known before the next line is read, which may cancel it. */
	if (!enter(t, &t->request))
		return false;
	if (hand_over(t, run_call))
		return true;
	(void)mcp_runs_leave(&m->runs, &t->run);
	(void)err_set(&e, ERR_TOO_BUSY, "%d calls are running already: wait for one to end",
		      LIMIT_MCP_CALLS);
	mcp_fail(&t->request, &e, &t->out);
	return false;
}

static bool answer_batch(struct task *t)
{
	struct mcp_tasks *m = t->m;

	if (mcp_batch_check(m->version, t->message, &t->request) == 0) {
		if (m->ready)
			m->ready(m->arg);
		if (hand_over(t, run_batch))
			return true;
		(void)mcp_refuse(&t->request, 503, MCP_INTERNAL,
				 "Too many calls are running already");
	}
	mcp_error(&t->request, &t->out);
	return false;
}

/* Answer a message that is not a batch. */
static bool answer_one(struct task *t)
{
	struct mcp_tasks *m = t->m;
	struct mcp_request *r = &t->request;

	switch (mcp_answer(m->service, r, &t->out)) {
	case MCP_CALL:
		return call_tool(t);
	case MCP_OPENED:
		m->version = r->agreed;
		break;
	case MCP_CANCEL:
		mcp_runs_cancel(&m->runs, SESSION, r->cancel);
		break;
	default:
		break;
	}
	return false;
}

/* Whether the task is somebody else's now. */
static bool answer(struct task *t, struct str line)
{
	const struct str text = arena_dup(&t->arena, line);

	if (mcp_parse(text, &t->arena, &t->message, &t->request) == 0) {
		if (t->message->type == JSON_ARRAY)
			return answer_batch(t);
		if (mcp_open(t->message, &t->request) == 0)
			return answer_one(t);
	}
	mcp_error(&t->request, &t->out);
	return false;
}

static struct task *take_task(struct mcp_tasks *m)
{
	struct task *t = TAKE(m->spare, NULL);

	if (!t && (t = mem_new(1, sizeof *t))) {
		t->m = m;
		t->arena.max = LIMIT_CALL_MEMORY;
		t->out.max = LIMIT_ANSWER;
	}
	return t;
}

void mcp_tasks_message(struct mcp_tasks *m, struct str text)
{
	if (str_trim(text).n == 0)
		return;
	struct task *t = take_task(m);
	if (!t) {
		m->out.closed = true;
		return;
	}
	if (answer(t, text))
		return;
	send_answer(t);
	m->spare = t;
}

void mcp_tasks_too_long(struct mcp_tasks *m)
{
	struct mcp_request r = { .status = 413 };
	AUTO_BUF out = { .max = 1 << 10 };

	(void)mcp_refuse(&r, 413, MCP_INVALID_REQUEST, "The message is too long: at most %d bytes",
			 LIMIT_BODY);
	mcp_error(&r, &out);
	buf_addc(&out, '\n');
	mcp_pipe_write(&m->out, buf_str(&out));
}

void mcp_tasks_done(struct mcp_tasks *m)
{
	task_free(TAKE(m->spare, NULL));
}
