/* SPDX-License-Identifier: MIT */
/* running: what the registry lists, what each of them answers, and `sidecar ps`, which prints it. */

#include "watch/running.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/io.h"
#include "base/jw.h"
#include "base/limits.h"
#include "base/human.h"
#include "base/own.h"
#include "base/utc.h"
#include "cli/where.h"
#include "config/config.h"
#include "config/registry.h"
#include "watch/limits.h"

void subject_name(const struct subject *t, struct buf *out)
{
	if (t->at.path)
		buf_addf(out, "unix:%s", t->at.path);
	else
		buf_addf(out, "tcp:%s:%d", t->at.host, t->at.port);
}

int subject_dial(const struct subject *t, struct cancel *cancel, enum dial_failure *failure,
		 struct err *e)
{
	char room[512];
	struct buf name = buf_over(room, sizeof room);
	struct err why;
	const int fd = dial(&t->at, cancel, io_now_ms() + LIMIT_ASK_MS, failure, &why);

	if (fd >= 0)
		return fd;
	subject_name(t, &name);
	return err_set(e, why.code, "No sidecar is listening on %.*s%s%s", STR_FMT(buf_str(&name)),
		       *why.msg ? ": " : "", why.msg);
}

int subject_request(const struct subject *t, const struct request *q, const char *extra,
		    int64_t silence_ms, struct answer *ret, struct err *e)
{
	const struct patience patience = { silence_ms, IO_FOREVER, q->cancel };
	struct conn_outcome outcome;
	enum dial_failure failure;
	AUTO_BUF fields = { .max = LIMIT_HTTP_HEAD };

	buf_addf(&fields, "Host: localhost\r\nConnection: close\r\n%s", extra ? extra : "");
	if (t->token)
		buf_addf(&fields, "Authorization: Bearer %s\r\n", t->token);
	const int fd = subject_dial(t, q->cancel, &failure, e);
	struct conn *c = fd < 0 ? NULL : conn_new(fd);
	if (fd >= 0 && !c)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory");
	if (!c)
		return -1;
	const int rc = conn_request(c, q, buf_str(&fields), &patience, ret, &outcome, e);
	conn_free(c);
	if (rc == 0 && ret->status == 401)
		return err_set(e, ERR_UNAUTHORIZED,
			       "The sidecar wants a token: give it with --token-file, or in "
			       "SIDECAR_AUTH_TOKEN");
	return rc;
}

const struct json *subject_get(const struct subject *t, const char *url, struct cancel *cancel,
			       struct arena *a, struct err *e)
{
	const struct request q = { .method = "GET", .target = url, .cancel = cancel };
	CLEANUP(answer_done)
	struct answer answer = { .body = { .max = LIMIT_CLIENT_ANSWER + ANSWER_SPARE } };
	const struct json *object;

	if (subject_request(t, &q, NULL, LIMIT_ASK_MS, &answer, e) < 0)
		return NULL;
	const struct str text = arena_dup(a, buf_str(&answer.body));
	if (answer.status != 200)
		(void)err_set(e, ERR_BAD_ANSWER, "The sidecar answered %s with status %d", url,
			      answer.status);
	else if (text.p && json_parse(text, a, &object, e) == 0 && object->type == JSON_OBJECT)
		return object;
	else
		(void)err_set(e, ERR_BAD_ANSWER, "What answered is not a sidecar");
	return NULL;
}

/* One that runs. Everything is in the arena. */
struct running {
	struct running *next;
	struct subject target;
	pid_t pid;
	struct str kind, workspace; /* "serve" or "mcp" */
	struct str client;	    /* of MCP; or empty */
	struct str since;	    /* "2026-05-04T09:13:02Z" */
	int64_t calls, under_way;   /* -1: it does not tell without its token */
};

/* The token that was given, or else the one that the server has made. */
static const char *token_of(const struct subject *t, const char *given, struct arena *a)
{
	char found[REGISTRY_TOKEN + 1];

	if (given || !t->at.host || !registry_find_token(t->at.host, t->at.port, found))
		return given;
	return arena_dup(a, str_of(found)).p;
}

/* Fill in what it says of itself now. */
static void ask(struct running *r, struct arena *a)
{
	struct err e;
	const struct json *health = subject_get(&r->target, "/health", NULL, a, &e);

	r->calls = r->under_way = -1;
	if (!health)
		return;
	r->workspace = json_text(health, STR("workspace"));
	r->client = json_text(health, STR("client"));
	const struct str started = json_text(health, STR("started"));
	r->since = started.n ? started : r->since;
	r->calls = json_int(health, STR("calls"), -1);
	r->under_way = json_int(health, STR("running"), -1);
}

