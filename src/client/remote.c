/* SPDX-License-Identifier: MIT */
/* remote: connections to one sidecar, kept and made again, and which requests are sent again. */

#include "client/client.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/io.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/own.h"
#include "client/connection.h"
#include "client/limits.h"
#include "config/registry.h"
#include "net/dial.h"

/*
 * Connections kept for the next call.
 *
 * Threads share them without a lock, because a child of fork would wait forever for a lock that
 * another thread of its parent held. A child does not use its parent's connections.
 */
struct pool {
	struct conn *_Atomic idle[LIMIT_IDLE_CONNECTIONS]; /* or NULL */
};

struct remote {
	struct dial_target target;
	struct arena strings; /* of the settings */
	const char *address;
	struct str fields; /* header lines of every request */
	int64_t wait_ms, timeout_ms;
	bool no_wait;	  /* for a sidecar that is not there */
	bool finds_token; /* none was given: of each connection, the one that its server has made */

	struct pool pool;
	_Atomic bool ready; /* the sidecar said so, and no connection to it was lost since */
};

/* A connection that is as it was left; or NULL. Sets *stale if it found one that the server has
 * closed. */
static struct conn *pool_take(struct pool *p, bool *stale)
{
	const int64_t oldest = io_now_ms() - LIMIT_IDLE_REUSE_MS;
	const pid_t self = getpid();

	for (size_t i = 0; i < ARRAY_LEN(p->idle); i++) {
		struct conn *c = atomic_exchange(&p->idle[i], NULL);
		if (!c)
			continue;
		const bool own = c->owner == self;
		if (own && c->idle_since_ms >= oldest && conn_is_quiet(c))
			return c;
		/* After fork: closing it here leaves the parent's open. */
		conn_free(c);
		*stale |= own;
	}
	return NULL;
}

/* Keep the connection, or close it if enough are kept. */
static void pool_keep(struct pool *p, struct conn *c)
{
	c->idle_since_ms = io_now_ms();
	for (size_t i = 0; i < ARRAY_LEN(p->idle); i++) {
		struct conn *none = NULL;
		if (atomic_compare_exchange_strong(&p->idle[i], &none, c))
			return;
	}
	conn_free(c);
}

static int cancelled(struct err *e)
{
	return err_set(e, ERR_CANCELLED, "The call was cancelled");
}

static int check(const struct sidecar_settings *s, struct err *e)
{
	if (s->socket_path && s->host)
		return err_set(e, ERR_INVALID_CONFIG,
			       "Give a socket path or a TCP host and port, not both");
	if (!s->socket_path && !s->host)
		return err_set(e, ERR_INVALID_CONFIG,
			       "Give a socket path or a TCP host and port; neither is set");
	if (s->socket_path && *s->socket_path != '/')
		return err_set(e, ERR_INVALID_CONFIG,
			       "The socket path must be absolute, not \"%s\"", s->socket_path);
	if (s->socket_path && strlen(s->socket_path) >= DIAL_PATH_SIZE)
		return err_set(e, ERR_INVALID_CONFIG,
			       "The socket path must be shorter than %d bytes", DIAL_PATH_SIZE);
	if (s->host && (!*s->host || !client_is_graphic(s->host)))
		return err_set(e, ERR_INVALID_CONFIG, "The TCP host must be a name or an address");
	if (s->host && (s->port < 1 || s->port > 65535))
		return err_set(e, ERR_INVALID_CONFIG,
			       "The TCP port must be from 1 to 65535, not %d", s->port);
	if (s->token && (!*s->token || !client_is_graphic(s->token)))
		return err_set(e, ERR_INVALID_CONFIG,
			       "The token must be visible ASCII characters without blanks");
	if (s->wait_for_ready_ms < 0 || s->wait_for_ready_ms > LIMIT_READY_MOST_MS)
		return err_set(e, ERR_INVALID_CONFIG,
			       "The time to wait for readiness must be from 0 to %d ms",
			       LIMIT_READY_MOST_MS);
	if (s->timeout_ms < 0)
		return err_set(e, ERR_INVALID_CONFIG, "The timeout must not be negative");
	return 0;
}

static const char *copy(struct remote *r, const char *text)
{
	return text ? arena_dup(&r->strings, str_of(text)).p : NULL;
}

