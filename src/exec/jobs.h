/* SPDX-License-Identifier: MIT */
/*
 * jobs: commands that outlive the request that started them.
 *
 * A job is a command with a thread that carries its output, stdout and stderr as they come, into a
 * ring of LIMIT_JOB_OUTPUT bytes. A place in the output is a cursor: how many bytes came before it,
 * counted from the start of the job, so asking again with the cursor of the last answer continues
 * there. What the ring has lost by then is counted as dropped.
 *
 * An ended job stays, with its output, until LIMIT_JOBS newer ones push it out. Everything here is
 * safe from several threads. Ending the table ends all jobs.
 */
#ifndef EXEC_JOBS_H
#define EXEC_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "exec/proc.h"

struct jobs;

/* One job as it is at this moment. */
struct job_state {
	uint64_t id;
	char command[LIMIT_JOB_TEXT]; /* its beginning */
	bool running;
	bool failed; /* it could not be run: err says why; result is empty */
	struct err err;
	struct proc_result result; /* once it has ended */
	int64_t started_ms;	   /* on the wall clock, since 1970 */
	int64_t cursor;		   /* bytes of output so far */
};

int jobs_new(struct spawner *s, struct jobs **ret, struct err *e);

/* Stop every job (SIGTERM, LIMIT_TERM_GRACE_MS, SIGKILL) and wait for them. */
void jobs_free(struct jobs *j);

/* Start a job. The request is copied, its directory descriptor duplicated. TOO_BUSY when LIMIT_JOBS
 * are running. */
int jobs_start(struct jobs *j, const struct proc_request *q, uint64_t *ret, struct err *e);

/* At most max jobs, oldest first; returns how many there are. */
size_t jobs_list(struct jobs *j, struct job_state *to, size_t max);

/*
 * Wait, until the deadline or until cancel_fd (or -1) is readable, for output behind `since` or the
 * end of the job; then append what there is to out, at most LIMIT_JOB_PIECE bytes. *cursor is where
 * to continue, *dropped how many bytes behind since are lost. -1 with INVALID_ARGUMENTS when there
 * is no such job.
 */
int jobs_output(struct jobs *j, uint64_t id, int64_t since, int64_t deadline_ms, int cancel_fd,
		struct buf *out, int64_t *cursor, int64_t *dropped, struct job_state *state,
		struct err *e);

/* End a job's process tree, as a timeout does; returns at once. An ended job is left as it is. */
int jobs_stop(struct jobs *j, uint64_t id, struct err *e);

#endif
