/* SPDX-License-Identifier: MIT */
/* jobs: a thread and a ring of output for each background command. */

#include "exec/jobs.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "exec/limits.h"
#include "exec/ring.h"

/* A request that does not depend on its caller's memory. */
struct request_copy {
	struct proc_request request; /* points into the others */
	struct buf text;
	struct str *words; /* its argv, then its env */
};

struct job {
	struct jobs *table;
	pthread_t thread;
	bool joined;		     /* the thread has ended and is gone */
	struct request_copy order;   /* until the command has been started */
	struct proc *proc;	     /* from then until it has ended */
	int64_t began_ms;	     /* on the monotonic clock */
	bool listing;		     /* it has been asked for its ports */
	struct cancel stop;	     /* until it has ended */
	struct utf8_stream texts[2]; /* of the output, by enum proc_stream */
	struct ring output;
	struct job_state state;
};

struct jobs {
	struct runner *runner;
	pthread_mutex_t lock;	     /* protects all below, and each job's ring and state */
	pthread_cond_t news;	     /* a job has new output or ports, or has ended */
	bool closing;		     /* no job is added any more */
	struct job *job[LIMIT_JOBS]; /* oldest first */
	size_t count;
	uint64_t last_id;
	void (*told)(void *arg, const struct job_state *state); /* or NULL */
	void *told_arg;
};

static void request_done(struct request_copy *c)
{
	fd_closep(&c->request.cwd_fd);
	buf_done(&c->text);
	mem_free(c->words);
	c->words = NULL;
}

/* Copy the request's strings into one buf, and point to them when it does not grow any more. */
static int request_copy(struct request_copy *c, const struct proc_request *q)
{
	const size_t count = q->argc + q->env_count;
	size_t at = 0;

	c->request = *q;
	c->request.cwd_fd = fcntl(q->cwd_fd, F_DUPFD_CLOEXEC, 0);
	c->text.max = LIMIT_ARGUMENTS + LIMIT_SCRIPT + LIMIT_STDIN;
	c->words = mem_new(count + 1, sizeof(*c->words));
	if (!c->words || c->request.cwd_fd < 0)
		return -1;
	buf_add(&c->text, q->command);
	buf_add(&c->text, q->input);
	for (size_t i = 0; i < count; i++)
		buf_add(&c->text, i < q->argc ? q->argv[i] : q->env[i - q->argc]);
	if (c->text.failed)
		return -1;
	c->request.command = (struct str){ c->text.p, q->command.n };
	if (q->input.p)
		c->request.input = (struct str){ c->text.p + q->command.n, q->input.n };
	at = q->command.n + q->input.n;
	for (size_t i = 0; i < count; i++) {
		const size_t n = i < q->argc ? q->argv[i].n : q->env[i - q->argc].n;
		c->words[i] = (struct str){ c->text.p + at, n };
		at += n;
	}
	c->request.argv = c->words;
	c->request.env = c->words + q->argc;
	return 0;
}

static void describe(const struct proc_request *q, char to[static LIMIT_JOB_TEXT])
{
	size_t n = 0;

	for (size_t i = 0; i < (q->argc ? q->argc : 1) && n < LIMIT_JOB_TEXT - 1; i++) {
		const struct str all = q->argc ? q->argv[i] : q->name.n ? q->name : q->command;
		const struct str word = str_upto(all, LIMIT_JOB_TEXT - 1 - n - (i > 0));
		n += (size_t)snprintf(to + n, LIMIT_JOB_TEXT - n, "%s%.*s", i ? " " : "",
				      STR_FMT(word));
	}
	to[utf8_whole((struct str){ to, n })] = '\0';
}

static void job_free(struct job *b)
{
	if (!b)
		return;
	request_done(&b->order);
	proc_free(b->proc);
	cancel_done(&b->stop);
	ring_done(&b->output);
	mem_free(b);
}

static struct job *job_new(struct jobs *j)
{
	struct timespec now;
	struct job *b = mem_new(1, sizeof(*b));

	if (!b)
		return NULL;
	b->table = j;
	b->order.request.cwd_fd = -1;
	b->stop = (struct cancel)CANCEL_INIT;
	/* There is context before the oldest output, too. */
	b->output.size = LIMIT_JOB_OUTPUT + LIMIT_JOB_CONTEXT;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	b->state.started_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	b->state.running = true;
	b->began_ms = io_now_ms();
	return b;
}

