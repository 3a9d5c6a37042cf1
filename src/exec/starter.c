/* SPDX-License-Identifier: MIT */
/* starter: turn orders into reapers, and end what a dead reaper left behind. */

#include "exec/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "exec/keeper.h"
#include "exec/reaper.h"
#include "exec/namespaces.h"

struct starter {
	int server; /* -1 once it hung up */
	struct reaper_home home;
	struct sandbox *sandbox; /* NULL: off */
	pid_t reapers[LIMIT_COMMANDS];
	size_t count;
	bool orphans; /* a reaper died before its tree */
	int64_t give_up_ms;
	int64_t oom_counted_ms;
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

	if (s->oom_counted_ms && now - s->oom_counted_ms < LIMIT_OOM_AGE_MS)
		return;
	s->home.oom_kills = reaper_count_oom_kills();
	s->oom_counted_ms = now;
}

static void carry_out(struct starter *s, struct order *order, int fds[static MESSAGE_FDS])
{
	count_oom_kills(s);
	const pid_t pid = s->count < LIMIT_COMMANDS ? fork() : (errno = EAGAIN, -1);

	if (pid == 0) {
		struct launch l = { .sandbox = s->sandbox, .order = order };
		memcpy(l.fd, fds, sizeof(l.fd));
		(void)close(s->server);
		reaper_run(&s->home, &l);
	}
	if (pid > 0)
		s->reapers[s->count++] = pid;
	else
		reaper_refuse(fds[ORDER_CONTROL], LAUNCH_FORK, errno);
}

static void take_order(struct starter *s)
{
	struct order order;
	int fds[MESSAGE_FDS];
	const ssize_t n = message_recv(s->server, &order, sizeof(order), fds);

	if (n <= 0) {
		fd_closep(&s->server);
		s->give_up_ms = io_now_ms() + LIMIT_ORPHAN_GRACE_MS + LIMIT_KILL_PATIENCE_MS;
		return;
	}
	if (n == sizeof(order) && fds[ORDER_STRINGS] >= 0)
		carry_out(s, &order, fds);
	for (size_t i = 0; i < MESSAGE_FDS; i++)
		fd_closep(&fds[i]);
}

static void forget(struct starter *s, pid_t pid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->reapers[i] == pid)
			s->reapers[i] = s->reapers[--s->count];
}

static void reap(struct starter *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		forget(s, pid);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			s->orphans = true;
	}
	if (s->orphans)
		s->orphans = tree_kill(s->reapers, s->count) > 0;
}

static void wait_for_news(struct starter *s)
{
	struct pollfd p[] = {
		{ .fd = s->server, .events = POLLIN },
		{ .fd = s->home.signals, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	int64_t until = s->server < 0 ? s->give_up_ms : IO_FOREVER;

	if (s->orphans)
		until = io_now_ms() + LIMIT_KILL_PAUSE_MS;
	if (poll(p, ARRAY_LEN(p), io_timeout(until)) < 0)
		return;
	if (p[1].revents)
		(void)!read(s->home.signals, &info, sizeof(info));
	if (p[0].revents)
		take_order(s);
}

_Noreturn static void serve(struct starter *s)
{
	while (s->server >= 0 || s->count || s->orphans) {
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
	if (s->home.signals < 0)
		return err_errno(&hello->err, "The spawner cannot watch its children");
	if (sandbox_make(config, namespaces, &s->sandbox, &hello->sandbox, &hello->err) < 0)
		return -1;
	if (!tree_supported())
		return err_set(
			&hello->err, ERR_SPAWN_FAILED,
			"This kernel does not list a process's children in /proc, so commands "
			"could not be ended reliably and are not run");
	s->home.shell = launch_shell();
	s->home.env = sandbox_environ(s->sandbox);
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
		return err_errno(&hello->err, "The spawner could not be started");
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
