/* SPDX-License-Identifier: MIT */
/*
 * client: what the library costs beside the bare exchange of the same bytes.
 *
 *	bench_client SOCKET FILE
 *
 * A running sidecar is asked for the file in rounds, turn by turn: by sidecar_read_file, and by
 * send and recv of the same request and as many bytes as its answer has, on one connection. Prints
 * the median and the best round of a call in each, and their ratios: on a machine with other work
 * the best is the one to trust.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "sidecar.h"

enum { ROUNDS = 200, CALLS = 100 };

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	if (connect(fd, (const struct sockaddr *)&a, sizeof a) < 0)
		err(1, "%s", path);
	return fd;
}

/* How long an answer is whose head has come. */
static size_t length_of(const char *answer)
{
	const char *field = strcasestr(answer, "\r\nContent-Length:");
	const char *end = strstr(answer, "\r\n\r\n");

	if (!field || !end || field > end)
		errx(1, "an answer without its length: %.200s", answer);
	return (size_t)(end + 4 - answer) + strtoul(strchr(field, ':') + 1, NULL, 10);
}

/* The answer is as long as the first one was: `length`; 0: its head tells. */
static size_t exchange_raw(int fd, const char *request, size_t n, size_t length)
{
	static char answer[4 << 20];
	size_t have = 0;

	if (send(fd, request, n, MSG_NOSIGNAL) != (ssize_t)n)
		err(1, "send");
	do {
		const ssize_t got = recv(fd, answer + have, sizeof answer - 1 - have, 0);
		if (got <= 0)
			err(1, "recv");
		have += (size_t)got;
		if (length == 0)
			length = length_of(answer);
	} while (have < length);
	if (have != length || answer[have - 1] != '}')
		errx(1, "an answer that is not like the first");
	return have;
}

int main(int argc, char **argv)
{
	double raw[ROUNDS], library[ROUNDS];
	char body[512], request[1024];
	struct sidecar_error error;

	if (argc != 3)
		errx(2, "usage: bench_client SOCKET FILE");
	const struct sidecar_settings settings = { .socket_path = argv[1] };
	struct sidecar *sidecar = sidecar_open(&settings, &error);
	if (!sidecar || sidecar_ensure_ready(sidecar, &error) < 0)
		errx(1, "%s", error.message);
	const int body_n = snprintf(body, sizeof body, "{\"path\":\"%s\"}", argv[2]);
	const int n = snprintf(request, sizeof request,
			       "POST /read HTTP/1.1\r\nHost: localhost\r\n"
			       "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			       body_n, body);
	const int fd = connect_to(argv[1]);
	const size_t length = exchange_raw(fd, request, (size_t)n, 0);

	for (int i = 0; i < ROUNDS; i++) {
		const double a = now_us();
		for (int j = 0; j < CALLS; j++)
			(void)exchange_raw(fd, request, (size_t)n, length);
		const double b = now_us();
		for (int j = 0; j < CALLS; j++) {
			struct sidecar_file *f = sidecar_read_file(sidecar, argv[2], NULL, &error);
			if (!f)
				errx(1, "%s: %s", error.code, error.message);
			sidecar_free(f);
		}
		raw[i] = (b - a) / CALLS;
		library[i] = (now_us() - b) / CALLS;
	}
	qsort(raw, ROUNDS, sizeof *raw, by_size);
	qsort(library, ROUNDS, sizeof *library, by_size);
	const double r = raw[ROUNDS / 2], l = library[ROUNDS / 2];
	(void)printf("%zu bytes: raw %.1f us, library %.1f us, ratio %.2f; best %.1f, %.1f, %.2f\n",
		     length, r, l, l / r, raw[0], library[0], library[0] / raw[0]);
	sidecar_close(sidecar);
	(void)close(fd);
	return 0;
}