/* Set the address to show and the header lines; both come from the target. */
static void set_address(struct remote *r, const char *token)
{
	AUTO_BUF b = { .max = LIMIT_HTTP_HEAD };
	const char *host = r->target.host;
	const bool ipv6 = host && strchr(host, ':');

	if (host)
		buf_addf(&b, "%s%s%s:%d", ipv6 ? "[" : "", host, ipv6 ? "]" : "", r->target.port);
	else
		buf_add(&b, STR("localhost"));
	const struct str at = arena_dup(&r->strings, buf_str(&b));
	buf_reset(&b, SIZE_MAX);
	buf_addf(&b, "%s:%s", host ? "tcp" : "unix", host ? at.p : r->target.path);
	r->address = arena_dup(&r->strings, buf_str(&b)).p;
	buf_reset(&b, SIZE_MAX);
	buf_addf(&b, "Host: %.*s\r\n", STR_FMT(at));
	if (token)
		buf_addf(&b, "Authorization: Bearer %s\r\n", token);
	r->fields = arena_dup(&r->strings, buf_str(&b));
	r->strings.failed |= b.failed;
}

struct remote *remote_new(const struct sidecar_settings *settings, struct err *e)
{
	if (check(settings, e) < 0)
		return NULL;
	struct remote *r = mem_new(1, sizeof *r);
	if (!r) {
		(void)err_set(e, ERR_TOO_BUSY, "Not enough memory for the executor");
		return NULL;
	}
	*r = (struct remote){
		.strings = { .max = 64 << 10 },
		.wait_ms =
			settings->wait_for_ready_ms ? settings->wait_for_ready_ms : LIMIT_READY_MS,
		.timeout_ms = settings->timeout_ms,
		.no_wait = settings->no_wait,
		.finds_token = settings->host && !settings->token,
	};
	r->target = (struct dial_target){
		.path = copy(r, settings->socket_path),
		.host = copy(r, settings->host),
		.port = settings->port,
	};
	set_address(r, settings->token);
	if (!r->strings.failed)
		return r;
	(void)err_set(e, ERR_INVALID_CONFIG, "The settings are too long");
	remote_free(r);
	return NULL;
}

void remote_free(struct remote *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < ARRAY_LEN(r->pool.idle); i++)
		conn_free(r->pool.idle[i]);
	arena_done(&r->strings);
	mem_free(r);
}

const char *remote_address(const struct remote *r)
{
	return r->address;
}

static bool says_ok(struct str body)
{
	AUTO_ARENA arena = { .max = 1 << 20 };
	const struct json *root;
	struct err ignored;

	return json_parse(body, &arena, &root, &ignored) == 0 && json_is_true(root, STR("ok"));
}

/* Ask the server for its health. 1: it may be used; 0: not yet, and *e says why (TIMED_OUT if it is
 * silent); -1: there is no use in asking again. */
static int check_health(struct remote *r, struct conn *c, struct cancel *cancel,
			int64_t deadline_ms, struct err *e)
{
	const struct request q = { .method = "GET", .target = "/health", .cancel = cancel };
	const struct patience p = { .deadline_ms = deadline_ms, .cancel = cancel };
	CLEANUP(answer_done) struct answer a = { .body = { .max = 1 << 20 } };
	struct conn_outcome outcome;

	const int rc = conn_request(c, &q, r->fields, &p, &a, &outcome, e);
	if (rc < 0 && e->code == ERR_TIMED_OUT)
		return 0;
	if (rc < 0 && e->code == ERR_CONNECTION_LOST)
		(void)err_set(e, ERR_NOT_READY, "it closes connections without an answer");
	if (rc < 0)
		return e->code == ERR_NOT_READY ? 0 : -1;
	if (a.status == 401 || a.status == 403)
		return err_set(
			e, ERR_UNAUTHORIZED,
			"The sidecar at %s does not accept this client: the token is missing "
			"or wrong, or this user or host may not connect",
			r->address);
	if (a.status != 200)
		(void)err_set(e, ERR_NOT_READY, "GET /health is answered with status %d", a.status);
	else if (!says_ok(buf_str(&a.body)))
		(void)err_set(e, ERR_NOT_READY, "GET /health is not answered with \"ok\":true");
	else if (!outcome.reusable)
		(void)err_set(e, ERR_NOT_READY, "it closes the connection after GET /health");
	else
		return 1;
	return 0;
}

/* The sentence for a client that does not wait. */
static int not_there(const struct remote *r, enum dial_failure failure, struct err *e)
{
	const char *at = r->address + (r->target.path ? STR("unix:").n : STR("tcp:").n);
	const struct err why = *e;

	if (failure == DIAL_ABSENT)
		return err_set(e, ERR_NOT_READY, "No sidecar is listening on %s", at);
	if (failure == DIAL_NEVER)
		return -1;
	return err_set(e, ERR_NOT_READY, "Cannot connect to %s: %.250s", at, why.msg);
}

/* Try once to make a connection that may be used. Returns as check_health; 1: it is in *ret. */
static int try_connect(struct remote *r, struct cancel *cancel, int64_t deadline_ms,
		       struct conn **ret, struct err *e)
{
	enum dial_failure failure;
	const int fd = dial(&r->target, cancel, deadline_ms, &failure, e);

