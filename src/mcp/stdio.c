/* SPDX-License-Identifier: MIT */
/* stdio: read lines, answer at once what takes no time, hand the rest to threads, end in order. */

#include "mcp/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/lines.h"
#include "base/own.h"
#include "base/thread.h"
#include "mcp/limits.h"
#include "mcp/protocol.h"
#include "mcp/runs.h"

/* Within it ids are unique, and by it the tracker knows what has been read. */
#define SESSION STR("stdio")

enum {
	STACK = 512 << 10, /* of a call's thread, like that of the server's workers */
	KEEP = 96 << 10,   /* the answer buffer is kept up to this size */
	TICK_MS = 1000,
};

/*
 * The end of a pipe that messages leave by, one a line, whole. Many threads write. None sleeps in a
 * write: a thread that waits for a slow reader also sees the signal to stop. Once the reader is
 * gone, or a line could not be written to its end, the pipe is closed and takes nothing.
 */
struct pipe_out {
	int fd, stop;
	bool is_socket;
	pthread_mutex_t lock; /* one line at a time */
	atomic_bool closed;
};

struct stdio {
	const struct mcp_stdio_options *o;
	struct pipe_out out;
	struct lines lines;
	int signals; /* readable forever once we are to end */

	_Atomic int threads;		    /* that answer a message */
	const char *version;		    /* of the legacy session; NULL: none has begun */
	bool ready;			    /* the service has been waited for */
	char client[LIMIT_LOG_SESSION + 1]; /* of the legacy session; "": it has not said */
	pthread_mutex_t calling;	    /* of the next one */
	bool has_called;		    /* `first_call` has been called */
	struct task *spare;
};

/* One message, and all that its answer needs. */
struct task {
	struct stdio *s;
	struct arena arena;
	struct buf out;
	const struct json *message;
	struct mcp_request request;
	struct mcp_run run;
	void (*work)(struct task *t); /* of a thread of its own */
};

static void pipe_init(struct pipe_out *p, int fd, int stop)
{
	struct stat st;

	p->fd = fd;
	p->stop = stop;
	p->is_socket = fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
	p->closed = false;
	(void)pthread_mutex_init(&p->lock, NULL);
}

/* How much can be written without waiting: a pipe that is ready takes PIPE_BUF bytes, an empty one
 * takes its whole size. */
static size_t room(const struct pipe_out *p)
{
	const int size = fcntl(p->fd, F_GETPIPE_SZ);
	int held;

	return size > PIPE_BUF && ioctl(p->fd, FIONREAD, &held) == 0 && held == 0 ? (size_t)size
										  : PIPE_BUF;
}

static ssize_t put(const struct pipe_out *p, struct str text)
{
	if (p->is_socket)
		return send(p->fd, text.p, text.n, MSG_DONTWAIT);
	return write(p->fd, text.p, str_upto(text, text.n > PIPE_BUF ? room(p) : text.n).n);
}

static int write_all(const struct pipe_out *p, struct str text)
{
	while (text.n) {
		struct pollfd fds[] = { { .fd = p->fd, .events = POLLOUT },
					{ .fd = p->stop, .events = POLLIN } };
		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			return -1;
		if (!(fds[0].revents & POLLOUT) && (fds[0].revents || fds[1].revents))
			return -1;
		const ssize_t n = put(p, text);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -1;
		text = str_from(text, n > 0 ? (size_t)n : 0);
	}
	return 0;
}

/* Write a line, which ends in its newline; waits for a slow reader. */
static void pipe_write(struct pipe_out *p, struct str line)
{
	(void)pthread_mutex_lock(&p->lock);
	if (!p->closed && write_all(p, line) < 0)
		p->closed = true;
	(void)pthread_mutex_unlock(&p->lock);
}

/* Write a line unless that would take any time: it may be lost. Adds the newline. */
static void pipe_try(struct pipe_out *p, struct str message)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLOUT };
	char line[PIPE_BUF];

	if (message.n >= sizeof line || pthread_mutex_trylock(&p->lock) != 0)
		return;
	memcpy(line, message.p, message.n);
	line[message.n] = '\n';
	if (!p->closed && poll(&fd, 1, 0) == 1 && fd.revents == POLLOUT &&
	    write_all(p, (struct str){ line, message.n + 1 }) < 0)
		p->closed = true;
	(void)pthread_mutex_unlock(&p->lock);
}

static void task_free(struct task *t)
{
	if (!t)
		return;
	arena_done(&t->arena);
	buf_done(&t->out);
	mem_free(t);
}

/* Send the task's answer, if it has one, and make its memory ready for the next. */
static void send_answer(struct task *t)
{
	if (t->out.failed) {
		buf_reset(&t->out, 0);
		(void)mcp_refuse(&t->request, 503, MCP_INTERNAL, "Not enough memory");
		mcp_error(&t->request, &t->out);
	}
	if (t->out.n) {
		buf_addc(&t->out, '\n');
		pipe_write(&t->s->out, buf_str(&t->out));
	}
	buf_reset(&t->out, KEEP);
	arena_reset(&t->arena);
}

