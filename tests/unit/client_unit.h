/* SPDX-License-Identifier: MIT */
/*
 * client_unit: servers for a client: the real sidecar as a child process, and a fake one that says
 * whatever a test wants.
 */
#ifndef TESTS_CLIENT_UNIT_H
#define TESTS_CLIENT_UNIT_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/io.h"
#include "base/own.h"
#include "scratch.h"
#include "sidecar.h"

/* Start the sidecar in the scratch directory: workspace "ws", socket "s", errors
 * in "log". */
static inline pid_t start_sidecar(const struct scratch *s)
{
	char workspace[PATH_MAX], socket[PATH_MAX];

	(void)snprintf(workspace, sizeof workspace, "--workspace=%s/ws", s->path);
	(void)snprintf(socket, sizeof socket, "--socket=%s/s", s->path);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const int log = open(in(s, "log"), O_WRONLY | O_CREAT | O_APPEND, 0644);
		(void)dup2(log, STDERR_FILENO);
		(void)dup2(log, STDOUT_FILENO);
		(void)execl(SIDECAR_PROGRAM, "sidecar", "serve", "--sandbox=off",
			    "--log-level=error", workspace, socket, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* End it; one that was asked to end must do so in order. */
static inline void stop_sidecar(pid_t pid, int signal)
{
	int status = 0;

	(void)kill(pid, signal);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, signal == SIGKILL ? SIGKILL : 0);
}

static inline struct sidecar *open_client(const struct scratch *s, int64_t wait_ms)
{
	struct sidecar_error error;
	const struct sidecar_settings settings = { .socket_path = in(s, "s"),
						   .wait_for_ready_ms = wait_ms };
	struct sidecar *client = sidecar_open(&settings, &error);

	assert_non_null(client);
	return client;
}

/* A server that answers every request with the same bytes, then does what `then` says. */
struct fake {
	const char *answer; /* to everything but GET /health */
	size_t length;	    /* 0: strlen */
	enum { FAKE_CLOSE, FAKE_HANG, FAKE_REPEAT, FAKE_DRIP, FAKE_SLOW, FAKE_SLOW_BODY } then;
	const char *health; /* NULL: a good one */
	atomic_int requests;
	atomic_bool stop;
	int fd;
	pthread_t thread;
};

static inline void fake_say(struct fake *f, int fd, const char *p, size_t n)
{
	const char *end = memmem(p, n, "\r\n\r\n", 4);
	const size_t head = f->then == FAKE_SLOW_BODY && end ? (size_t)(end + 4 - p) : 0;

	for (size_t at = 0; at < n && !f->stop;) {
		const bool single = f->then >= FAKE_DRIP;
		const ssize_t sent = send(fd, p + at,
					  at < head ? head - at
					  : single  ? 1
						    : n - at,
					  MSG_NOSIGNAL | MSG_DONTWAIT);
		if (f->then == FAKE_SLOW || (f->then == FAKE_SLOW_BODY && at >= head))
			(void)usleep(f->then == FAKE_SLOW ? 5000 : 20000);
		if (sent > 0)
			at += (size_t)sent;
		else if (errno != EAGAIN || io_wait(fd, POLLOUT, io_now_ms() + 50) < 0)
			return;
	}
}

/* Serve one connection. Requests are small, so they arrive in one piece. */
static inline void fake_serve(struct fake *f, int fd)
{
	static const char good[] = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"ok\":true}";
	char in[65536];

	while (!f->stop && io_wait(fd, POLLIN, io_now_ms() + 20) >= 0) {
		const ssize_t n = recv(fd, in, sizeof in - 1, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return;
		if (n < 0)
			continue;
		in[n] = '\0';
		if (strncmp(in, "GET /health", 11) == 0) {
			const char *health = f->health ? f->health : good;
			fake_say(f, fd, health, strlen(health));
			continue;
		}
		f->requests++;
		const size_t length = f->length ? f->length : strlen(f->answer);
		do
			fake_say(f, fd, f->answer, length);
		while (f->then == FAKE_REPEAT && !f->stop && io_wait(fd, POLLIN, io_now_ms()) == 0);
		if (f->then == FAKE_CLOSE)
			return;
	}
}

static inline void *fake_run(void *arg)
{
	struct fake *f = arg;

	while (!f->stop) {
		if (io_wait(f->fd, POLLIN, io_now_ms() + 20) <= 0)
			continue;
		const int fd = accept(f->fd, NULL, NULL);
		fake_serve(f, fd);
		(void)close(fd);
	}
	return NULL;
}

static inline int listen_at(const struct scratch *s, bool listening)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof a.sun_path, "%.100s/s", s->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	if (listening)
		assert_int_equal(listen(fd, 64), 0);
	return fd;
}

static inline void fake_start(struct fake *f, const struct scratch *s)
{
	f->fd = listen_at(s, true);
	f->stop = false;
	f->requests = 0;
	assert_int_equal(pthread_create(&f->thread, NULL, fake_run, f), 0);
}

static inline void fake_stop(struct fake *f, const struct scratch *s)
{
	f->stop = true;
	(void)pthread_join(f->thread, NULL);
	(void)close(f->fd);
	(void)unlink(in(s, "s"));
}

#endif
