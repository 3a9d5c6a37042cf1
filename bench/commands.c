/* SPDX-License-Identifier: MIT */
/*
 * commands: what bench/commands measures with.
 *
 *	bench_commands start TIMES SOCKET SOCKET WORKSPACE SHELL BODY
 *		SHELL -c true, in turn: by posix_spawn and wait, by /bash with the BODY at two
 *		servers, under bubblewrap. Microseconds, median and least; 0 for what is not there:
 *		{"spawn":[N,N],"first":[N,N],"second":[N,N],"bwrap":[N,N]}
 *	bench_commands shell SCRIPT
 *		posix_spawn and wait of sh -c SCRIPT: {"us":N}
 *	bench_commands drain SOCKET BODY [BYTES_A_SECOND [SECONDS]]
 *		Read the answer of /bash to its end, or as slowly as that for so long, and leave:
 *		{"us":N,"bytes":N}
 */
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 100000, ANSWER = 4096, PIECE = 1 << 20, PAUSE_US = 10000 };

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* False when there is no such program. */
static bool spawn(const char *const *argv)
{
	posix_spawn_file_actions_t quiet;
	int status = 0;
	pid_t pid;

	(void)posix_spawn_file_actions_init(&quiet);
	(void)posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
	const int bad = posix_spawnp(&pid, argv[0], &quiet, NULL, (char *const *)argv, environ);
	(void)posix_spawn_file_actions_destroy(&quiet);
	if (bad)
		return false;
	if (waitpid(pid, &status, 0) != pid || status != 0)
		errx(1, "%s: status %d", argv[0], status);
	return true;
}

static int reach(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(to.sun_path))
		errx(1, "%s: too long for a socket", path);
	memcpy(to.sun_path, path, strlen(path) + 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		err(1, "%s", path);
	return fd;
}

static void ask(int fd, const char *body, bool keep)
{
	char head[4096];
	const int n = snprintf(head, sizeof(head),
			       "POST /bash HTTP/1.1\r\nHost: localhost\r\n"
			       "Content-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n%s",
			       strlen(body), keep ? "" : "Connection: close\r\n", body);

	if (n < 0 || (size_t)n >= sizeof(head) || send(fd, head, (size_t)n, MSG_NOSIGNAL) != n)
		err(1, "send");
}

/* One whole answer, which is short: it ends with the last chunk. */
static void run_true(int fd, const char *body)
{
	static const char end[] = "\r\n0\r\n\r\n";
	char answer[ANSWER + 1];
	size_t n = 0;

	ask(fd, body, true);
	do {
		const ssize_t got = recv(fd, answer + n, ANSWER - n, 0);
		if (got <= 0)
			errx(1, "the connection was closed after %zu bytes", n);
		n += (size_t)got;
		answer[n] = '\0';
	} while (n < sizeof(end) || strcmp(answer + n - strlen(end), end) != 0);
	if (!strstr(answer, "\"exitCode\":0"))
		errx(1, "not an answer: %s", answer);
}

enum way { SPAWN, FIRST, SECOND, BWRAP, WAYS };

static void start(int times, char **sockets, char *workspace, char *program, const char *body)
{
	static const char *const names[] = { "spawn", "first", "second", "bwrap" };
	static double took[WAYS][TIMES];
	const char *plain[] = { program, "-c", "true", NULL };
	/* The rules that --sandbox workspace has with namespaces. */
	const char *bwrap[] = {
		/* clang-format off */
		"bwrap", "--ro-bind", "/", "/", "--bind", workspace, workspace, "--dev", "/dev",
		"--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run", "--chdir", workspace,
		"--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL", "--new-session",
		"--die-with-parent", program, "-c", "true", NULL,
		/* clang-format on */
	};
	const int fd[] = { reach(sockets[0]), reach(sockets[1]) };

	/* In turn, so that noise hits all alike. */
	for (int i = 0; i < times; i++) {
		for (int way = 0; way < WAYS; way++) {
			const double from = now_us();
			bool there = true;
			if (way == FIRST || way == SECOND)
				run_true(fd[way - FIRST], body);
			else
				there = spawn(way == SPAWN ? plain : bwrap);
			took[way][i] = there ? now_us() - from : 0;
		}
	}
	for (int way = 0; way < WAYS; way++) {
		qsort(took[way], (size_t)times, sizeof(double), by_value);
		(void)printf("%s\"%s\":[%.1f,%.1f]", way ? "," : "{", names[way],
			     took[way][times / 2], took[way][0]);
	}
	(void)printf("}\n");
}

static void shell(char *script)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	const double from = now_us();

	if (!spawn(argv))
		err(1, "sh");
	(void)printf("{\"us\":%.0f}\n", now_us() - from);
}

static void drain(const char *path, const char *body, double rate, double seconds)
{
	char *piece = malloc(PIECE);
	const int fd = reach(path);
	const double from = now_us();
	int64_t bytes = 0;
	ssize_t n = 1;

	if (!piece)
		err(1, "memory");
	ask(fd, body, false);
	while (n > 0 && (seconds == 0 || now_us() - from < seconds * 1e6)) {
		const double due = rate * (now_us() - from) / 1e6;
		if (seconds > 0 && (double)bytes >= due) {
			(void)usleep(PAUSE_US);
			continue;
		}
		n = recv(fd, piece, PIECE, 0);
		if (n < 0)
			err(1, "recv");
		bytes += n;
	}
	(void)printf("{\"us\":%.0f,\"bytes\":%jd}\n", now_us() - from, (intmax_t)bytes);
	(void)close(fd);
	free(piece);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const int times = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;

	if (strcmp(what, "start") == 0 && argc == 8 && times > 0 && times <= TIMES)
		start(times, argv + 3, argv[5], argv[6], argv[7]);
	else if (strcmp(what, "shell") == 0 && argc == 3)
		shell(argv[2]);
	else if (strcmp(what, "drain") == 0 && argc >= 4)
		drain(argv[2], argv[3], argc > 4 ? strtod(argv[4], NULL) : 0,
		      argc > 5 ? strtod(argv[5], NULL) : 0);
	else
		errx(2, "usage: start TIMES SOCKET SOCKET WORKSPACE SHELL BODY | shell SCRIPT | "
			"drain SOCKET BODY [BYTES_A_SECOND SECONDS]");
	return 0;
}