static void notify(void *arg, struct str message)
{
	struct stdio *s = arg;

	if (message.n)
		pipe_try(&s->out, message);
}

static struct dispatch new_call(struct task *t, const struct mcp_request *r)
{
	return (struct dispatch){
		.kind = CALL_MCP,
		.tool = r->tool,
		.arguments = r->arguments,
		.session = SESSION,
		.uid = geteuid(),
		.pid = getppid(),
		.arena = &t->arena,
		.client = r->client,
	};
}

/* A legacy request does not say which client it is from: its session has. */
static void know_client(const struct stdio *s, struct mcp_request *r)
{
	if (!r->client.n)
		r->client = str_of(s->client);
}

/* A tool is about to be called. */
static void note_call(struct stdio *s, const struct mcp_request *r)
{
	(void)pthread_mutex_lock(&s->calling);
	if (!s->has_called && s->o->first_call)
		s->o->first_call(s->o->arg, r->client);
	s->has_called = true;
	(void)pthread_mutex_unlock(&s->calling);
}

/* A call that could not be made because of *e. */
static void refuse_call(struct task *t, struct mcp_request *r, const struct err *e)
{
	const struct dispatch d = new_call(t, r);

	dispatch_refused(t->s->o->service, &d, str_of(r->tool->name), e);
	mcp_run_refused(r, e, &t->out);
}

/* Make the call known, so that it can be cancelled. Returns whether that was possible; if not, it
 * is answered. */
static bool enter(struct task *t, struct mcp_request *r)
{
	struct err e;

	t->run = (struct mcp_run){
		.session = SESSION,
		.id = r->id,
		.token = r->token,
		.notify = notify,
		.arg = t->s,
	};
	if (mcp_run_enter(&t->s->o->service->roster, &t->run, &e) == 0)
		return true;
	refuse_call(t, r, &e);
	return false;
}

/* A call that can be cancelled and tells of its progress; it has been entered. */
static void call_entered(struct task *t, const struct mcp_request *r)
{
	const size_t before = t->out.n;
	struct dispatch d = new_call(t, r);

	mcp_run_follow(&t->run, &d);
	mcp_call(t->s->o->service, &d, r, &t->out);
	if (!mcp_run_leave(&t->s->o->service->roster, &t->run))
		t->out.n = before;
}

static void run_call(struct task *t)
{
	call_entered(t, &t->request);
}

static void call_item(void *arg, struct mcp_request *r, struct buf *out)
{
	struct task *t = arg;

	(void)out;
	know_client(t->s, r);
	note_call(t->s, r);
	if (enter(t, r))
		call_entered(t, r);
}

static void cancel_item(void *arg, const struct json *id)
{
	struct task *t = arg;

	roster_cancel(&t->s->o->service->roster, SESSION, id);
}

static void run_batch(struct task *t)
{
	const struct mcp_batch batch = { .call = call_item, .cancel = cancel_item, .arg = t };

	mcp_batch_answer(&t->s->o->offer, &batch, t->message, &t->out);
}

static void *run(void *arg)
{
	struct task *t = arg;
	struct stdio *s = t->s;

	t->work(t);
	send_answer(t);
	task_free(t);
	s->threads--; /* from here on s may be gone */
	return NULL;
}

/* Go on with the task in a thread of its own, which owns it from then on; false when there can be
 * none. */
static bool hand_over(struct task *t, void (*work)(struct task *t))
{
	struct stdio *s = t->s;

	t->work = work;
	if (++s->threads <= LIMIT_MCP_CALLS && thread_start(run, t, STACK, NULL))
		return true;
	s->threads--;
	return false;
}

/* Wait for the service, which is built while the client already talks to us. */
static void become_ready(struct stdio *s)
{
	if (!s->ready && s->o->ready)
		s->o->ready(s->o->arg);
	s->ready = true;
}

/* Returns whether another thread has the task now. */
static bool call_tool(struct task *t)
{
	struct stdio *s = t->s;
	struct err e;

	become_ready(s);
	know_client(s, &t->request);
	note_call(s, &t->request);
	if (!tool_is_slow(t->request.tool, t->request.arguments)) {
		struct dispatch d = new_call(t, &t->request);
		d.at_once = true; /* this thread reads what comes next */
		mcp_call(s->o->service, &d, &t->request, &t->out);
		return false;
	}
	/* Known before the next line is read, which may cancel it. */
	if (!enter(t, &t->request))
		return false;
	if (hand_over(t, run_call))
		return true;
	(void)mcp_run_leave(&s->o->service->roster, &t->run);
	(void)err_set(&e, ERR_TOO_BUSY, "%d calls are running already: wait for one to end",
		      LIMIT_MCP_CALLS);
	refuse_call(t, &t->request, &e);
	return false;
}

