/* SPDX-License-Identifier: MIT */
/* starter: have a reaper ready for the next order, and end what a dead one left behind. */

#include "exec/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "exec/keeper.h"
#include "exec/reaper.h"
#include "sandbox/namespaces.h"

struct starter {
	int server; /* -1 once it hung up */
	struct reaper_home home;
	struct sandbox *sandbox; /* NULL: off */
	pid_t reapers[LIMIT_COMMANDS + 1];
	size_t count;
	pid_t spare;  /* the reaper among them that waits for the next order; 0: none */
	int taken;    /* eventfd: the spare has taken an order */
	bool orphans; /* a reaper died before its tree */
	int64_t give_up_ms;
};

/* Commands are more likely to be chosen than the server when memory runs out; inherited by all. */
static void offer_to_oom_killer(void)
{
	char text[16];
	AUTO_FD fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : io_read_full(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	if (strtol(text, NULL, 10) < LIMIT_OOM_SCORE)
		(void)!dprintf(fd, "%d", LIMIT_OOM_SCORE);
}

/* Reading the counter costs as much as a fork, so not for every command. */
static void count_oom_kills(struct starter *s)
{
	const int64_t now = io_now_ms();

	if (s->home.oom_counted_ms && now - s->home.oom_counted_ms < LIMIT_OOM_AGE_MS)
		return;
	s->home.oom_kills = reaper_count_oom_kills();
	s->home.oom_counted_ms = now;
}

/* The spare: everything that can be done before there is an order has been done. */
_Noreturn static void be_spare(struct starter *s)
{
	const uint64_t one = 1;
	struct order order;
	struct launch l = { .sandbox = s->sandbox, .order = &order };

	reaper_settle();
	/* Memory of its own, touched, for what the order will need. */
	mem_free(mem_new(1, LIMIT_SPARE_MEMORY));
	/* One message goes to one reader: whoever takes the order has it alone. */
	if (message_recv(s->server, &order, sizeof(order), l.fd) != sizeof(order) ||
	    l.fd[ORDER_STRINGS] < 0)
		_exit(0);
	(void)!write(s->taken, &one, sizeof(one));
	(void)close(s->server);
	reaper_run(&s->home, &l);
}

static void make_spare(struct starter *s)
{
	if (s->spare || s->server < 0)
		return;
	count_oom_kills(s);
	const pid_t pid = s->count < ARRAY_LEN(s->reapers) ? fork() : (errno = EAGAIN, -1);
	if (pid == 0)
		be_spare(s);
	if (pid < 0)
		return;
	s->spare = pid;
	s->reapers[s->count++] = pid;
}

/* There is no spare: try to make one, which will then take the order, or refuse it. */
static void take_order(struct starter *s)
{
	struct order order;
	int fds[MESSAGE_FDS];

	make_spare(s);
	if (s->spare)
		return;
	const int error = errno;
	if (message_recv(s->server, &order, sizeof(order), fds) == sizeof(order))
		reaper_refuse(fds[ORDER_CONTROL], LAUNCH_FORK, error);
	for (size_t i = 0; i < MESSAGE_FDS; i++)
		fd_closep(&fds[i]);
}

static void hang_up(struct starter *s)
{
	fd_closep(&s->server);
	s->give_up_ms = io_now_ms() + LIMIT_ORPHAN_GRACE_MS + LIMIT_KILL_PATIENCE_MS;
}

static pid_t *find(struct starter *s, pid_t pid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->reapers[i] == pid)
			return &s->reapers[i];
	return NULL;
}

/* A child has ended or stopped: a reaper, or what one that died has left. */
static void note_status(struct starter *s, pid_t pid, int status)
{
	pid_t *reaper = find(s, pid);

	if (WIFSTOPPED(status)) {
		/* A reaper that sleeps could not keep the time of its command. */
		if (reaper)
			(void)kill(pid, SIGCONT);
		return;
	}
	if (reaper)
		*reaper = s->reapers[--s->count];
	if (pid == s->spare)
		s->spare = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		s->orphans = true;
}

static void reap(struct starter *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0)
		note_status(s, pid, status);
	if (s->orphans)
		s->orphans = tree_kill(s->reapers, s->count) > 0;
}

