/* SPDX-License-Identifier: MIT */
/* spawner: keep a reaper ready for the next order, and end what a dead reaper has left running. */

#include "exec/keeper.h"

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
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "exec/launch.h"
#include "exec/limits.h"
#include "exec/reaper.h"
#include "sandbox/landlock.h"
#include "supervise/listener.h"
#include "supervise/supervisor.h"

struct spawner {
	int server;   /* -1 after it hung up and all its orders were taken */
	bool hung_up; /* it has; the spare may find one more order, or the end */
	bool retired; /* the server has another spawner */
	struct reaper_home home;
	struct sandbox *sandbox; /* NULL: off */
	pid_t reapers[LIMIT_COMMANDS + LIMIT_JOBS + 1];
	size_t count;
	pid_t spare;  /* the reaper among them that waits for the next order; 0: there is none */
	int taken;    /* eventfd: the spare has taken an order */
	bool orphans; /* a reaper died before its tree */
	int64_t give_up_ms; /* once the server is gone, when to stop waiting for the reapers; 0 */
};

/* The exit status of a spare that got this message. */
enum { SPARE_RETIRES = 2 };

/* When memory runs out the kernel shall kill a command before the server. All commands inherit
 * this. */
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

/* Reading the counter costs as much as a fork, so it is not read for every command. */
static void count_oom_kills(struct spawner *s)
{
	const int64_t now = io_now_ms();

	if (s->home.oom_counted_ms && now - s->home.oom_counted_ms < LIMIT_OOM_AGE_MS)
		return;
	s->home.oom_kills = procfs_oom_kills();
	s->home.oom_counted_ms = now;
}

/* The spare reaper does all that can be done before there is an order, then waits for one. */
_Noreturn static void be_spare(struct spawner *s)
{
	const uint64_t one = 1;
	struct order order;
	struct launch l = { .sandbox = s->sandbox, .order = &order };

	const int listener = reaper_prepare(&s->home);
	/* Touch the memory that the order will need, so that the page faults happen now. */
	mem_free(mem_new(1, LIMIT_SPARE_MEMORY));
	/* The kernel gives one message to one reader, so no other reaper gets this order. */
	const ssize_t n = message_recv(s->server, &order, sizeof(order), l.fd);
	if (n != sizeof(order) || l.fd[ORDER_STRINGS] < 0)
		_exit(n == SPAWNER_RETIRES ? SPARE_RETIRES : 0);
	(void)!write(s->taken, &one, sizeof(one));
	(void)close(s->server);
	reaper_main(&s->home, listener, &l);
}

static void make_spare(struct spawner *s)
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

/* There is no spare: make one, which will then take the order; if that fails, refuse the order. */
static void take_order(struct spawner *s)
{
	struct order order;
	int fds[MESSAGE_FDS];

	make_spare(s);
	if (s->spare)
		return;
	const int error = errno;
	const ssize_t n = message_recv(s->server, &order, sizeof(order), fds);
	s->retired |= n == SPAWNER_RETIRES;
	if (n == sizeof(order))
		reaper_refuse(fds[ORDER_CONTROL], LAUNCH_FORK, error);
	for (size_t i = 0; i < MESSAGE_FDS; i++)
		fd_closep(&fds[i]);
}

static void give_up_soon(struct spawner *s)
{
	s->give_up_ms = io_now_ms() + LIMIT_ORPHAN_GRACE_MS + LIMIT_KILL_PATIENCE_MS;
}

/* The server will send no more, or is gone; what it has sent is still there. */
static void hang_up(struct spawner *s)
{
	char byte;

	s->hung_up = true;
	if (s->spare)
		return;
	if (recv(s->server, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
		take_order(s);
		return;
	}
	fd_closep(&s->server);
	if (!s->retired)
		give_up_soon(s);
}

static pid_t *find(struct spawner *s, pid_t pid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->reapers[i] == pid)
			return &s->reapers[i];
	return NULL;
}

/* A child has ended or stopped: a reaper, or a process that a dead reaper has left. */
static void note_status(struct spawner *s, pid_t pid, int status)
{
	pid_t *reaper = find(s, pid);

	if (WIFSTOPPED(status)) {
		/* A stopped reaper could not enforce its command's time limit. */
		if (reaper)
			(void)kill(pid, SIGCONT);
		return;
	}
	if (reaper)
		*reaper = s->reapers[--s->count];
	if (pid == s->spare) {
		s->spare = 0;
		if (WIFEXITED(status) && WEXITSTATUS(status) == SPARE_RETIRES) {
			s->retired = true;
			return;
		}
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		s->orphans = true;
}

static void reap(struct spawner *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0)
		note_status(s, pid, status);
	if (s->orphans)
		s->orphans = tree_kill(s->reapers, s->count) > 0;
}