/* Both streams go into one text, so each waits until its character is whole. */
static int keep_output(void *arg, enum proc_stream stream, struct str piece)
{
	struct job *b = arg;
	struct str part;

	(void)pthread_mutex_lock(&b->table->lock);
	while ((part = utf8_take(&b->texts[stream], &piece)).n)
		ring_add(&b->output, part);
	b->state.cursor = b->output.total;
	(void)pthread_cond_broadcast(&b->table->news);
	(void)pthread_mutex_unlock(&b->table->lock);
	return 0;
}

static void join(struct job *b)
{
	if (!b->joined)
		(void)pthread_join(b->thread, NULL);
	b->joined = true;
}

/* Let the threads of ended jobs go. They have given the lock back and do not need it again. */
static void join_ended(struct jobs *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (!j->job[i]->state.running)
			join(j->job[i]);
}

/* Forget the oldest ended job when the table is full. */
static int make_room(struct jobs *j)
{
	size_t at = 0;

	if (j->count < LIMIT_JOBS)
		return 0;
	while (at < j->count && j->job[at]->state.running)
		at++;
	if (at == j->count)
		return -1;
	struct job *old = j->job[at];
	memmove(&j->job[at], &j->job[at + 1], (j->count - at - 1) * sizeof(struct job *));
	j->count--;
	job_free(old);
	return 0;
}

static void *run_job(void *job);

/* Put a job into the table and let it run. The caller holds the lock. */
static int add_locked(struct jobs *j, struct job *b, struct err *e)
{
	if (j->closing)
		return err_set(e, ERR_TOO_BUSY, "The server is about to end");
	join_ended(j);
	if (make_room(j) < 0)
		return err_set(e, ERR_TOO_BUSY, "%d jobs are running already; stop one first",
			       LIMIT_JOBS);
	if (!thread_start(run_job, b, LIMIT_JOB_STACK, &b->thread))
		return err_set(e, ERR_SPAWN_FAILED, "The server has no thread left for the job");
	b->state.id = ++j->last_id;
	j->job[j->count++] = b;
	if (j->told)
		j->told(j->told_arg, &b->state);
	return 0;
}

static int add(struct jobs *j, struct job *b, uint64_t *ret, struct err *e)
{
	(void)pthread_mutex_lock(&j->lock);
	const int done = add_locked(j, b, e);
	if (done == 0)
		*ret = b->state.id;
	(void)pthread_mutex_unlock(&j->lock);
	return done;
}

/* Where a job comes from that was not started as one. */
struct origin {
	const char *command;
	uint64_t call;
};

/* Make a job of what the command left. Takes p if it succeeds. */
static int adopt(struct jobs *j, const struct origin *from, struct proc *p, uint64_t *ret)
{
	struct job *b = job_new(j);
	struct err ignored;

	if (!b)
		return -1;
	(void)snprintf(b->state.command, sizeof(b->state.command), "%s", from->command);
	b->state.call = from->call;
	b->proc = p;
	if (add(j, b, ret, &ignored) == 0)
		return 0;
	b->proc = NULL;
	job_free(b);
	return -1;
}

/* The command has ended, and p is what it left: adopt it, or end it if it is not wanted or there is
 * no place for it. Takes p. */
static void settle(struct jobs *j, const struct origin *from, struct proc *p,
		   const struct proc_sink *sink, const struct cancel *cancel, struct proc_result *r)
{
	if (!cancel_asked(cancel) && adopt(j, from, p, &r->job) == 0)
		return;
	r->fate = SURVIVORS_END;
	proc_finish(p, sink);
}

void jobs_adopt(struct jobs *j, const struct proc_request *q, struct proc *p,
		const struct proc_sink *sink, const struct cancel *cancel, struct proc_result *r)
{
	char command[LIMIT_JOB_TEXT];

	describe(q, command);
	settle(j, &(struct origin){ command, q->call }, p, sink, cancel, r);
}

/* Start the command of a job, unless it is one that was adopted. */
static int begin(struct job *b, struct err *e)
{
	struct proc *p;

	if (b->proc)
		return 0;
	const int done = proc_start(b->table->runner, &b->order.request, &p, e);
	request_done(&b->order);
	if (done < 0)
		return -1;
	(void)pthread_mutex_lock(&b->table->lock);
	b->proc = p;
	(void)pthread_mutex_unlock(&b->table->lock);
	return 0;
}

static void note_ports(struct job *b, const struct port_list *ports)
{
	(void)pthread_mutex_lock(&b->table->lock);
	b->state.ports = *ports;
	b->listing = false;
	(void)pthread_cond_broadcast(&b->table->news);
	(void)pthread_mutex_unlock(&b->table->lock);
}

