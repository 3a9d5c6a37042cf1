/* SPDX-License-Identifier: MIT */
/* mcp_stdio: read lines, have them answered, end in order. */

#include "mcp/stdio.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "mcp/lines.h"
#include "mcp/tasks.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"

enum { TICK_MS = 1000 };

struct stdio {
	const struct mcp_stdio_options *o;
	struct mcp_tasks tasks;
	struct lines lines;
	int signals; /* readable for ever once we are to end */
};

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
				    s->tasks.threads ? io_now_ms() + TICK_MS : IO_FOREVER);
	if (n < 0 || s->tasks.out.closed)
		return false;
	if (s->tasks.threads)
		mcp_runs_tick(&s->tasks.runs);
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
		while (!s->tasks.out.closed && (got = lines_next(&s->lines, &line)) != LINES_MORE)
			got == LINES_LINE ? mcp_tasks_message(&s->tasks, line)
					  : mcp_tasks_too_long(&s->tasks);
	while (wait_for_input(s, eof));
	line = lines_rest(&s->lines);
	if (*eof && line.n)
		mcp_tasks_message(&s->tasks, line);
}

/* Wait for the calls that are running, unless there is a reason not to. */
static void await(struct stdio *s, int64_t ms, bool while_heard)
{
	const int64_t deadline = io_now_ms() + ms;
	struct pollfd p[] = { { .fd = s->o->out }, { .fd = s->signals, .events = POLLIN } };

	while (s->tasks.threads && io_now_ms() < deadline) {
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
	mcp_pipe_init(&s->tasks.out, s->o->out, s->signals);
	return 0;
}

int mcp_stdio(const struct mcp_stdio_options *o, struct err *e)
{
	struct stdio *s = mem_new(1, sizeof *s);
	bool eof = false;

	if (!s)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	s->o = o;
	s->tasks.service = o->service;
	s->tasks.ready = o->ready;
	s->tasks.arg = o->arg;
	if (prepare(s, e) < 0) {
		mem_free(s);
		return -1;
	}
	work(s, &eof);
	if (eof)
		await(s, LIMIT_MCP_GRACE_MS, true);
	mcp_runs_cancel_all(&s->tasks.runs, NULL);
	await(s, LIMIT_MCP_STOP_MS, false);
	if (s->tasks.threads)
		return MCP_STUCK;
	(void)close(s->signals);
	lines_done(&s->lines);
	mcp_tasks_done(&s->tasks);
	mem_free(s);
	return 0;
}
