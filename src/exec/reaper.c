/* SPDX-License-Identifier: MIT */
/* reaper: start one command, watch it, end its tree, report. */

#include "exec/reaper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "exec/limits.h"
#include "supervise/listener.h"
#include "supervise/supervisor.h"

enum phase { RUNNING, LINGERING, GOING_ON, TERMINATING, KILLING };

struct reaper {
	const struct reaper_home *home;
	const struct order *order;
	int control; /* -1 once the server hung up */
	int lifeline;
	int listener;  /* or -1 */
	bool lets_go;  /* no supervisor serves the listener: this process does */
	int output[2]; /* reading ends, to be emptied if the survivors are kept; or -1 */
	pid_t shell;   /* or the first survivor, after the shell has ended */
	bool shell_ended;
	int status;	 /* of the shell, as from waitpid */
	bool was_killed; /* a process died of a SIGKILL that is not ours */
	bool reported;
	enum phase phase;
	int64_t started_ms;
	int64_t next_ms;     /* when the phase ends */
	int64_t timeout_ms;  /* when the command has to end */
	int64_t patience_ms; /* when a tree that cannot be killed is reported as stuck */
	int64_t census_ms;   /* when the tree is to be counted */
	int64_t oom_kills;   /* counted before or just after the start */
	struct reaper_report report;
};

static void note_status(struct reaper *r, int status)
{
	/* A shell reports a signal that ended its child by exiting with 128 and its number. */
	const bool signaled = WIFSIGNALED(status);
	const int sig = signaled ? WTERMSIG(status) : WEXITSTATUS(status) - 128;
	const struct proc_limits *l = &r->order->limits;

	if (sig == SIGXCPU && (signaled || l->cpu_seconds > 0))
		r->report.result.limit = PROC_LIMIT_CPU;
	if (sig == SIGXFSZ && (signaled || l->file_size_bytes > 0))
		r->report.result.limit = PROC_LIMIT_FILE;
	if (sig == SIGKILL && r->phase != KILLING)
		r->was_killed = true;
}

/* Reap all that have ended. True if no child is left. */
static bool reap(struct reaper *r)
{
	for (;;) {
		int status;
		const pid_t pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0)
			return errno == ECHILD;
		if (pid == 0)
			return false;
		note_status(r, status);
		/* Killing thousands takes time; as long as some end, the tree is not stuck. */
		r->patience_ms = io_now_ms() + LIMIT_KILL_PATIENCE_MS;
		if (pid == r->shell) {
			r->shell_ended = true;
			r->status = status;
			r->report.result.duration_ms = io_now_ms() - r->started_ms;
		}
	}
}

static void send_event(struct reaper *r, enum reaper_event event)
{
	const bool gives = event == REAPER_LISTENS;

	r->report.event = event;
	if (r->control >= 0)
		(void)message_send(r->control, &r->report, sizeof(r->report),
				   gives ? &r->listener : NULL, gives,
				   io_now_ms() + LIMIT_SPAWNER_MS);
}