/* Follow a job to its end, or until it has left something. */
static int follow(struct job *b, const struct proc_sink *sink, struct reaper_report *ret,
		  struct err *e)
{
	for (;;) {
		if (proc_follow(b->proc, sink, &b->stop, ret, e) < 0)
			return -1;
		if (ret->event != REAPER_LISTED)
			return 0;
		note_ports(b, &ret->ports);
	}
}

/* No other thread may use the proc from here on. */
static struct proc *take_proc(struct job *b)
{
	(void)pthread_mutex_lock(&b->table->lock);
	struct proc *p = TAKE(b->proc, NULL);
	(void)pthread_mutex_unlock(&b->table->lock);
	return p;
}

static void end_job(struct job *b, const struct proc_result *result, const struct err *failure)
{
	struct jobs *j = b->table;

	(void)pthread_mutex_lock(&j->lock);
	ring_add(&b->output, utf8_rest(&b->texts[PROC_STDOUT]));
	ring_add(&b->output, utf8_rest(&b->texts[PROC_STDERR]));
	ring_fit(&b->output);
	cancel_done(&b->stop);
	b->state.cursor = b->output.total;
	b->state.running = false;
	b->state.ports = (struct port_list){ .count = 0 };
	b->state.failed = failure != NULL;
	if (failure)
		b->state.err = *failure;
	b->state.exit_code = result->exit_code;
	b->state.timed_out = result->timed_out;
	b->state.cancelled = result->cancelled;
	b->state.left = result->job;
	b->state.signal = result->signal;
	b->state.ran_ms = io_now_ms() - b->began_ms;
	if (j->told)
		j->told(j->told_arg, &b->state);
	b->listing = false;
	(void)pthread_cond_broadcast(&j->news);
	(void)pthread_mutex_unlock(&j->lock);
}

static void *run_job(void *job)
{
	struct job *b = job;
	struct jobs *j = b->table;
	const bool admitted = b->order.words; /* what was adopted has no place any more */
	const struct proc_sink sink = { keep_output, b };
	struct reaper_report report = { .event = REAPER_ENDED };
	struct err e = { 0 };

	const bool failed = begin(b, &e) < 0 || follow(b, &sink, &report, &e) < 0;
	if (admitted)
		runner_leave(j->runner);
	struct proc *p = take_proc(b);
	if (!failed && report.event == REAPER_LEFT)
		settle(j, &(struct origin){ b->state.command, b->state.call }, p, &sink, &b->stop,
		       &report.result);
	else
		proc_free(p);
	end_job(b, &report.result, failed ? &e : NULL);
	return NULL;
}

int jobs_new(struct runner *runner, struct jobs **ret, struct err *e)
{
	pthread_condattr_t attr;
	struct jobs *j = mem_new(1, sizeof(*j));

	if (!j)
		return err_set(e, ERR_SPAWN_FAILED, "There is not enough memory for jobs");
	j->runner = runner;
	(void)pthread_mutex_init(&j->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&j->news, &attr);
	(void)pthread_condattr_destroy(&attr);
	*ret = j;
	return 0;
}

void jobs_tell(struct jobs *j, void (*told)(void *arg, const struct job_state *state), void *arg)
{
	j->told = told;
	j->told_arg = arg;
}

void jobs_free(struct jobs *j)
{
	if (!j)
		return;
	(void)pthread_mutex_lock(&j->lock);
	j->closing = true;
	for (size_t i = 0; i < j->count; i++)
		if (j->job[i]->state.running)
			cancel_ask(&j->job[i]->stop);
	(void)pthread_mutex_unlock(&j->lock);
	for (size_t i = 0; i < j->count; i++) {
		join(j->job[i]);
		job_free(j->job[i]);
	}
	(void)pthread_cond_destroy(&j->news);
	(void)pthread_mutex_destroy(&j->lock);
	mem_free(j);
}

static int start(struct jobs *j, const struct proc_request *q, uint64_t *ret, struct err *e)
{
	/* A client that is told a job's number can rely on it, so the place is taken first. */
	if (proc_admit(j->runner, q, e) < 0)
		return -1;
	struct job *b = job_new(j);
	if (b) {
		describe(q, b->state.command);
		b->state.call = q->call;
	}
	int done = -1;
	if (!b || request_copy(&b->order, q) < 0)
		(void)err_set(e, ERR_SPAWN_FAILED, "There is not enough memory for the job");
	else
		done = add(j, b, ret, e);
	if (done < 0) {
		job_free(b);
		runner_leave(j->runner);
	}
	return done;
}

int jobs_start(struct jobs *j, const struct proc_request *q, uint64_t *ret, struct err *e)
{
	const int done = start(j, q, ret, e);

	if (done < 0 && q->watch.end)
		q->watch.end(q->watch.arg, true);
	return done;
}