static void wait_for_news(struct starter *s)
{
	struct pollfd p[] = {
		{ .fd = s->server, .events = s->spare ? 0 : POLLIN },
		{ .fd = s->home.signals, .events = POLLIN },
		{ .fd = s->taken, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	uint64_t taken;
	int64_t until = s->server < 0 ? s->give_up_ms : IO_FOREVER;

	if (s->orphans)
		until = io_now_ms() + LIMIT_KILL_PAUSE_MS;
	if (poll(p, ARRAY_LEN(p), io_timeout(until)) < 0)
		return;
	if (p[1].revents)
		(void)!read(s->home.signals, &info, sizeof(info));
	if (p[2].revents) {
		(void)!read(s->taken, &taken, sizeof(taken));
		s->spare = 0;
	} else if (p[0].revents & POLLIN) {
		take_order(s);
	}
	if (p[0].revents & (POLLHUP | POLLERR))
		hang_up(s);
}

_Noreturn static void serve(struct starter *s)
{
	while (s->server >= 0 || s->count || s->orphans) {
		make_spare(s);
		wait_for_news(s);
		reap(s);
		if (s->server < 0 && io_now_ms() >= s->give_up_ms)
			break;
	}
	(void)tree_kill(NULL, 0);
	_exit(0);
}

static int prepare(struct starter *s, const struct sandbox_config *config, bool namespaces,
		   struct keeper_hello *hello)
{
	sigset_t chld;

	(void)prctl(PR_SET_NAME, "sidecar-spawner", 0, 0, 0);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	offer_to_oom_killer();
	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &chld, NULL);
	s->home.signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	s->taken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->home.signals < 0 || s->taken < 0)
		return err_errno(&hello->err, "The spawner cannot watch its children");
	if (sandbox_make(config, namespaces, &s->sandbox, &hello->sandbox, &hello->err) < 0)
		return -1;
	s->home.shell = launch_shell();
	s->home.env = sandbox_environ(s->sandbox);
	/* What was freed on the way here is put in order once. Otherwise every reaper does so when
	 * it allocates, and copies each page it touches. */
	(void)malloc_trim(0);
	return 0;
}

/* Start it one way; 0 and the pid, or -1 with the reason in *hello. */
static int try_start(int server, int lifeline, const struct sandbox_config *config, bool namespaces,
		     pid_t *ret, struct keeper_hello *hello)
{
	int pipefd[2];

	if (pipe2(pipefd, O_CLOEXEC) < 0)
		return err_errno(&hello->err, "The spawner could not be started");
	AUTO_FD from = pipefd[0];
	AUTO_FD to = pipefd[1];
	const pid_t pid = namespaces ? namespaces_fork(config->no_network) : fork();
	if (pid < 0)
		return err_errno(&hello->err, namespaces ? "Namespaces cannot be made"
							 : "The spawner could not be started");
	if (pid == 0) {
		struct starter s = { .server = server, .home.lifeline = lifeline };
		const int ready = prepare(&s, config, namespaces, hello);
		(void)!write(to, hello, sizeof(*hello));
		if (ready < 0)
			_exit(1);
		fd_closep(&from);
		fd_closep(&to);
		serve(&s);
	}
	fd_closep(&to);
	if (io_read_full(from, hello, sizeof(*hello)) != sizeof(*hello))
		(void)err_set(&hello->err, ERR_SPAWN_FAILED, "The spawner ended while it started");
	if (hello->err.code != ERR_NONE) {
		(void)waitpid(pid, NULL, 0);
		return -1;
	}
	*ret = pid;
	return 0;
}

pid_t starter_start(int server, int lifeline, const struct sandbox_config *asked)
{
	struct keeper_hello hello = { 0 };
	struct sandbox_config config = *asked;
	struct sandbox_report *report = &hello.sandbox;
	struct err *e = &hello.err;
	pid_t pid = -1;

	if (sandbox_settle(&config, report, e) == 0) {
		const bool namespaces = config.mode != SANDBOX_OFF;
		if (try_start(server, lifeline, &config, namespaces, &pid, &hello) < 0 &&
		    namespaces && sandbox_forgo_namespaces(&config, report, e) == 0) {
			e->code = ERR_NONE;
			(void)try_start(server, lifeline, &config, false, &pid, &hello);
		}
	}
	(void)message_send(server, &hello, sizeof(hello), NULL, 0, io_now_ms() + LIMIT_SPAWNER_MS);
	return pid;
}