/* Complete the result: how the shell ended, and what all of it has cost so far. */
static void complete(struct reaper *r)
{
	struct rusage u;
	struct proc_result *p = &r->report.result;

	if (!r->shell_ended)
		p->duration_ms = io_now_ms() - r->started_ms;
	if (p->timed_out || p->cancelled || p->stuck) {
		p->exit_code = -1;
	} else if (WIFSIGNALED(r->status)) {
		p->signal = WTERMSIG(r->status);
		p->exit_code = 128 + p->signal;
	} else {
		p->exit_code = WEXITSTATUS(r->status);
	}
	(void)getrusage(RUSAGE_CHILDREN, &u);
	p->cpu_ms = (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
		    (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
	p->peak_memory_bytes = (int64_t)u.ru_maxrss * 1024;
	if (r->was_killed && procfs_oom_kills() > r->oom_kills)
		p->oom_killed = true;
	if (p->oom_killed)
		p->limit = PROC_LIMIT_MEMORY;
	if (p->timed_out)
		p->limit = PROC_LIMIT_TIME;
}

static void send_last_report(struct reaper *r)
{
	if (r->reported)
		return;
	r->reported = true;
	complete(r);
	send_event(r, REAPER_ENDED);
}

static void terminate(struct reaper *r, int64_t grace_ms)
{
	const int64_t until = io_now_ms() + grace_ms;

	if (r->phase >= TERMINATING) {
		if (until < r->next_ms)
			r->next_ms = until;
		return;
	}
	(void)tree_signal(SIGTERM);
	(void)tree_signal(SIGCONT); /* a stopped process could not take the SIGTERM */
	r->phase = TERMINATING;
	r->next_ms = until;
}

/* The command has ended and processes of it still run. */
static void settle_survivors(struct reaper *r)
{
	struct proc_result *p = &r->report.result;

	p->survivor_count = tree_survivors(p->survivors, LIMIT_SURVIVORS);
	p->fate = r->order->survivors;
	if (p->fate == SURVIVORS_END) {
		terminate(r, LIMIT_SURVIVOR_GRACE_MS);
		return;
	}
	/* They have ended in this moment, and are about to be reaped. */
	if (p->survivor_count == 0) {
		r->next_ms = io_now_ms() + LIMIT_LINGER_MS;
		return;
	}
	r->phase = GOING_ON;
	r->next_ms = IO_FOREVER;
	if (p->fate == SURVIVORS_KEEP) {
		send_last_report(r);
		fd_closep(&r->control);
		return;
	}
	complete(r);
	send_event(r, REAPER_LEFT);
	r->shell = p->survivors[0].pid;
	r->shell_ended = false;
	*p = (struct proc_result){ 0 };
}

static void kill_round(struct reaper *r)
{
	const bool again = r->phase == KILLING;

	r->phase = KILLING;
	(void)tree_kill(NULL, 0);
	r->next_ms = io_now_ms() + LIMIT_KILL_PAUSE_MS;
	if (!again)
		r->patience_ms = io_now_ms() + LIMIT_KILL_PATIENCE_MS;
	if (io_now_ms() >= r->patience_ms) {
		r->report.result.stuck = true;
		send_last_report(r);
		r->next_ms = io_now_ms() + LIMIT_KILL_PATIENCE_MS;
	}
}

/* Kill a tree that has become too large. */
static void take_census(struct reaper *r)
{
	const int64_t asked = r->order->limits.processes;
	const int64_t limit = asked > 0 ? asked : LIMIT_PROCESSES;

	r->census_ms = io_now_ms() + LIMIT_CENSUS_MS;
	/* If the whole machine has fewer, the tree need not be counted. */
	if (procfs_tasks() <= limit || (int64_t)tree_count() <= limit)
		return;
	r->report.result.limit = PROC_LIMIT_PROCESSES;
	kill_round(r);
}

/* Do what is due by the clock, or because the shell has ended. */
static void advance(struct reaper *r)
{
	const int64_t now = io_now_ms();

	if (now >= r->census_ms && r->phase != KILLING)
		take_census(r);
	if (r->phase == RUNNING && r->shell_ended) {
		r->phase = LINGERING;
		r->next_ms = now + LIMIT_LINGER_MS;
	} else if (r->phase == RUNNING && now >= r->timeout_ms) {
		r->report.result.timed_out = true;
		terminate(r, LIMIT_TERM_GRACE_MS);
	} else if (r->phase == LINGERING && now >= r->next_ms) {
		settle_survivors(r);
	} else if ((r->phase == TERMINATING || r->phase == KILLING) && now >= r->next_ms) {
		kill_round(r);
	}
}

/* Kept survivors must be able to write, although nothing reads their output any more. */
static void discard(int *from)
{
	char text[4096];

	if (read(*from, text, sizeof(text)) == 0)
		fd_closep(from);
}

/* Do what the server demands, or end the command if the server has hung up. */
static void obey(struct reaper *r)
{
	char demand = REAPER_END;

	const ssize_t n = recv(r->control, &demand, sizeof(demand), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && demand == REAPER_LIST) {
		tree_ports(&r->report.ports);
		send_event(r, REAPER_LISTED);
		return;
	}
	if (n > 0 && demand == REAPER_LET_GO) {
		r->lets_go = true;
		return;
	}
	if (n <= 0)
		fd_closep(&r->control);
	if (!r->report.result.timed_out)
		r->report.result.cancelled = true;
	terminate(r, LIMIT_TERM_GRACE_MS);
}

static void wait_for_news(struct reaper *r)
{
	const bool kept = r->phase == GOING_ON && r->order->survivors == SURVIVORS_KEEP;
	struct pollfd p[] = {
		{ .fd = r->home->signals, .events = POLLIN },
		{ .fd = r->control, .events = POLLIN },
		{ .fd = r->lifeline },
		{ .fd = kept ? r->output[0] : -1, .events = POLLIN },
		{ .fd = kept ? r->output[1] : -1, .events = POLLIN },
		{ .fd = r->lets_go ? r->listener : -1, .events = POLLIN },
	};
	struct signalfd_siginfo info;

	int64_t until = r->phase == RUNNING ? r->timeout_ms : r->next_ms;
	if (r->census_ms < until && r->phase != KILLING)
		until = r->census_ms;
	if (poll(p, ARRAY_LEN(p), io_timeout(until)) <= 0)
		return;
	if (p[0].revents)
		(void)!read(r->home->signals, &info, sizeof(info));
	if (p[1].revents)
		obey(r);
	if (p[2].revents) {
		r->lifeline = -1;
		r->lets_go = true;
		terminate(r, LIMIT_ORPHAN_GRACE_MS);
	}
	for (size_t i = 0; i < 2; i++)
		if (p[3 + i].revents)
			discard(&r->output[i]);
	if (p[5].revents & POLLIN)
		supervisor_let_go(r->listener, r->home->calls);
}

void reaper_refuse(int control, enum launch_step step, int error)
{
	const struct reaper_report p = { .failed = step, .error = error };

	(void)message_send(control, &p, sizeof(p), NULL, 0, io_now_ms() + LIMIT_SPAWNER_MS);
}

int reaper_listen(unsigned calls)
{
	const int fd = listener_install(calls);

	/* In a sandbox this is given up already; root need not. */
	if (fd >= 0 || errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fd;
	return listener_install(calls);
}

int reaper_prepare(const struct reaper_home *home)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	(void)prctl(PR_SET_NAME, "sidecar-reaper", 0, 0, 0);
	return home->calls ? reaper_listen(home->calls) : -1;
}

/*
 * Until the program runs the reaper sleeps in vfork, from which only a deadly signal can wake it.
 * So an alarm kills it when the time is over, and the spawner, which sees it die, ends what it has
 * started.
 */
static pid_t start_in_time(struct launch *l)
{
	const int64_t timeout = l->order->timeout_ms;
	const bool shorter = timeout > 0 && timeout < LIMIT_START_MS;
	const int64_t ms = (shorter ? timeout : LIMIT_START_MS) + LIMIT_TERM_GRACE_MS;
	const struct itimerval alarm = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	(void)setitimer(ITIMER_REAL, &alarm, NULL);
	const pid_t pid = launch_start(l);
	(void)setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	return pid;
}

/* Give the listener to the server. If it is not wanted, or cannot be had, the command goes on
 * without a supervisor; but not in a sandbox that is made of it. */
static bool give_listener(struct reaper *r)
{
	const unsigned calls = r->home->calls ? r->home->calls : LISTENER_CHANGES;

	if ((r->order->watch || r->home->calls) && r->listener < 0)
		r->listener = reaper_listen(calls);
	if (r->listener < 0 && calls & (LISTENER_SOCKETS | LISTENER_EMPTYING))
		return false;
	if (r->order->watch && r->listener >= 0)
		send_event(r, REAPER_LISTENS);
	else
		r->lets_go = r->listener >= 0;
	return true;
}

void reaper_main(const struct reaper_home *home, int listener, struct launch *l)
{
	struct reaper r = { .home = home,
			    .order = l->order,
			    .control = l->fd[ORDER_CONTROL],
			    .lifeline = home->lifeline,
			    .listener = listener,
			    .output = { l->fd[ORDER_OUT_READ], l->fd[ORDER_ERR_READ] },
			    .started_ms = io_now_ms(),
			    .oom_kills = home->oom_kills,
			    .timeout_ms = IO_FOREVER };

	if (l->order->timeout_ms > 0)
		r.timeout_ms = r.started_ms + l->order->timeout_ms;
	if (launch_prepare(l, home->shell, home->env) == 0) {
		if (give_listener(&r)) {
			r.shell = start_in_time(l);
		} else {
			l->failed = LAUNCH_SANDBOX;
			l->error = errno;
		}
	}
	for (size_t i = ORDER_OUT; i < ORDER_OUT_READ; i++)
		fd_closep(&l->fd[i]);
	if (l->failed != LAUNCH_DONE) {
		reaper_refuse(r.control, l->failed, l->error);
		_exit(0);
	}
	r.census_ms = r.started_ms + LIMIT_CENSUS_MS;
	/* If the count is old, count again now, while the program is being loaded. */
	if (r.started_ms - home->oom_counted_ms >= LIMIT_OOM_AGE_MS)
		r.oom_kills = procfs_oom_kills();
	while (!reap(&r)) {
		advance(&r);
		wait_for_news(&r);
	}
	send_last_report(&r);
	_exit(0);
}