static bool answer_batch(struct task *t)
{
	struct stdio *s = t->s;

	if (mcp_batch_check(s->version, t->message, &t->request) == 0) {
		become_ready(s);
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
	struct stdio *s = t->s;
	struct mcp_request *r = &t->request;

	switch (mcp_answer(&s->o->offer, r, &t->out)) {
	case MCP_CALL:
		return call_tool(t);
	case MCP_OPENED:
		s->version = r->agreed;
		/* Calls of an earlier session may still be reading the name. */
		if (!s->has_called)
			(void)snprintf(s->client, sizeof s->client, "%.*s", STR_FMT(r->client));
		break;
	case MCP_CANCEL:
		if (s->ready)
			roster_cancel(&s->o->service->roster, SESSION, r->cancel);
		break;
	default:
		break;
	}
	return false;
}

/* Returns whether another thread has the task now. */
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

static struct task *take_task(struct stdio *s)
{
	struct task *t = TAKE(s->spare, NULL);

	if (!t && (t = mem_new(1, sizeof *t))) {
		t->s = s;
		t->arena.max = LIMIT_CALL_MEMORY;
		t->out.max = LIMIT_ANSWER;
	}
	return t;
}

/* Answer a message. A blank line is not a message. */
static void take_message(struct stdio *s, struct str text)
{
	if (str_trim(text).n == 0)
		return;
	struct task *t = take_task(s);
	if (!t) {
		s->out.closed = true;
		return;
	}
	if (answer(t, text))
		return;
	send_answer(t);
	s->spare = t;
}

static void refuse_long_message(struct stdio *s)
{
	struct mcp_request r = { .status = 413 };
	AUTO_BUF out = { .max = 1 << 10 };

	(void)mcp_refuse(&r, 413, MCP_INVALID_REQUEST, "The message is too long: at most %d bytes",
			 LIMIT_BODY);
	mcp_error(&r, &out);
	buf_addc(&out, '\n');
	pipe_write(&s->out, buf_str(&out));
}

/* Read what there is. False at the end of the input. */
static bool read_some(struct stdio *s)
{
	size_t room;
	char *to = lines_room(&s->lines, &room);
	const ssize_t n = to ? read(s->o->in, to, room) : 0;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	lines_filled(&s->lines, (size_t)n);
	return n > 0;
}

/* Wait for input. False when there is a reason to end; *eof when the input is at its end. */
static bool wait_for_input(struct stdio *s, bool *eof)
{
	struct pollfd p[] = { { .fd = s->o->in, .events = POLLIN },
			      { .fd = s->signals, .events = POLLIN },
			      { .fd = s->o->out } };

	const int n = io_poll_awake(p, ARRAY_LEN(p), LIMIT_AWAKE_US,
				    s->threads ? io_now_ms() + TICK_MS : IO_FOREVER);
	if (n < 0 || s->out.closed)
		return false;
	if (s->threads)
		roster_tick(&s->o->service->roster);
	if (n == 0)
		return true;
	if (p[1].revents || p[2].revents)
		return false;
	if (p[0].revents)
		*eof = !read_some(s);
	return !*eof;
}

static void work(struct stdio *s, bool *eof)
{
	struct str line = STR("");
	enum lines_got got;

	do
		while (!s->out.closed && (got = lines_next(&s->lines, &line)) != LINES_MORE)
			got == LINES_LINE ? take_message(s, line) : refuse_long_message(s);
	while (wait_for_input(s, eof));
	line = lines_rest(&s->lines);
	if (*eof && line.n)
		take_message(s, line);
}

/* Wait for the calls that are running, unless there is a reason not to. */
static void await(struct stdio *s, int64_t ms, bool while_heard)
{
	const int64_t deadline = io_now_ms() + ms;
	struct pollfd p[] = { { .fd = s->o->out }, { .fd = s->signals, .events = POLLIN } };

	while (s->threads && io_now_ms() < deadline) {
		if (poll(while_heard ? p : NULL, while_heard ? ARRAY_LEN(p) : 0, 2) > 0)
			return;
	}
}

static int prepare(struct stdio *s, struct err *e)
{
	sigset_t set;

	s->lines.max = LIMIT_BODY;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (s->signals < 0)
		return err_errno(e, "Cannot wait for signals");
	pipe_init(&s->out, s->o->out, s->signals);
	return 0;
}

int mcp_stdio(const struct mcp_stdio_options *o, struct err *e)
{
	struct stdio *s = mem_new(1, sizeof *s);
	bool eof = false;

	if (!s)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	s->o = o;
	(void)pthread_mutex_init(&s->calling, NULL);
	if (prepare(s, e) < 0) {
		mem_free(s);
		return -1;
	}
	work(s, &eof);
	if (eof)
		await(s, LIMIT_MCP_GRACE_MS, true);
	if (s->ready)
		roster_close(&s->o->service->roster);
	await(s, LIMIT_MCP_STOP_MS, false);
	if (s->threads)
		return MCP_STUCK;
	(void)close(s->signals);
	(void)pthread_mutex_destroy(&s->calling);
	lines_done(&s->lines);
	task_free(s->spare);
	mem_free(s);
	return 0;
}
