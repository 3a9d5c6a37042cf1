/* SPDX-License-Identifier: MIT */
/*
 * proc: one command and everything it left.
 *
 * A proc begins with proc_start and lasts until its last process has ended, also one that outlives
 * the command's shell. Whatever has to be held for exactly that long belongs to it. Output is
 * passed on by proc_follow as it comes; while the sink is busy nothing is read, so a slow reader
 * slows the command down, and at most LIMIT_OUTPUT_CHUNK and two full pipes of output are in
 * memory. The command's reaper watches the time, also while the sink blocks.
 *
 * The command has a clean environment (environ_merge), a file in memory or /dev/null as standard
 * input, no descriptors other than 0 to 2, its own session, default signal dispositions, and the
 * spawner's sandbox. A script that is too long for an argument is passed through a descriptor; the
 * script can notice this only by $BASH_EXECUTION_STRING.
 */
#ifndef EXEC_PROC_H
#define EXEC_PROC_H

#include "base/arena.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/str.h"
#include "exec/reaper.h"
#include "exec/runner.h"

/* Who wants to see the system calls of the command that may change something. Both functions get
 * the argument, and are called by the thread that has the proc. */
struct proc_watch {
	/* The command is about to begin, and this is its listener (supervise/listener.h), which
	 * belongs to the watch from now on. False: it is closed, and the calls shall go on unseen.
	 * Not called if there can be no listener. NULL: the command is not watched. */
	bool (*begin)(void *arg, int listener);
	/* Called once: when the proc is released, or if it could not be started. `over`: all of
	 * its processes have ended. Otherwise some may go on, until they end or are ended. */
	void (*end)(void *arg, bool over);
	void *arg;
};

struct proc_request {
	struct str command;	/* a script for the shell; used if argc is 0 */
	const struct str *argv; /* a program and its arguments, run without a shell */
	size_t argc;
	const struct str *env; /* "NAME=value", in addition to or instead of the server's */
	size_t env_count;
	bool one_pipe;	     /* stderr goes where stdout goes, in the order it was written */
	struct str input;    /* standard input; a NULL pointer: /dev/null */
	const int *input_fd; /* or an open file, which the command and the caller share; or NULL */
	struct str name;     /* of the job in which it goes on; empty: its command */
	int cwd_fd;	     /* the directory it runs in */
	int64_t timeout_ms;  /* then SIGTERM, SIGKILL LIMIT_TERM_GRACE_MS later; 0: never */
	enum proc_survivors survivors; /* what becomes of the processes it leaves running */
	mode_t umask;
	struct proc_limits limits;
	uint64_t call; /* the number of the call that asked for it; for jobs */
	struct proc_watch watch;
};

enum proc_stream { PROC_STDOUT, PROC_STDERR };

struct proc;

struct proc_sink {
	/* Take a piece of output; it may block. Negative: end the command, no more is wanted. */
	int (*write)(void *arg, enum proc_stream stream, struct str piece);
	void *arg;
};

/* Take one of the runner's places for a command, so that its client can be promised that it will
 * run; or INVALID_ARGUMENTS or TOO_BUSY. runner_leave gives the place back. */
int proc_admit(struct runner *runner, const struct proc_request *q, struct err *e);

/* Start the command. Nothing of the request but its watch is needed any more when this returns. -1
 * with INVALID_ARGUMENTS or SPAWN_FAILED. */
int proc_start(struct runner *runner, const struct proc_request *q, struct proc **ret,
	       struct err *e);

/*
 * Pass output on until the reaper reports: REAPER_LEFT and REAPER_LISTED, after which it can be
 * followed again, or REAPER_ENDED. When the cancel (or NULL) is asked, everything is ended as after
 * a timeout. -1 with SPAWN_FAILED if the command did not run, or its reaper has died, and with it
 * everything else.
 */
int proc_follow(struct proc *p, const struct proc_sink *sink, struct cancel *cancel,
		struct reaper_report *ret, struct err *e);

/* Send the reaper a demand. Another thread may be in proc_follow. False if it could not be sent. */
bool proc_demand(struct proc *p, enum reaper_demand demand);

/* End everything that still runs, and wait until it has ended; what it writes until then goes to
 * the sink. Frees p. */
void proc_finish(struct proc *p, const struct proc_sink *sink);

/* What still runs is ended, without waiting for it. */
void proc_free(struct proc *p);

/* Run a command that was admitted until it has ended, and give its place back. If its survivors are
 * to be adopted, *left is what it left running, for jobs_adopt or proc_finish; else NULL. Returns 0
 * and the result however the command ended; or -1 with SPAWN_FAILED if it did not run. */
int proc_run_admitted(struct runner *runner, const struct proc_request *q,
		      const struct proc_sink *sink, struct cancel *cancel, struct proc **left,
		      struct proc_result *ret, struct err *e);

/* The words of a line that needs no shell, because every shell would only execute the program that
 * the first word names. They point into the line; the list is in the arena. Returns how many there
 * are, 0 if it is not such a line. */
size_t proc_plain_words(struct str line, struct arena *a, struct str **ret);

/* "SIGKILL"; "" for 0. */
const char *proc_signal_name(int signal);

/* "none", "timeout", "cpu", "file_size", "memory", "processes". */
const char *proc_limit_name(enum proc_limit limit);

#endif