/* How one is asked; false: its socket has a path that cannot be connected to. */
static bool reach(const struct running_at *at, const char *token, struct arena *a,
		  struct subject *ret)
{
	if (at->socket && strlen(at->socket) >= DIAL_PATH_SIZE)
		return false;
	*ret = (struct subject){ .at = { .path = at->socket, .host = at->host, .port = at->port },
				 .pid = at->is_mcp ? at->pid : 0 };
	if (at->needs_token)
		ret->token = token_of(ret, token, a);
	return true;
}

bool running_find(int64_t pid, const char *token, struct arena *a, struct subject *ret)
{
	for (const struct running_at *at = where_list(a); at; at = at->next)
		if (at->pid == pid)
			return reach(at, token, a, ret);
	return false;
}

/* All of them, by pid. `token` is what those that want one are sent; or NULL. */
static struct running *list_running(struct arena *a, const char *token)
{
	struct running *list = NULL, **end = &list;

	for (const struct running_at *at = where_list(a); at; at = at->next) {
		struct running *r = arena_array(a, 1, sizeof *r);
		if (!r || !reach(at, token, a, &r->target))
			continue;
		r->pid = at->pid;
		r->kind = at->is_mcp ? STR("mcp") : STR("serve");
		r->workspace = at->workspace;
		r->since = at->since;
		ask(r, a);
		*end = r;
		end = &r->next;
	}
	return list;
}

static void add_number(struct buf *out, int64_t n)
{
	if (n < 0)
		buf_add(out, STR("      -"));
	else
		buf_addf(out, "%7lld", (long long)n);
}

/* What it says of itself is anything. */
static struct str local_time(struct str iso, char room[HUMAN_SIZE])
{
	int64_t seconds;

	return utc_seconds(iso, &seconds) ? str_of(human_when(seconds, room)) : STR("-");
}

/* Add the end of a path, by which it is known. */
static void add_end(struct buf *out, struct str path, size_t width)
{
	if (path.n > width) {
		path = str_from(path, path.n - width + 1);
		while (path.n && (*path.p & 0xc0) == 0x80)
			path = str_from(path, 1);
		buf_add(out, STR("…"));
		width--;
	}
	columns_cell(out, path, width);
}

enum { CLIENT_WIDTH = 14, SINCE_WIDTH = 19, LEAST_WORKSPACE = 12 };

/* A cell after another, unless it is left out. */
static void add_cell(struct buf *out, struct str text, size_t width)
{
	if (!width)
		return;
	buf_add(out, STR("  "));
	columns_cell(out, text, width);
}

/* Add a table for people. On a narrow terminal the time is left out, then the client. */
static void show(const struct running *list, struct buf *out)
{
	const size_t columns = cli_is_terminal(STDOUT_FILENO) ? columns_of(STDOUT_FILENO) : 0;
	const size_t year = columns ? 5 : 0; /* it says nothing to a person */
	const size_t others = 7 + 2 + 5 + 2 + LEAST_WORKSPACE + 2 + 5 + 2 + 7;
	size_t client = 2 + CLIENT_WIDTH, since = 2 + SINCE_WIDTH - year;
	size_t width = STR("WORKSPACE").n, most = 60;
	char when[HUMAN_SIZE];

	if (columns) {
		since = columns < others + client + since ? 0 : since;
		client = columns < others + client + since ? 0 : client;
		most = columns > others + client + since ? columns - others - client - since : 0;
		most += LEAST_WORKSPACE;
	}
	client = client ? client - 2 : 0;
	since = since ? since - 2 : 0;
	for (const struct running *r = list; r; r = r->next)
		if (r->workspace.n > width)
			width = r->workspace.n < most ? r->workspace.n : most;
	buf_addf(out, "%7s  KIND   %-*s", "PID", (int)width, "WORKSPACE");
	add_cell(out, STR("CLIENT"), client);
	add_cell(out, STR("SINCE"), since);
	buf_addf(out, "  %5s  %7s\n", "CALLS", "RUNNING");
	for (const struct running *r = list; r; r = r->next) {
		buf_addf(out, "%7d  %-5.*s  ", (int)r->pid, STR_FMT(r->kind));
		add_end(out, r->workspace, width);
		add_cell(out, r->client.n ? r->client : STR("-"), client);
		const struct str at = local_time(r->since, when);
		add_cell(out, at.n > year ? str_from(at, year) : at, since);
		add_number(out, r->calls);
		buf_add(out, STR("  "));
		add_number(out, r->under_way);
		buf_addc(out, '\n');
	}
}

/* The one whose workspace holds the directory most closely; NULL: none, or more than one. */
static const struct running *find_here(const struct running *list)
{
	char here[SIDECAR_PATH_MAX];
	const struct running *best = NULL;
	size_t most = 0;

	if (!getcwd(here, sizeof here))
		return NULL;
	for (const struct running *r = list; r; r = r->next) {
		const size_t n = where_holds(r->workspace, str_of(here));
		if (n && n == most)
			best = NULL;
		else if (n > most)
			best = r;
		most = n > most ? n : most;
	}
	return best;
}