	if (fd < 0 && r->no_wait && e->code == ERR_NOT_READY)
		return not_there(r, failure, e);
	if (fd < 0)
		return failure != DIAL_NEVER && e->code == ERR_NOT_READY ? 0 : -1;
	struct conn *c = conn_new(fd);
	if (!c)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for a connection");
	if (r->finds_token)
		(void)registry_find_token(r->target.host, r->target.port, c->token);
	const int rc = r->ready ? 1 : check_health(r, c, cancel, deadline_ms, e);
	if (rc == 1) {
		r->ready = true;
		*ret = c;
	} else {
		conn_free(c);
	}
	return rc;
}

/* Make a connection that may be used; try until the deadline. */
static int connect_by(struct remote *r, struct cancel *cancel, int64_t deadline_ms,
		      struct conn **ret, struct err *e)
{
	struct err last, why = { .msg = "" };

	for (int64_t now = 0; now < deadline_ms;) {
		const int rc = try_connect(r, cancel, deadline_ms, ret, &last);
		if (rc < 0)
			*e = last;
		if (rc != 0)
			return rc < 0 ? -1 : 0;
		/* The last attempt may only have run out of time; then report the one before. */
		if (last.code != ERR_TIMED_OUT)
			why = last;
		else if (!*why.msg)
			(void)err_set(&why, ERR_NOT_READY,
				      "it accepts connections and does not answer");
		now = io_now_ms();
		const int64_t next = now + LIMIT_READY_PAUSE_MS;
		if (io_wait_or(-1, 0, cancel, next < deadline_ms ? next : deadline_ms) ==
		    IO_CANCELLED)
			return cancelled(e);
	}
	return err_set(e, ERR_NOT_READY, "Timed out waiting for coding sidecar at %s%s%.250s",
		       r->address, *why.msg ? ": " : "", why.msg);
}

int remote_ensure_ready(struct remote *r, struct err *e)
{
	struct conn *c = NULL;

	r->ready = false;
	if (connect_by(r, NULL, io_now_ms() + r->wait_ms, &c, e) < 0)
		return -1;
	pool_keep(&r->pool, c);
	return 0;
}

/* Send the request once, on a kept connection or a new one. */
static int attempt(struct remote *r, const struct request *q, int64_t *deadline_ms,
		   struct answer *ret, struct conn_outcome *outcome, struct err *e)
{
	const struct patience p = {
		.silence_ms = r->timeout_ms,
		.deadline_ms = IO_FOREVER,
		.cancel = q->cancel,
	};
	bool stale = false;

	*outcome = (struct conn_outcome){ .sent = false };
	if (cancel_asked(q->cancel))
		return cancelled(e);
	struct conn *c = pool_take(&r->pool, &stale);
	if (stale)
		r->ready = false;
	if (!c) {
		if (*deadline_ms == IO_FOREVER)
			*deadline_ms = io_now_ms() + r->wait_ms;
		if (connect_by(r, q->cancel, *deadline_ms, &c, e) < 0)
			return -1;
	}
	const int rc = conn_request(c, q, r->fields, &p, ret, outcome, e);
	if (rc == 0 && outcome->reusable)
		pool_keep(&r->pool, c);
	else
		conn_free(c);
	return rc;
}

int remote_call(struct remote *r, const struct request *q, struct answer *ret, struct err *e)
{
	int64_t deadline_ms = IO_FOREVER; /* for connecting; set when that becomes necessary */
	struct conn_outcome outcome;
	UNINITIALISED struct err why;

	for (int lost = 0;;) {
		if (attempt(r, q, &deadline_ms, ret, &outcome, &why) == 0)
			return 0;
		if (why.code != ERR_CONNECTION_LOST) {
			*e = why;
			return -1;
		}
		r->ready = false;
		if (outcome.sent && (!q->repeatable || lost++ == LIMIT_REPEATS))
			break;
		if (outcome.sent)
			deadline_ms = IO_FOREVER;
		else if (io_now_ms() >= deadline_ms)
			break;
		else if (deadline_ms != IO_FOREVER) /* a new connection was lost at once */
			(void)io_wait_or(-1, 0, q->cancel, io_now_ms() + LIMIT_READY_PAUSE_MS);
	}
	if (!outcome.sent)
		return err_set(e, ERR_NOT_READY,
			       "Timed out waiting for coding sidecar at %s: it accepts no requests",
			       r->address);
	return err_set(e, ERR_CONNECTION_LOST, "%.250s. %s %s may have been carried out, or not",
		       why.msg, q->method, q->target);
}