/* Wait for news, but return often enough to notice a cancelled caller. */
static void wait_a_moment(struct jobs *j, int64_t deadline_ms)
{
	const int64_t now = io_now_ms();
	const int64_t until =
		deadline_ms - now > LIMIT_JOB_WAIT_MS ? now + LIMIT_JOB_WAIT_MS : deadline_ms;
	const struct timespec t = { .tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000 };

	(void)pthread_cond_timedwait(&j->news, &j->lock, &t);
}

static bool any_listing(const struct jobs *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (j->job[i]->listing)
			return true;
	return false;
}

/* Ask all reapers at once for the ports of what runs below them; one that does not answer in time
 * leaves the ports as they were. */
static void refresh_ports(struct jobs *j)
{
	const int64_t deadline = io_now_ms() + LIMIT_JOB_LIST_MS;

	for (size_t i = 0; i < j->count; i++)
		if (j->job[i]->proc && !j->job[i]->listing)
			j->job[i]->listing = proc_demand(j->job[i]->proc, REAPER_LIST);
	while (any_listing(j) && io_now_ms() < deadline)
		wait_a_moment(j, deadline);
}

size_t jobs_list(struct jobs *j, struct job_state *to, size_t max)
{
	(void)pthread_mutex_lock(&j->lock);
	refresh_ports(j);
	const size_t count = j->count;
	for (size_t i = 0; i < count && i < max; i++)
		to[i] = j->job[i]->state;
	(void)pthread_mutex_unlock(&j->lock);
	return count;
}

static struct job *find(struct jobs *j, uint64_t id, struct err *e)
{
	for (size_t i = 0; i < j->count; i++)
		if (j->job[i]->state.id == id)
			return j->job[i];
	(void)err_set(e, ERR_JOB_NOT_FOUND,
		      "There is no job %llu; it may have ended long ago, list the jobs",
		      (unsigned long long)id);
	return NULL;
}

/* Wait until the job has something new, has ended, or the caller need not wait longer. It is looked
 * up again after each wait, because it may have been forgotten. */
static struct job *await(struct jobs *j, uint64_t id, const struct job_wait *w, struct err *e)
{
	struct job *b;

	while ((b = find(j, id, e)) && b->state.running && b->state.cursor <= w->seen &&
	       io_now_ms() < w->deadline_ms && !cancel_asked(w->cancel))
		wait_a_moment(j, w->deadline_ms);
	return b;
}

static int64_t clamp(int64_t n, int64_t least, int64_t most)
{
	return n < least ? least : n > most ? most : n;
}

static int take(const struct job *b, int64_t since, struct job_piece *p, struct err *e)
{
	const int64_t start = ring_start(&b->output), end = b->output.total;
	const int64_t kept = clamp(end - LIMIT_JOB_OUTPUT, start, end);
	const int64_t from = clamp(since, kept, end);
	const int64_t last = clamp(from + LIMIT_JOB_PIECE, from, end);
	const int64_t context = clamp(from - LIMIT_JOB_CONTEXT, start, from);

	p->text.max = LIMIT_JOB_CONTEXT + LIMIT_JOB_PIECE;
	buf_reset(&p->text, p->text.max);
	ring_copy(&b->output, context, last, &p->text);
	if (p->text.failed)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the output, try again");
	p->context = (size_t)(from - context);
	p->cursor = last;
	p->dropped = from > since ? from - since : 0;
	p->state = b->state;
	return 0;
}

int jobs_output(struct jobs *j, uint64_t id, int64_t since, const struct job_wait *w,
		struct job_piece *p, struct err *e)
{
	(void)pthread_mutex_lock(&j->lock);
	const struct job *b = await(j, id, w, e);
	const int done = b ? take(b, since < 0 ? 0 : since, p, e) : -1;
	(void)pthread_mutex_unlock(&j->lock);
	return done;
}

int jobs_stop(struct jobs *j, uint64_t id, struct err *e)
{
	(void)pthread_mutex_lock(&j->lock);
	struct job *b = find(j, id, e);
	if (b && b->state.running)
		cancel_ask(&b->stop);
	(void)pthread_mutex_unlock(&j->lock);
	return b ? 0 : -1;
}

bool jobs_stop_call(struct jobs *j, uint64_t call)
{
	bool found = false;

	(void)pthread_mutex_lock(&j->lock);
	for (size_t i = 0; i < j->count; i++)
		if (j->job[i]->state.call == call && j->job[i]->state.running) {
			cancel_ask(&j->job[i]->stop);
			found = true;
		}
	(void)pthread_mutex_unlock(&j->lock);
	return found;
}
