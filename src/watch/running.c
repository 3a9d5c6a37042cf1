/* SPDX-License-Identifier: MIT */
/* running: what the registry lists, and what each of them answers. */

#include "watch/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/address.h"
#include "base/columns.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utc.h"
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
	if (answer.status == 401)
		(void)err_set(e, ERR_UNAUTHORIZED,
			      "The sidecar wants a token: give it with --token-file, or in "
			      "SIDECAR_AUTH_TOKEN");
	else if (answer.status != 200)
		(void)err_set(e, ERR_BAD_ANSWER, "The sidecar answered %s with status %d", url,
			      answer.status);
	else if (text.p && json_parse(text, a, &object, e) == 0 && object->type == JSON_OBJECT)
		return object;
	else
		(void)err_set(e, ERR_BAD_ANSWER, "What answered is not a sidecar");
	return NULL;
}

/* Where it listens, from what it has entered. False: by nothing that this program can use. */
static bool find_target(const struct registry_found *f, const struct json *entry, struct arena *a,
			struct subject *ret)
{
	const struct str socket = f->socket.n ? f->socket : json_text(entry, STR("socket"));
	struct str host;
	int64_t port;

	if (socket.n && socket.n < DIAL_PATH_SIZE) {
		ret->at.path = arena_dup(a, socket).p;
		return ret->at.path;
	}
	if (!address_split(json_text(entry, STR("tcp")), &host, &port))
		return false;
	/* What listens everywhere listens here. */
	if (str_eq(host, STR("0.0.0.0")) || str_eq(host, STR("::")))
		host = STR("127.0.0.1");
	ret->at.host = arena_dup(a, host).p;
	ret->at.port = (int)port;
	return ret->at.host;
}

/* The token that was given, or else the one that the server has made. */
static const char *token_of(const struct subject *t, const char *given, struct arena *a)
{
	char found[REGISTRY_TOKEN + 1];

	if (given || !t->at.host || !registry_find_token(t->at.host, t->at.port, found))
		return given;
	return arena_dup(a, str_of(found)).p;
}

static struct str since_uptime(int64_t uptime_ms, struct arena *a)
{
	char text[UTC_TEXT];

	return arena_dup(a, utc_iso(time(NULL) - uptime_ms / 1000, 0, text));
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
	r->since = since_uptime(cli_number(health, STR("uptimeMs"), 0), a);
	r->calls = cli_number(health, STR("calls"), -1);
	r->under_way = cli_number(health, STR("running"), -1);
}

static void insert(struct running **list, struct running *r)
{
	while (*list && (*list)->pid < r->pid)
		list = &(*list)->next;
	r->next = *list;
	*list = r;
}

struct running *running_list(struct arena *a, const char *token)
{
	struct running *list = NULL;
	struct err e;

	for (const struct registry_found *f = registry_list(a); f; f = f->next) {
		const struct json *entry = &json_empty;
		struct running *r = arena_array(a, 1, sizeof *r);
		if (!r || (f->object.n && json_parse(f->object, a, &entry, &e) < 0) ||
		    !find_target(f, entry, a, &r->target))
			continue;
		r->pid = f->pid;
		r->kind = f->socket.n ? STR("mcp") : STR("serve");
		r->target.pid = f->socket.n ? f->pid : 0;
		r->workspace = json_text(entry, STR("workspace"));
		r->since = json_text(entry, STR("since"));
		if (cli_truth(entry, STR("token")))
			r->target.token = token_of(&r->target, token, a);
		ask(r, a);
		insert(&list, r);
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

void running_show(const struct running *list, struct buf *out)
{
	size_t width = STR("WORKSPACE").n;

	for (const struct running *r = list; r; r = r->next)
		if (r->workspace.n > width)
			width = r->workspace.n < 60 ? r->workspace.n : 60;
	buf_addf(out, "%7s  KIND   %-*s  %-14s  %-19s  %5s  %7s\n", "PID", (int)width, "WORKSPACE",
		 "CLIENT", "SINCE (UTC)", "CALLS", "RUNNING");
	for (const struct running *r = list; r; r = r->next) {
		buf_addf(out, "%7d  %-5.*s  ", (int)r->pid, STR_FMT(r->kind));
		columns_cell(out, r->workspace, width);
		buf_add(out, STR("  "));
		columns_cell(out, r->client.n ? r->client : STR("-"), 14);
		buf_add(out, STR("  "));
		/* "2026-05-04T09:13:02" without the T */
		columns_cell(out, str_upto(r->since, 10), 10);
		buf_addc(out, ' ');
		columns_cell(out, str_upto(str_from(r->since, 11), 8), 8);
		add_number(out, r->calls);
		buf_add(out, STR("  "));
		add_number(out, r->under_way);
		buf_addc(out, '\n');
	}
}

/* How many bytes of the directory's path the workspace covers; 0: it does not hold it. */
static size_t holds(struct str workspace, struct str directory)
{
	if (!workspace.n || !str_starts(directory, workspace))
		return 0;
	const bool ends =
		directory.n == workspace.n || workspace.n == 1 || directory.p[workspace.n] == '/';
	return ends ? workspace.n : 0;
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
		const size_t n = holds(r->workspace, str_of(here));
		if (n && n == most)
			best = NULL;
		else if (n > most)
			best = r;
		most = n > most ? n : most;
	}
	return best;
}

static int choose(struct cli *c, const struct running *list, int64_t pid, struct subject *ret)
{
	AUTO_BUF table = { .max = LIMIT_ANSWER };
	const struct running *r = list;

	if (pid)
		while (r && r->pid != pid)
			r = r->next;
	else if (list && list->next)
		r = find_here(list);
	if (r) {
		*ret = r->target;
		return EXIT_OK;
	}
	running_show(list, &table);
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

int running_choose(struct cli *c, int64_t pid, struct subject *ret)
{
	AUTO_CONFIG config = { 0 };
	struct err e;

	if (cli_locate(c, &config, &e) < 0)
		return cli_misused(c, "%s", e.msg);
	const char *token = config.token ? arena_dup(&c->memory, str_of(config.token)).p : NULL;
	struct running *list = is_named(c) && !pid ? NULL : running_list(&c->memory, token);
	if (list || pid)
		return choose(c, list, pid, ret);
	/* None is known: perhaps that of another user, where it usually is. */
	*ret = (struct subject){ .pid = 0 };
	if (config.socket)
		ret->at.path = arena_dup(&c->memory, str_of(config.socket)).p;
	else
		ret->at.host = arena_dup(&c->memory, str_of(config.tcp_host)).p;
	ret->at.port = (int)config.tcp_port;
	ret->token = token_of(ret, token, &c->memory);
	if (ret->at.path && str_of(ret->at.path).n >= DIAL_PATH_SIZE)
		return cli_misused(c, "the path of the socket is too long");
	return EXIT_OK;
}