/* Where news of the server come from: its socket; and for one that is retired the lifeline. */
static int watched(const struct spawner *s)
{
	if (s->server >= 0)
		return s->hung_up && s->spare ? -1 : s->server;
	return s->give_up_ms ? -1 : s->home.lifeline;
}

static void wait_for_news(struct spawner *s)
{
	struct pollfd p[] = {
		{ .fd = watched(s), .events = s->spare ? 0 : POLLIN },
		{ .fd = s->home.signals, .events = POLLIN },
		{ .fd = s->taken, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	uint64_t taken;
	int64_t until = s->give_up_ms ? s->give_up_ms : IO_FOREVER;

	if (s->orphans)
		until = io_now_ms() + LIMIT_KILL_PAUSE_MS;
	if (poll(p, ARRAY_LEN(p), io_timeout(until)) < 0)
		return;
	if (p[1].revents)
		(void)!read(s->home.signals, &info, sizeof(info));
	if (p[2].revents) {
		(void)!read(s->taken, &taken, sizeof(taken));
		s->spare = 0;
	} else if (s->server < 0 && p[0].revents) {
		give_up_soon(s);
	} else if (p[0].revents & (POLLHUP | POLLERR)) {
		hang_up(s);
	} else if (p[0].revents) {
		take_order(s);
	}
}

_Noreturn static void spawner_main(struct spawner *s)
{
	while (s->server >= 0 || s->count || s->orphans) {
		if (!s->hung_up)
			make_spare(s);
		wait_for_news(s);
		reap(s);
		if (s->give_up_ms && io_now_ms() >= s->give_up_ms)
			break;
	}
	(void)tree_kill(NULL, 0);
	_exit(s->retired ? SPAWNER_RETIRED : 0);
}

/* In a child: make a call that stops. The listener goes to the server, which looks into this
 * process as it will into commands, and answers with what came of it. Returns 0 or the errno value.
 */
static int make_trial(int server, unsigned calls)
{
	const struct spawner_hello trial = { .sandbox.mode = SANDBOX_OFF };
	const struct sockaddr to = { .sa_family = AF_UNSPEC };
	AUTO_FD fd = reaper_listen(calls);

	if (fd < 0 ||
	    message_send(server, &trial, sizeof(trial), &fd, 1, io_now_ms() + LIMIT_SPAWNER_MS) < 0)
		return errno;
	/* If the server dies there must be no listener left, or this process waited for ever. */
	fd_closep(&fd);
	const int bad = calls & LISTENER_SOCKETS ? connect(STDIN_FILENO, &to, sizeof(to))
						 : bind(STDIN_FILENO, &to, sizeof(to));
	return bad ? errno : 0;
}

/* Whether the server can judge these calls of a command: 0, or the errno value. */
static int try_listener(int server, unsigned calls)
{
	int status = 0;
	const pid_t pid = fork();

	if (pid == 0)
		_exit(make_trial(server, calls));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ENOSYS;
}

/* For the sandbox, which tries itself out: a child makes the attempt, and this process answers as if
 * no server were there. */
static bool refuses(enum sandbox_stop what, bool (*attempt)(void))
{
	const unsigned calls = what == SANDBOX_STOPS_EMPTYING	   ? LISTENER_EMPTYING
			       : what == SANDBOX_STOPS_CONNECTIONS ? LISTENER_SOCKETS
								   : LISTENER_INTERNET;
	AUTO_FD listener = listener_install(calls);
	const pid_t pid = listener < 0 ? -1 : fork();

	if (pid == 0)
		_exit(attempt());
	int status = 0;
	struct pollfd p = { .fd = listener, .events = POLLIN };
	if (pid > 0 && poll(&p, 1, LIMIT_SPAWNER_MS) == 1)
		supervisor_let_go(listener, calls);
	else if (pid > 0)
		(void)kill(pid, SIGKILL);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 1;
}

/* Which calls of every command stop. */
static unsigned stopped_calls(const struct sandbox_config *c, bool namespaces)
{
	const bool empties = c->supervised && landlock_abi() < LANDLOCK_TRUNCATE;

	return (c->listens ? LISTENER_CHANGES | (c->guarded ? LISTENER_GUARDED : 0) : 0) |
	       (c->supervised ? LISTENER_UNRULED : 0) | (empties ? LISTENER_EMPTYING : 0) |
	       (c->brokered ? LISTENER_SOCKETS : 0) |
	       (sandbox_stops_internet(c, namespaces) ? LISTENER_INTERNET : 0) |
	       (c->brokered && c->no_network && namespaces ? LISTENER_SENDS : 0);
}

static int prepare(struct spawner *s, const struct sandbox_config *asked, bool namespaces,
		   struct spawner_hello *hello)
{
	struct sandbox_config config = *asked;
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
	config.refuses = refuses;
	config.supervised &= config.mode != SANDBOX_OFF && !namespaces;
	if (config.listens || config.supervised)
		hello->sandbox.unwatched = try_listener(s->server, LISTENER_CHANGES);
	config.listens &= !hello->sandbox.unwatched;
	config.supervised &= !hello->sandbox.unwatched;
	/* Found out before the sandbox is made: without it there are no Unix sockets in it. */
	config.brokered = config.brokered && config.mode != SANDBOX_OFF &&
			  !hello->sandbox.unwatched &&
			  try_listener(s->server, LISTENER_SOCKETS) == 0;
	hello->sandbox.brokered = config.brokered;
	if (sandbox_make(&config, namespaces, &s->sandbox, &hello->sandbox, &hello->err) < 0)
		return -1;
	if (s->sandbox)
		s->home.calls = stopped_calls(&config, namespaces);
	s->home.shell = launch_shell();
	size_t count = 0;
	char *const *more = s->sandbox ? sandbox_variables(s->sandbox, &count) : NULL;
	s->home.env = environ_merge(environ, more, count);
	if (!s->home.env)
		return err_set(&hello->err, ERR_SPAWN_FAILED,
			       "There is no memory for the environment of commands");
	/* Tidy up the freed memory once. Otherwise every reaper does so when it allocates, and
	 * copies each page it touches. */
	(void)malloc_trim(0);
	return 0;
}

/* Fork the spawner and wait until it is ready. 0 with its pid and the completed report, or -1. */
static int fork_spawner(struct spawner *s, const struct sandbox_config *config, bool namespaces,
			struct sandbox_report *report, pid_t *ret, struct err *e)
{
	struct spawner_hello hello = { .sandbox = *report };
	int pipefd[2];

	if (pipe2(pipefd, O_CLOEXEC) < 0)
		return err_errno(e, "The spawner could not be started");
	AUTO_FD from = pipefd[0];
	AUTO_FD to = pipefd[1];
	const pid_t pid = namespaces ? sandbox_fork(config->no_network) : fork();
	if (pid < 0)
		return err_errno(e, namespaces ? "Namespaces cannot be made"
					       : "The spawner could not be started");
	if (pid == 0) {
		const int ready = prepare(s, config, namespaces, &hello);
		(void)!write(to, &hello, sizeof(hello));
		if (ready < 0)
			_exit(1);
		fd_closep(&from);
		fd_closep(&to);
		spawner_main(s);
	}
	fd_closep(&to);
	if (io_read_full(from, &hello, sizeof(hello)) != sizeof(hello))
		(void)err_set(&hello.err, ERR_SPAWN_FAILED, "The spawner ended while it started");
	if (hello.err.code != ERR_NONE) {
		(void)waitpid(pid, NULL, 0);
		*e = hello.err;
		return -1;
	}
	*report = hello.sandbox;
	*ret = pid;
	return 0;
}

/* With namespaces if there is to be a sandbox; without them if they cannot be made and need not. */
static int start(struct spawner *s, const struct sandbox_config *asked,
		 struct sandbox_report *report, pid_t *ret, struct err *e)
{
	struct sandbox_config config = *asked;
	struct err reason;

	if (sandbox_settle(&config, report, e) < 0)
		return -1;
	if (config.mode != SANDBOX_OFF) {
		if (fork_spawner(s, &config, true, report, ret, &reason) == 0)
			return 0;
		if (sandbox_forgo_namespaces(&config, &reason, report, e) < 0)
			return -1;
	}
	return fork_spawner(s, &config, false, report, ret, e);
}

pid_t spawner_start(int server, int lifeline, const struct sandbox_config *asked, bool *namespaces)
{
	struct spawner s = {
		.server = server,
		.home = { .lifeline = lifeline, .signals = -1 },
		.taken = -1,
	};
	struct spawner_hello hello = { 0 };
	pid_t pid = -1;

	(void)start(&s, asked, &hello.sandbox, &pid, &hello.err);
	*namespaces = pid > 0 && hello.sandbox.namespaces;
	(void)message_send(server, &hello, sizeof(hello), NULL, 0, io_now_ms() + LIMIT_SPAWNER_MS);
	return pid;
}
