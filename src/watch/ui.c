/* SPDX-License-Identifier: MIT */
/* ui: `sidecar ui`, a loopback port on which a browser can see the sidecars of a user. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/thread.h"
#include "config/config.h"
#include "config/registry.h"
#include "net/http_parse.h"
#include "net/listen.h"
#include "watch/limits.h"
#include "watch/running.h"

/* proxy: carries a browser's requests to sidecars.
 *
 *	/ui, /events …		the sidecar that was meant when it was started
 *	/4711/ui, /4711/events	the one of that pid
 *	/sidecars		the list of them, which is answered here
 *
 * A browser can connect to a loopback port and to nothing else, and so can every page that it shows
 * and every user of this machine. So a request is carried only if
 *
 *	its Host is this port (a name that another site has made to point here is not),
 *	its Origin, if it has one, is this port,
 *	it is for a route of those who watch (registry_shows), and
 *	it has the secret as its bearer token; except for /ui, the page, which has no data. HEAD of
 *	it is answered here: it says whether the secret is missing.
 *
 * It is written anew, with the token that the sidecar wants, and has a connection of its own to the
 * sidecar. What comes back is carried as it is. Each connection has a thread; a client that does
 * not read stops only its own.
 */

enum { PROXY_SECRET = 64 }; /* characters: 256 random bits */

struct proxy {
	struct subject target;
	const char *token; /* for those that want one; or NULL */
	int64_t port;	   /* that browsers connect to */
	char secret[PROXY_SECRET + 1];
	_Atomic int count; /* connections */
};

enum { LINGER_MS = 1000 };

/* One connection. */
struct carried {
	struct proxy *proxy;
	int client, server;
	struct http_head head;	  /* its path is without the pid */
	int64_t pid;		  /* 0: none is named */
	char in[LIMIT_HTTP_HEAD]; /* the head, and what of the body came with it */
	size_t in_n, head_n;
};

/* Set the secret. */
static void proxy_init(struct proxy *p, const struct subject *t, int64_t port)
{
	unsigned char random[PROXY_SECRET / 2];

	p->target = *t;
	p->port = port;
	p->count = 0;
	io_random(random, sizeof random);
	for (size_t i = 0; i < sizeof random; i++)
		(void)snprintf(p->secret + 2 * i, 3, "%02x", random[i]);
}

/* Let the client read an answer before the connection is reset by what it still sends. */
static void linger(int fd)
{
	const int64_t deadline = io_now_ms() + LINGER_MS;
	char rest[4096];

	(void)shutdown(fd, SHUT_WR);
	while (io_wait(fd, POLLIN, deadline) > 0 && recv(fd, rest, sizeof rest, MSG_DONTWAIT) > 0)
		;
}

/* `extra` is header lines, each with its CRLF. */
static void send_answer(int fd, const char *status, const char *extra, struct str body)
{
	AUTO_BUF out = { .max = LIMIT_ANSWER };

	buf_addf(&out,
		 "HTTP/1.1 %s\r\nContent-Type: application/json; charset=utf-8\r\n"
		 "X-Content-Type-Options: nosniff\r\n"
		 "Content-Length: %zu\r\nCache-Control: no-store\r\nConnection: close\r\n%s\r\n",
		 status, body.n, extra);
	buf_add(&out, body);
	(void)io_write_all(fd, buf_str(&out), io_now_ms() + LINGER_MS);
	linger(fd);
}

static void refuse(int fd, const char *status, const char *extra, const char *sentence)
{
	AUTO_BUF body = { .max = 4096 };
	struct jw w = jw_to(&body);

	jw_object(&w, NULL);
	jw_bool(&w, "ok", false);
	jw_str(&w, "error", str_of(sentence));
	jw_end(&w);
	send_answer(fd, status, extra, buf_str(&body));
}

/* Read the head. False: it did not come, or was answered. */
static bool read_head(struct carried *c)
{
	const int64_t deadline = io_now_ms() + LIMIT_PROXY_HEAD_MS;
	struct http_scan scan = { 0 };
	struct http_refusal why;

	for (;;) {
		if (io_wait(c->client, POLLIN, deadline) != 1)
			return false;
		const ssize_t got =
			recv(c->client, c->in + c->in_n, sizeof c->in - c->in_n, MSG_DONTWAIT);
		if (got <= 0 && !(got < 0 && (errno == EAGAIN || errno == EINTR)))
			return false;
		c->in_n += got > 0 ? (size_t)got : 0;
		const int n =
			http_parse_head((struct str){ c->in, c->in_n }, &scan, &c->head, &why);
		if (n > 0) {
			c->head_n = (size_t)n;
			return true;
		}
		if (n == 0 && c->in_n < sizeof c->in)
			continue;
		char status[64];
		(void)snprintf(status, sizeof status, "%d Bad Request", n < 0 ? why.status : 431);
		refuse(c->client, status, "", n < 0 ? why.sentence : "The head is too long");
		return false;
	}
}

