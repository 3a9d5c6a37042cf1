/* SPDX-License-Identifier: MIT */
/*
 * exec_unit: what the tests of src/exec share: a runner for this program, a sink that collects, and
 * the search for processes that should be gone, over all of /proc by a mark in their environment.
 */
#ifndef TESTS_EXEC_UNIT_H
#define TESTS_EXEC_UNIT_H

#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/io.h"
#include "exec/keeper.h"
#include "exec/proc.h"
#include "exec/runner.h"

/* Every test program is also a keeper; at_death may be NULL. */
#define EXEC_MAIN(at_death)                                                                        \
	if (argc == 2 && strcmp(argv[1], KEEPER_VERB) == 0)                                        \
		return keeper_main(at_death);

struct capture {
	struct buf out, err;
	int64_t bytes;
	bool count_only;
};

static inline int capture_write(void *arg, enum proc_stream stream, struct str piece)
{
	struct capture *c = arg;

	c->bytes += (int64_t)piece.n;
	if (!c->count_only)
		buf_add(stream == PROC_STDOUT ? &c->out : &c->err, piece);
	return 0;
}

static inline void capture_done(struct capture *c)
{
	buf_done(&c->out);
	buf_done(&c->err);
}

#define CAPTURE CLEANUP(capture_done) struct capture

static inline struct runner *runner_start(const struct runner_config *config)
{
	struct runner *s = NULL;
	struct err e = { 0 };

	if (runner_new(config, &s, &e) < 0)
		fail_msg("%s", e.msg);
	return s;
}

/* Admit a command and run it; what it leaves is ended, not adopted. */
static inline int proc_run(struct runner *runner, const struct proc_request *q,
			   const struct proc_sink *sink, struct cancel *cancel,
			   struct proc_result *ret, struct err *e)
{
	struct proc_request request = *q;
	struct proc *left;

	if (proc_admit(runner, q, e) < 0)
		return -1;
	if (request.survivors == SURVIVORS_ADOPT)
		request.survivors = SURVIVORS_END;
	return proc_run_admitted(runner, &request, sink, cancel, &left, ret, e);
}

/* Run with the current directory, no cancel; the test fails when it could not be run. */
static inline struct proc_result run_request(struct runner *s, struct proc_request *q,
					     struct capture *c)
{
	struct proc_result r = { 0 };
	struct err e = { 0 };
	const struct proc_sink sink = { capture_write, c };
	AUTO_FD cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	c->out.max = c->err.max = 8 << 20;
	if (!q->cwd_fd)
		q->cwd_fd = cwd;
	if (!q->umask)
		q->umask = 022;
	if (proc_run(s, q, &sink, NULL, &r, &e) < 0)
		fail_msg("%s: %s", err_name(e.code), e.msg);
	return r;
}

static inline struct proc_result run_script(struct runner *s, const char *script,
					    int64_t timeout_ms, struct capture *c)
{
	struct proc_request q = { .command = str_of(script), .timeout_ms = timeout_ms };

	return run_request(s, &q, c);
}

static inline bool is_marked(const char *pid, struct str mark)
{
	char path[300], text[65536];

	(void)snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, text, sizeof(text));
	return n > 0 && str_find((struct str){ text, (size_t)n }, mark) >= 0;
}

/* A variable by which to find what a test has started, and nothing that another run of it has. */
static inline struct str mark_of(const char *name)
{
	static _Thread_local char text[64];
	const int n = snprintf(text, sizeof(text), "EXEC_TEST_MARK=%s%d", name, (int)getpid());

	return (struct str){ text, (size_t)n };
}

/* How many processes, other than this one, have the mark in their environment. */
static inline int count_marked(struct str mark)
{
	int count = 0;
	DIR *proc = opendir("/proc");

	assert_non_null(proc);
	for (const struct dirent *d; (d = readdir(proc));)
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9' && atol(d->d_name) != getpid())
			count += is_marked(d->d_name, mark);
	(void)closedir(proc);
	return count;
}

/* The same after waiting for it to become 0, for up to a minute. */
static inline int count_marked_finally(struct str mark)
{
	int count = 0;

	for (int i = 0; i < 6000 && (count = count_marked(mark)) > 0; i++)
		(void)usleep(10000);
	return count;
}

#endif
