/* SPDX-License-Identifier: MIT */
/*
 * proc: run one command.
 *
 * proc_run blocks the calling thread until the command and everything it started are gone. Output
 * is passed on as it comes; while the sink is busy nothing is read, so a slow reader slows the
 * command down, and at most LIMIT_OUTPUT_CHUNK and two full pipes of output are in memory. The
 * command's reaper watches the time, also while the sink blocks.
 *
 * The command has a clean environment (exec/environ.h), a file in memory or /dev/null as standard
 * input, no descriptors other than 0 to 2, its own session, default signal dispositions, and the
 * spawner's sandbox. A script that is too long for an argument is passed through a descriptor; the
 * script can notice this only by $BASH_EXECUTION_STRING.
 */
#ifndef EXEC_PROC_H
#define EXEC_PROC_H

#include "base/cancel.h"
#include "base/err.h"
#include "base/str.h"
#include "exec/reaper.h"
#include "exec/runner.h"

struct proc_request {
	struct str command;	/* a script for the shell; used if argc is 0 */
	const struct str *argv; /* a program and its arguments, run without a shell */
	size_t argc;
	const struct str *env; /* "NAME=value", in addition to or instead of the server's */
	size_t env_count;
	struct str input;    /* standard input; a NULL pointer: /dev/null */
	int cwd_fd;	     /* the directory it runs in */
	int64_t timeout_ms;  /* then SIGTERM, SIGKILL LIMIT_TERM_GRACE_MS later; 0: never */
	bool keep_survivors; /* what it left running continues until the server ends, but its output
				is thrown away */
	mode_t umask;
	struct proc_limits limits;
};

enum proc_stream { PROC_STDOUT, PROC_STDERR };

struct proc_sink {
	/* Take a piece of output; it may block. Negative: end the command, no more is wanted. */
	int (*write)(void *arg, enum proc_stream stream, struct str piece);
	void *arg;
};

/*
 * Run the command. When the cancel (or NULL) is asked, the command is ended as after a timeout.
 * Returns 0 and the result however the command ended; or -1 if it did not run: INVALID_ARGUMENTS,
 * TOO_BUSY, SPAWN_FAILED.
 */
int proc_run(struct runner *runner, const struct proc_request *q, const struct proc_sink *sink,
	     struct cancel *cancel, struct proc_result *ret, struct err *e);

/*
 * The same in two steps, for a caller that has to promise its client that the command will run.
 * proc_admit takes one of the runner's places, or says INVALID_ARGUMENTS or TOO_BUSY;
 * proc_run_admitted gives it back, and so does runner_leave if nothing is run after all.
 */
int proc_admit(struct runner *runner, const struct proc_request *q, struct err *e);
int proc_run_admitted(struct runner *runner, const struct proc_request *q,
		      const struct proc_sink *sink, struct cancel *cancel, struct proc_result *ret,
		      struct err *e);

/* "SIGKILL"; "" for 0. */
const char *proc_signal_name(int signal);

/* "none", "timeout", "cpu", "file_size", "memory", "processes". */
const char *proc_limit_name(enum proc_limit limit);

#endif
