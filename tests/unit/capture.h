/* SPDX-License-Identifier: MIT */
/* capture: what a program writes to stderr, for the tests of log. */
#ifndef TESTS_CAPTURE_H
#define TESTS_CAPTURE_H

#include "unit.h"

#include <fcntl.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/json.h"

enum { ROOM = 16 << 20 };

/* While a capture is open stderr is a pipe, so nothing may be asserted: the test would fail
 * unseen. */
struct capture {
	int from, saved;
};

static inline struct capture capture_open(int pipe_bytes)
{
	struct capture c;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	if (pipe_bytes)
		assert_true(fcntl(fds[1], F_SETPIPE_SZ, pipe_bytes) > 0);
	c.from = fds[0];
	c.saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	(void)dup2(fds[1], STDERR_FILENO);
	(void)close(fds[1]);
	return c;
}

/* stderr is itself again; everything that was written to the pipe is in b. */
static inline void capture_close(struct capture *c, struct buf *b)
{
	(void)dup2(c->saved, STDERR_FILENO);
	(void)close(c->saved);
	for (char *to; (to = buf_room(b, 4096));) {
		const ssize_t n = io_read_full(c->from, to, 4096);
		assert_true(n >= 0);
		buf_filled(b, (size_t)n);
		if (n == 0)
			break;
	}
	(void)close(c->from);
}

/* The line as JSON; the sentence that goes with it is checked. */
static inline const struct json *parse_line(struct str line, struct arena *a, const char *msg)
{
	const struct json *v = NULL;
	struct err e;

	if (json_parse(line, a, &v, &e) < 0)
		fail_msg("%s in %.*s", e.msg, STR_FMT(line));
	if (msg)
		assert_str(json_get(v, STR("msg"))->string, msg);
	return v;
}

#endif
