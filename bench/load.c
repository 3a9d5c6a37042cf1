/* SPDX-License-Identifier: MIT */
/*
 * load: requests over a Unix socket for some seconds, each answer checked.
 *
 *	bench_load [-k] [-c CONNECTIONS] [-s SECONDS] [-m BYTES] SOCKET PATH [BODY | @FILE]
 *
 * With a body it is a POST, else a GET. -k keeps connections; otherwise each request has a new one.
 * An answer must be complete, have status 200 and a body of at least BYTES; any other ends the
 * program. One thread waits for all connections, each with one request under way; with a single
 * connection it waits in recv, as a simple client does. Prints one JSON object:
 *
 *	{"requests":N,"rps":N,"p50_us":N,"p99_us":N}
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	CONNECTIONS = 4096,
	ANSWER = 1 << 20, /* the largest answer that is understood */
	EVENTS = 64,
	TICK_NS = 100,	 /* latencies are counted in these steps … */
	TICKS = 1000000, /* … up to a tenth of a second; what took longer counts as that */
};

struct connection {
	int fd;
	int64_t sent_ns;
	size_t n; /* of answer */
	char *answer;
};

struct load {
	struct sockaddr_un address;
	char *request;
	size_t request_n, least;
	bool keep;
	int epoll; /* -1 with a single connection */
	uint64_t done;
	uint32_t ticks[TICKS + 1];
};

static int64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void open_connection(struct load *l, struct connection *c)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&l->address, sizeof(l->address)) < 0)
		err(1, "%s", l->address.sun_path);
	if (l->epoll >= 0 && epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &ev) < 0)
		err(1, "epoll");
}

static void ask(struct load *l, struct connection *c)
{
	c->sent_ns = now_ns();
	c->n = 0;
	if (c->fd < 0)
		open_connection(l, c);
	for (size_t at = 0; at < l->request_n;) {
		const ssize_t n = send(c->fd, l->request + at, l->request_n - at, MSG_NOSIGNAL);
		if (n < 0)
			err(1, "send");
		at += (size_t)n;
	}
}

/* Whether the answer is there as a whole. */
static bool complete(const struct load *l, struct connection *c)
{
	static const char ok[] = "HTTP/1.1 200 ";
	const char *body, *field;

	c->answer[c->n] = '\0';
	body = strstr(c->answer, "\r\n\r\n");
	if (!body)
		return false;
	body += 4;
	field = strcasestr(c->answer, "\r\ncontent-length:");
	if (strncmp(c->answer, ok, strlen(ok)) != 0 || !field || field > body)
		errx(1, "not an answer: %.300s", c->answer);
	const size_t length = strtoul(field + strlen("\r\ncontent-length:"), NULL, 10);
	const size_t have = c->n - (size_t)(body - c->answer);
	if (length < l->least || have > length)
		errx(1, "an answer of %zu bytes with %zu announced: %.300s", have, length,
		     c->answer);
	return have == length;
}

/* Something has come. Whether it ended the request. */
static bool take(struct load *l, struct connection *c)
{
	const ssize_t n = recv(c->fd, c->answer + c->n, ANSWER - c->n, 0);

	if (n <= 0)
		errx(1, "the connection was closed after %zu bytes", c->n);
	c->n += (size_t)n;
	if (!complete(l, c))
		return false;
	const int64_t tick = (now_ns() - c->sent_ns) / TICK_NS;
	l->ticks[tick < TICKS ? tick : TICKS]++;
	l->done++;
	if (!l->keep) {
		(void)close(c->fd);
		c->fd = -1;
	}
	return true;
}

static double percentile_us(const struct load *l, double part)
{
	const uint64_t rank = (uint64_t)((double)l->done * part);
	uint64_t below = 0;
	int tick = 0;

	while (tick < TICKS && (below += l->ticks[tick]) <= rank)
		tick++;
	return tick * (TICK_NS / 1e3);
}

static char *read_file(const char *path, size_t *n)
{
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		err(1, "%s", path);
	char *bytes = malloc((size_t)st.st_size + 1);
	if (!bytes || read(fd, bytes, (size_t)st.st_size) != st.st_size)
		err(1, "%s", path);
	(void)close(fd);
	*n = (size_t)st.st_size;
	return bytes;
}

static void make_request(struct load *l, const char *path, char *body)
{
	size_t body_n = body ? strlen(body) : 0;
	char head[512];

	if (body && *body == '@')
		body = read_file(body + 1, &body_n);
	const int n = snprintf(head, sizeof(head),
			       "%s %s HTTP/1.1\r\nHost: localhost\r\n"
			       "Content-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n",
			       body ? "POST" : "GET", path, body_n,
			       l->keep ? "" : "Connection: close\r\n");
	if (n < 0 || (size_t)n >= sizeof(head))
		errx(1, "the path is too long");
	l->request_n = (size_t)n + body_n;
	l->request = malloc(l->request_n);
	if (!l->request)
		err(1, "memory");
	memcpy(l->request, head, (size_t)n);
	if (body)
		memcpy(l->request + n, body, body_n);
}

static double run(struct load *l, struct connection *all, int count, double seconds)
{
	const int64_t start = now_ns(), end = start + (int64_t)(seconds * 1e9);
	struct epoll_event ready[EVENTS] = { { .data.ptr = all } };
	int n = 1;

	for (int i = 0; i < count; i++)
		ask(l, &all[i]);
	while (now_ns() < end) {
		if (l->epoll >= 0)
			n = epoll_wait(l->epoll, ready, EVENTS, -1);
		for (int i = 0; i < n; i++)
			if (take(l, ready[i].data.ptr))
				ask(l, ready[i].data.ptr);
	}
	return (double)(now_ns() - start) / 1e9;
}

int main(int argc, char **argv)
{
	static struct load l = { .address = { .sun_family = AF_UNIX }, .epoll = -1 };
	static struct connection all[CONNECTIONS];
	double seconds = 1;
	int count = 1, option;

	while ((option = getopt(argc, argv, "kc:s:m:")) != -1) {
		if (option == 'k')
			l.keep = true;
		else if (option == 'c')
			count = (int)strtol(optarg, NULL, 10);
		else if (option == 's')
			seconds = strtod(optarg, NULL);
		else if (option == 'm')
			l.least = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (argc - optind < 2 || count < 1 || count > CONNECTIONS)
		errx(2, "usage: [-k] [-c CONNECTIONS] [-s SECONDS] [-m BYTES] SOCKET PATH [BODY]");
	if (strlen(argv[optind]) >= sizeof(l.address.sun_path))
		errx(2, "%s: too long for a socket", argv[optind]);
	memcpy(l.address.sun_path, argv[optind], strlen(argv[optind]) + 1);
	make_request(&l, argv[optind + 1], argv[optind + 2]);
	if (count > 1)
		l.epoll = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < count; i++) {
		all[i] = (struct connection){ .fd = -1, .answer = malloc(ANSWER + 1) };
		if (!all[i].answer)
			err(1, "memory");
	}
	const double took = run(&l, all, count, seconds);
	(void)printf("{\"requests\":%ju,\"rps\":%.1f,\"p50_us\":%.1f,\"p99_us\":%.1f}\n",
		     (uintmax_t)l.done, (double)l.done / took, percentile_us(&l, 0.5),
		     percentile_us(&l, 0.99));
	return 0;
}
