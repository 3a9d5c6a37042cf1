/* SPDX-License-Identifier: MIT */
/*
 * jobs: commands that outlive the request that started them.
 *
 * A job is a proc with a thread that puts its output, stdout and stderr as they come, into a ring
 * that keeps the last LIMIT_JOB_OUTPUT bytes. It is either a command that was started in the
 * background, or what a command left running when it ended (SURVIVORS_ADOPT), whether that was in
 * the background or not: the command's result is complete when its shell has ended, and its
 * survivors become a job of their own, with the output that they write from then on. Such a job has
 * ended when its last process has; its exit code is that of its first process. If there is no place
 * for it, the survivors are ended.
 *
 * A cursor is a position in the output: how many bytes came before it, counted from the start of
 * the job. Asking again with the cursor of the last answer continues there. What the ring has lost
 * by then is counted as dropped.
 *
 * An ended job stays until LIMIT_JOBS newer ones have replaced it. It costs little more than the
 * bytes of its output. All functions
 * may be called from several threads. Freeing the table ends all jobs.
 */
#ifndef EXEC_JOBS_H
#define EXEC_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "exec/limits.h"
#include "exec/proc.h"

struct jobs;

/* One job as it is at this moment. */
struct job_state {
	uint64_t id;
	char command[LIMIT_JOB_TEXT]; /* its beginning */
	bool running;
	bool failed; /* it could not be run: err says why; result is empty */
	struct err err;
	int exit_code; /* this and the next ones after it has ended; see struct proc_result */
	bool timed_out;
	bool cancelled;
	uint64_t left; /* the job in which what it left goes on; 0: it left nothing */
	uint64_t call; /* the call that it comes from (struct proc_request) */
	int signal;    /* this and the next one after it has ended */
	int64_t ran_ms;
	int64_t started_ms;	/* on the wall clock, since 1970 */
	int64_t cursor;		/* bytes of output so far */
	struct port_list ports; /* while it runs, if jobs_list tells it */
};

int jobs_new(struct runner *runner, struct jobs **ret, struct err *e);

/* Stop every job (SIGTERM, LIMIT_TERM_GRACE_MS, SIGKILL) and wait for them. */
void jobs_free(struct jobs *j);

/* From now on `told` is called when a job has started and when it has ended (state->running says
 * which), for each job in this order. It must not wait, nor call functions of jobs. To be called
 * before there are jobs. */
void jobs_tell(struct jobs *j, void (*told)(void *arg, const struct job_state *state), void *arg);

/* Start a job. The request is copied, its directory descriptor duplicated; its watch is taken, also
 * if this fails. TOO_BUSY if LIMIT_JOBS are running, or the runner has no place left. */
int jobs_start(struct jobs *j, const struct proc_request *q, uint64_t *ret, struct err *e);

/* The command has ended, and p is what it left running: make a job of it; or end it, if it is not
 * wanted any more or there is no place for it. r->fate and r->job tell. Takes p. */
void jobs_adopt(struct jobs *j, const struct proc_request *q, struct proc *p,
		const struct proc_sink *sink, const struct cancel *cancel, struct proc_result *r);

/* At most max jobs, oldest first, with the ports of those that run; returns how many there are. */
size_t jobs_list(struct jobs *j, struct job_state *to, size_t max);

/* A piece of a job's output, and the job as it was then. */
struct job_piece {
	struct buf text;
	size_t context;	 /* how many bytes of the text come before `since` */
	int64_t cursor;	 /* the end of the text */
	int64_t dropped; /* bytes after `since` that are lost */
	struct job_state state;
};

struct job_wait {
	int64_t seen;		     /* until there is output after this, or the job ends */
	int64_t deadline_ms;	     /* or until this time */
	const struct cancel *cancel; /* or until this is asked; may be NULL */
};

/* Wait, then take the output after `since`, at most LIMIT_JOB_PIECE bytes, and before it up to
 * LIMIT_JOB_CONTEXT bytes of context. The bytes in p->text are replaced. -1 with INVALID_ARGUMENTS
 * if there is no such job, or TOO_BUSY. */
int jobs_output(struct jobs *j, uint64_t id, int64_t since, const struct job_wait *w,
		struct job_piece *p, struct err *e);

/* End a job's process tree, as a timeout does; returns at once. An ended job is left as it is. */
int jobs_stop(struct jobs *j, uint64_t id, struct err *e);

/* The same for the jobs that come from a call. False: none of them runs. */
bool jobs_stop_call(struct jobs *j, uint64_t call);

#endif