/* Whether a Host, or an Origin without its "http://", is this port. */
static bool is_here(const struct proxy *p, struct str host)
{
	char here[64];

	(void)snprintf(here, sizeof here, "127.0.0.1:%lld", (long long)p->port);
	if (str_eq(host, str_of(here)))
		return true;
	(void)snprintf(here, sizeof here, "localhost:%lld", (long long)p->port);
	return str_eq_nocase(host, str_of(here));
}

static bool has_secret(const struct carried *c)
{
	struct str scheme, token;

	(void)str_cut(http_header(&c->head, STR("authorization")), ' ', &scheme, &token);
	return str_eq_nocase(scheme, STR("bearer")) && token.n &&
	       str_eq_secret(str_trim(token), str_of(c->proxy->secret));
}

/* The page itself, which has no data. */
static bool is_page(const struct http_head *h)
{
	return (h->method == HTTP_GET || h->method == HTTP_HEAD) && str_eq(h->path, STR("/ui"));
}

/* Take "/4711" off the path. */
static void take_pid(struct carried *c)
{
	struct str number, rest;
	int64_t pid;

	if (c->head.path.n < 2 || !str_cut(str_from(c->head.path, 1), '/', &number, &rest) ||
	    !str_int(number, &pid) || pid <= 0)
		return;
	c->pid = pid;
	c->head.path = str_from(c->head.path, number.n + 1);
}

static void send_list(const struct carried *c)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	AUTO_BUF list = { .max = LIMIT_ANSWER };

	running_write(c->proxy->token, &memory, &list);
	send_answer(c->client, "200 OK", "", buf_str(&list));
}

#define ASKS "WWW-Authenticate: Bearer\r\n"
#define ALL  "Sidecar-All: sidecars\r\n" /* where the page asks for the list */

/* Whether it may be carried; else it has been answered. */
static bool check(const struct carried *c)
{
	const struct http_head *h = &c->head;
	const struct str origin = http_header(h, STR("origin")), http = STR("http://");

	if (!is_here(c->proxy, h->host))
		refuse(c->client, "403 Forbidden", "", "Forbidden: this Host is not allowed");
	else if (origin.p &&
		 !(str_starts(origin, http) && is_here(c->proxy, str_from(origin, http.n))))
		refuse(c->client, "403 Forbidden", "", "Forbidden: this Origin is not allowed");
	else if (is_page(h) && h->method == HTTP_HEAD)
		send_answer(c->client, "200 OK", has_secret(c) ? ALL : ALL ASKS, STR(""));
	else if (!is_page(h) && !has_secret(c))
		refuse(c->client, "401 Unauthorized", ASKS,
		       "Unauthorized: open the address that \"sidecar ui\" has printed");
	else if (h->method == HTTP_GET && !c->pid && str_eq(h->path, STR("/sidecars")))
		send_list(c);
	else if (!registry_shows(h->path))
		refuse(c->client, "404 Not Found", "", "Not found: the page is at /ui");
	else if (h->chunked)
		refuse(c->client, "411 Length Required", "", "The body needs a Content-Length");
	else
		return true;
	return false;
}

/* Whether a header of the client is for the sidecar. Others are about this connection, or say who
 * the client is to this port. */
static bool is_passed_on(struct str name)
{
	static const struct str passed[] = { STR("accept"),	     STR("accept-encoding"),
					     STR("accept-language"), STR("content-length"),
					     STR("content-type"),    STR("if-none-match"),
					     STR("last-event-id"),   STR("user-agent") };

	for (size_t i = 0; i < ARRAY_LEN(passed); i++)
		if (str_eq_nocase(name, passed[i]))
			return true;
	return false;
}

static void write_head(const struct carried *c, const char *token, struct buf *out)
{
	const struct http_head *h = &c->head;

	buf_addf(out, "%.*s %.*s%s%.*s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n",
		 STR_FMT(h->method_name), STR_FMT(h->path), h->query.n ? "?" : "",
		 STR_FMT(h->query));
	if (token)
		buf_addf(out, "Authorization: Bearer %s\r\n", token);
	for (size_t i = 0; i < h->header_count; i++)
		if (is_passed_on(h->headers[i].name))
			buf_addf(out, "%.*s: %.*s\r\n", STR_FMT(h->headers[i].name),
				 STR_FMT(h->headers[i].value));
	buf_add(out, STR("\r\n"));
}