static const struct running *find_newest(const struct running *list)
{
	const struct running *newest = list;

	for (const struct running *r = list; r; r = r->next)
		if (str_cmp(r->since, newest->since) > 0)
			newest = r;
	return newest;
}

static int choose(struct cli *c, const struct running *list, int64_t pid, bool any,
		  struct subject *ret)
{
	AUTO_BUF table = { .max = LIMIT_ANSWER };
	const struct running *r = list;

	if (pid)
		while (r && r->pid != pid)
			r = r->next;
	else if (list && list->next)
		r = find_here(list);
	if (!r && !pid && any)
		r = find_newest(list);
	if (r) {
		*ret = r->target;
		return EXIT_OK;
	}
	show(list, &table);
	cli_say(c, pid ? "no sidecar of yours has the pid %lld" : "several sidecars run: say --pid",
		(long long)pid);
	(void)fprintf(stderr, "%.*s", STR_FMT(buf_str(&table)));
	return pid ? EXIT_UNREACHABLE : EXIT_USAGE;
}

/* Whether the server is named, so that it need not be looked for. */
static bool is_named(const struct cli *c)
{
	const char *socket = getenv("SOCKET_PATH"), *host = getenv("TCP_HOST");

	return c->socket || c->url || (socket && *socket) || (host && *host);
}

/* Whether one answers there: perhaps that of another user. */
static bool listens(const struct subject *t)
{
	enum dial_failure failure;
	struct err e;
	AUTO_FD fd = subject_dial(t, NULL, &failure, &e);

	return fd >= 0;
}

/* An agent's sidecar appears with its first call of a tool. */
static struct running *await_first(struct cli *c, const char *token)
{
	struct running *list;

	cli_say(c, "no sidecar of yours runs yet: waiting for an agent's first call");
	while (!(list = list_running(&c->memory, token)))
		(void)poll(NULL, 0, LIMIT_STREAM_PAUSE_MS);
	return list;
}

int running_choose(struct cli *c, int64_t pid, bool any, struct subject *ret)
{
	AUTO_CONFIG config = { 0 };
	struct err e;

	if (cli_locate(c, &config, &e) < 0)
		return cli_misused(c, "%s", e.msg);
	const char *token = config.token ? arena_dup(&c->memory, str_of(config.token)).p : NULL;
	struct running *list = is_named(c) && !pid ? NULL : list_running(&c->memory, token);
	if (list || pid)
		return choose(c, list, pid, any, ret);
	*ret = (struct subject){ .pid = 0 };
	if (config.socket)
		ret->at.path = arena_dup(&c->memory, str_of(config.socket)).p;
	else
		ret->at.host = arena_dup(&c->memory, str_of(config.tcp_host)).p;
	ret->at.port = (int)config.tcp_port;
	ret->token = token_of(ret, token, &c->memory);
	if (ret->at.path && str_of(ret->at.path).n >= DIAL_PATH_SIZE)
		return cli_misused(c, "the path of the socket is too long");
	if (!is_named(c) && !listens(ret))
		return choose(c, await_first(c, token), 0, any, ret);
	return EXIT_OK;
}

static void write_number(struct jw *w, const char *name, int64_t n)
{
	if (n < 0)
		jw_null(w, name);
	else
		jw_int(w, name, n);
}

void running_write(const char *token, struct arena *a, struct buf *out)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_array(&w, "sidecars");
	for (const struct running *r = list_running(a, token); r; r = r->next) {
		AUTO_BUF name = { .max = 1024 };
		subject_name(&r->target, &name);
		jw_object(&w, NULL);
		jw_int(&w, "pid", r->pid);
		jw_str(&w, "kind", r->kind);
		jw_str(&w, "workspace", r->workspace);
		jw_str(&w, "client", r->client);
		jw_str(&w, "since", r->since);
		write_number(&w, "calls", r->calls);
		write_number(&w, "running", r->under_way);
		jw_str(&w, "address", buf_str(&name));
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
}

static int ps_run(struct cli *c, const void *args)
{
	AUTO_CONFIG config = { 0 };
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	struct err e;

	(void)args;
	if (cli_locate(c, &config, &e) < 0)
		return cli_misused(c, "%s", e.msg);
	const struct running *list = c->json ? NULL : list_running(&c->memory, config.token);
	if (c->json)
		running_write(config.token, &c->memory, &out);
	else if (list)
		show(list, &out);
	else
		cli_say(c, "no sidecar of yours runs here; \"sidecar serve\" starts one");
	if (out.n)
		cli_print_line(&out);
	return EXIT_OK;
}

const struct verb verb_ps = {
	.name = "ps",
	.about = "list your running sidecars",
	.operands = "",
	.examples = "  sidecar ps\n"
		    "  sidecar ps --json\n",
	.flags = VERB_PRINTS,
	.run = ps_run,
};