/* Bytes on their way in one direction. */
struct flow {
	int from, to;
	int64_t left; /* bytes to be taken; -1: until the end */
	bool over;    /* nothing more is taken */
	size_t at, n; /* the bytes that wait to be sent */
	char bytes[LIMIT_PROXY_PIECE];
};

static bool is_done(const struct flow *f)
{
	return f->over && f->at == f->n;
}

/* Take and send what can be, without waiting. False: one of the two has gone. */
static bool move(struct flow *f)
{
	if (f->at == f->n && !f->over) {
		const size_t most = f->left < 0 || f->left > LIMIT_PROXY_PIECE ? LIMIT_PROXY_PIECE
									       : (size_t)f->left;
		const ssize_t n = recv(f->from, f->bytes, most, MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		f->at = 0;
		f->n = (size_t)n;
		if (f->left > 0)
			f->left -= n;
		f->over = n == 0 || f->left == 0;
	}
	if (f->at == f->n)
		return true;
	const ssize_t n = send(f->to, f->bytes + f->at, f->n - f->at, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	f->at += (size_t)n;
	return true;
}

/* Wait until one of the two can go on. False: a connection is broken. The end of what a client
 * sends is not the end of what it wants to read. */
static bool wait_for(const struct flow *up, const struct flow *down)
{
	const bool up_waits = up->at < up->n, down_waits = down->at < down->n;
	struct pollfd p[] = {
		{ .fd = down->to,
		  .events = (short)((down_waits ? POLLOUT : 0) |
				    (up->over || up_waits ? 0 : POLLIN)) },
		{ .fd = up->to,
		  .events = (short)((up_waits ? POLLOUT : 0) |
				    (down->over || down_waits ? 0 : POLLIN)) },
	};

	if (poll(p, ARRAY_LEN(p), -1) < 0)
		return errno == EINTR;
	return !(p[0].revents & (POLLERR | POLLHUP | POLLNVAL)) &&
	       !(p[1].revents & (POLLERR | POLLNVAL));
}

static void carry(const struct carried *c, const char *token)
{
	struct flow *up = mem_new(2, sizeof *up), *down = up ? up + 1 : NULL;
	const struct str body = { c->in + c->head_n, c->in_n - c->head_n };
	const int64_t length = c->head.content_length > 0 ? c->head.content_length : 0;
	AUTO_BUF head = { .max = 2 * (size_t)LIMIT_HTTP_HEAD };

	write_head(c, token, &head);
	buf_add(&head, str_upto(body, (size_t)length));
	if (up && !head.failed &&
	    io_write_all(c->server, buf_str(&head), io_now_ms() + LIMIT_PROXY_HEAD_MS) == 0) {
		up->from = down->to = c->client;
		up->to = down->from = c->server;
		up->left = length > (int64_t)body.n ? length - (int64_t)body.n : 0;
		up->over = up->left == 0;
		down->left = -1;
		while (move(up) && move(down) && !is_done(down) && wait_for(up, down))
			;
		if (is_done(down))
			linger(c->client);
	}
	mem_free(up);
}

/* Connect to the sidecar that is asked for, and carry. */
static void pass_on(struct carried *c)
{
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	struct subject target = c->proxy->target;
	enum dial_failure failure;
	struct err e;

	if (c->pid && !running_find(c->pid, c->proxy->token, &memory, &target)) {
		refuse(c->client, "502 Bad Gateway", "",
		       "This sidecar has ended: \"sidecar ps\" lists those that run");
		return;
	}
	c->server = subject_dial(&target, NULL, &failure, &e);
	if (c->server < 0)
		refuse(c->client, "502 Bad Gateway", "", e.msg);
	else
		carry(c, target.token);
}

static void *serve_client(void *arg)
{
	struct carried *c = arg;
	struct proxy *p = c->proxy;

	c->server = -1;
	if (read_head(c)) {
		take_pid(c);
		if (check(c))
			pass_on(c);
	}
	fd_closep(&c->server);
	fd_closep(&c->client);
	mem_free(c);
	p->count--;
	return NULL;
}

/* Serve a connection, in a thread of its own. The descriptor is the proxy's; *p must outlive the
 * process. If there are too many the client is told so. */
static void proxy_take(struct proxy *p, int fd)
{
	struct carried *c = p->count < LIMIT_PROXIED ? mem_new(1, sizeof *c) : NULL;

	if (c) {
		c->proxy = p;
		c->client = fd;
		p->count++;
		if (thread_start(serve_client, c, LIMIT_PROXY_STACK, NULL))
			return;
		p->count--;
		mem_free(c);
	}
	const struct str busy = STR("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
				    "Connection: close\r\n\r\n");
	(void)!send(fd, busy.p, busy.n, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)close(fd);
}

struct ui_args {
	int64_t pid;
	bool no_open;
};

static const struct option ui_options[] = {
	{ "pid", 'p', OPTION_NUMBER, offsetof(struct ui_args, pid), "PID",
	  "the sidecar of this process (\"sidecar ps\" lists them)" },
	{ "no-open", 0, OPTION_SWITCH, offsetof(struct ui_args, no_open), NULL,
	  "only print the address" },
	OPTION_END,
};

/* Every user can read what stands on a command line: the address stands in a page that leads to it.
 */
static int write_page(const char *url, struct registry_entry *ret, struct err *e)
{
	char name[32], text[256];

	(void)snprintf(name, sizeof name, "ui-%d.html", (int)getpid());
	(void)snprintf(text, sizeof text,
		       "<!DOCTYPE html>\n<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
		       url);
	return registry_keep(name, str_of(text), ret, e);
}

/* Let the desktop, if there is one, open the address. */
static void open_browser(const struct cli *c, const char *url, struct registry_entry *page)
{
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	char program[] = "xdg-open";
	char *const argv[] = { program, page->path, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	struct err e;

	if (!(x11 && *x11) && !(wayland && *wayland))
		return;
	if (write_page(url, page, &e) < 0) {
		cli_say(c, "no browser is opened: %s", e.msg);
		return;
	}
	if (posix_spawn_file_actions_init(&actions) != 0)
		return;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	(void)posix_spawnp(&pid, program, &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
}

static void say_address(const struct cli *c, const char *url)
{
	AUTO_BUF out = { .max = 1024 };
	struct jw w = jw_to(&out);

	if (c->json) {
		jw_object(&w, NULL);
		jw_str(&w, "url", str_of(url));
		jw_end(&w);
	} else {
		buf_add(&out, str_of(url));
	}
	cli_print_line(&out);
	cli_say(c, "who knows this address can watch, stop calls and undo changes; Ctrl-C ends it");
}

static void accept_clients(struct proxy *p, int listener, int signals)
{
	struct pollfd fds[] = { { .fd = listener, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };

	while (poll(fds, ARRAY_LEN(fds), -1) >= 0 && !fds[1].revents) {
		const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			proxy_take(p, fd);
		else
			io_sleep_ms(1); /* it has gone, or there are no descriptors */
	}
}

/* Ctrl-C and the like, to be read from a descriptor; children need not be waited for. */
static int open_signals(void)
{
	sigset_t set;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGCHLD, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int ui_run(struct cli *c, const void *args)
{
	const struct ui_args *a = args;
	struct proxy *proxy = arena_array(&c->memory, 1, sizeof *proxy);
	struct subject target;
	struct listener listener;
	int64_t port = 0;
	char url[128];
	struct registry_entry page = { .lock = -1 };
	AUTO_CONFIG config = { 0 };
	struct err e;

	const int status = running_choose(c, a->pid, true, &target);
	if (status != EXIT_OK)
		return status;
	if (cli_locate(c, &config, &e) < 0)
		return cli_misused(c, "%s", e.msg);
	if (!subject_get(&target, "/health", NULL, &c->memory, &e)) {
		cli_say(c, "%s", e.msg);
		return cli_status(err_name(e.code));
	}
	if (listen_tcp("127.0.0.1", &port, &listener, &e) < 0) {
		cli_say(c, "%s", e.msg);
		return EXIT_FAILED;
	}
	if (!proxy)
		return EXIT_FAILED;
	proxy_init(proxy, &target, port);
	proxy->token = config.token;
	(void)snprintf(url, sizeof url, "http://127.0.0.1:%lld/ui#%s", (long long)port,
		       proxy->secret);
	if (!a->no_open)
		open_browser(c, url, &page);
	AUTO_FD signals = open_signals();
	say_address(c, url);
	accept_clients(proxy, listener.fd, signals);
	listener_done(&listener);
	registry_leave(&page);
	/* Threads still use what belongs to this one. */
	_exit(EXIT_OK);
}

const struct verb verb_ui = {
	.name = "ui",
	.about = "show your running sidecars in the browser",
	.operands = "",
	.examples = "  sidecar ui\n"
		    "  sidecar ui --pid 4711 --no-open\n"
		    "  sidecar ui --socket /run/sidecar/sidecar.sock\n",
	.options = ui_options,
	.args_size = sizeof(struct ui_args),
	.flags = VERB_FINDS | VERB_PRINTS,
	.run = ui_run,
};
