/* SPDX-License-Identifier: MIT */
/* exchange: who may call, what handlers have in common, and answers over a connection. */

#include "api/exchange.h"

#include <stdio.h>

#include "base/address.h"
#include "base/io.h"
#include "net/http_parse.h"

static void send_answer(struct exchange *x, const struct http_answer *answer)
{
	http_send(x->to, answer);
}

static int stream_begin(struct exchange *x, const char *type, const char *extra)
{
	return http_stream_begin(x->to, type, extra);
}

static int stream_write(struct exchange *x, struct str piece)
{
	return http_stream_write(x->to, piece);
}

static void stream_end(struct exchange *x)
{
	http_stream_end(x->to);
}

/* The descriptor stays in the workers' set, whose events for this connection are old by now. */
static int take(struct exchange *x)
{
	return http_take(x->to);
}

static bool is_ready(struct exchange *x)
{
	const struct http *h = x->to;

	return io_wait(h->fd, POLLOUT, 0) == 1;
}

static void tell_seen(struct exchange *x, int64_t files)
{
	char line[64];

	(void)snprintf(line, sizeof line, "Sidecar-Files: %lld\r\n", (long long)files);
	http_send_progress(x->to, line);
}

const struct exchange_outlet exchange_over_http = {
	.send = send_answer,
	.stream_begin = stream_begin,
	.stream_write = stream_write,
	.stream_end = stream_end,
	.take = take,
	.is_ready = is_ready,
	.tell_seen = tell_seen,
};

bool auth_listed(struct str list, struct str value)
{
	while (list.n) {
		struct str item;
		(void)str_cut(list, ',', &item, &list);
		item = str_trim(item);
		if (item.n && (str_eq(item, STR("*")) || str_eq_nocase(item, value)))
			return true;
	}
	return false;
}

/* The token of a request, or { NULL, 0 } when it has none. */
static struct str token_of(const struct http_head *head)
{
	const struct str header = http_header(head, STR("authorization"));
	struct str scheme, rest;

	(void)str_cut(header, ' ', &scheme, &rest);
	if (str_eq_nocase(scheme, STR("bearer")))
		return rest.n ? str_trim(rest) : STR("");
	return http_header(head, STR("x-sidecar-token"));
}

/* "[::1]:80" → "::1", "localhost:80" → "localhost". */
static struct str without_port(struct str host)
{
	struct str name, port;

	if (str_starts(host, STR("["))) {
		(void)str_cut(str_from(host, 1), ']', &name, &port);
		return name;
	}
	(void)str_cut(host, ':', &name, &port);
	return name;
}

static bool host_ok(const struct auth_rules *a, struct str host)
{
	const struct str name = without_port(host);
	char address[64];

	(void)snprintf(address, sizeof address, "%.*s", STR_FMT(name));
	return str_eq_nocase(name, STR("localhost")) || address_host_is_loopback(address) ||
	       (name.n && str_eq_nocase(name, a->tcp_host)) || auth_listed(a->hosts, name);
}

/* A page of our own origin, or one the operator allows. */
static bool origin_ok(const struct auth_rules *a, struct str origin, struct str host)
{
	const struct str http = STR("http://");

	if (str_starts(origin, http) && host.n && str_eq_nocase(str_from(origin, http.n), host))
		return true;
	return auth_listed(a->origins, origin);
}

int auth_check(const struct auth_rules *a, const struct http_head *head, bool tcp, const char **why)
{
	const struct str origin = http_header(head, STR("origin"));
	const struct str token = token_of(head);
	const bool right = a->token.n && token.p && str_eq_secret(token, a->token);
	const bool may_be_absent = a->token.n == 0 || (!a->required && (!tcp || a->tcp_optional));

	if (tcp && !right && !host_ok(a, head->host)) {
		*why = "Forbidden: this Host is not allowed (set SIDECAR_ALLOWED_HOSTS)";
		return 403;
	}
	if (tcp && origin.p && !origin_ok(a, origin, head->host)) {
		*why = "Forbidden: this Origin is not allowed (set SIDECAR_ALLOWED_ORIGINS)";
		return 403;
	}
	if (!right && (!may_be_absent || (a->token.n && token.p))) {
		*why = "Unauthorized";
		return 401;
	}
	return 0;
}

const char *auth_extra(int status)
{
	return status == 401 ? "WWW-Authenticate: Bearer\r\n" : NULL;
}

bool exchange_is_json(const struct http_head *head)
{
	return str_find_nocase(http_header(head, STR("content-type")), STR("application/json")) >=
	       0;
}

const struct json *exchange_body(struct exchange *x, const struct http_request *r, struct err *e)
{
	const struct json *v = &json_empty;

	if (!exchange_is_json(&r->head)) {
		(void)err_set(e, ERR_INVALID_ARGUMENTS,
			      "The body must have the Content-Type application/json");
		return NULL;
	}
	if (str_trim(r->body).n && json_parse(r->body, x->arena, &v, e) < 0)
		return NULL;
	if (v->type == JSON_OBJECT)
		return v;
	(void)err_set(e, ERR_INVALID_ARGUMENTS, "The body must be a JSON object, not %s",
		      json_type_name(v));
	return NULL;
}

struct str exchange_query_word(const struct http_request *r, struct str name, char room[32])
{
	struct str value = STR("");
	const int given = http_query(r->head.query, name, room, 32, &value);

	return given < 0 || (given > 0 && value.n == 0) ? STR("?") : value;
}

bool exchange_session(struct exchange *x, const struct http_request *r, struct str *session)
{
	char room[LIMIT_SESSION_NAME];
	struct str value;
	const int given = http_query(r->head.query, STR("session"), room, sizeof room, &value);

	if (given < 0 || (given && value.n > sizeof room)) {
		exchange_error(x, 400, NULL, "session is too long, or not well encoded",
			       ERR_INVALID_ARGUMENTS);
		return false;
	}
	if (given && !session->n)
		*session = arena_dup(x->arena, value);
	return true;
}

struct dispatch exchange_call(struct exchange *x, enum call_kind kind, const struct tool *t,
			      const struct json *arguments)
{
	return (struct dispatch){
		.kind = kind,
		.tool = t,
		.arguments = arguments,
		.uid = x->uid == (uid_t)-1 ? -1 : (int64_t)x->uid,
		.pid = x->pid,
		.arena = x->arena,
		.cancel = x->cancel,
		.before_slow = x->before_slow,
		.before_slow_arg = x->before_slow_arg,
	};
}

void exchange_send(struct exchange *x, int status, const char *extra)
{
	x->outlet->send(x, &(struct http_answer){ status, HTTP_JSON, extra, buf_str(x->out) });
}

void exchange_send_empty(struct exchange *x, int status, const char *extra)
{
	x->outlet->send(x, &(struct http_answer){ status, HTTP_JSON, extra, STR("") });
}

void exchange_error_body(struct buf *out, const char *sentence, enum err_code code)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_bool(&w, "ok", false);
	jw_str(&w, "error", str_of(sentence));
	if (code != ERR_NONE)
		jw_str(&w, "code", str_of(err_name(code)));
	jw_end(&w);
}

void exchange_error(struct exchange *x, int status, const char *extra, const char *sentence,
		    enum err_code code)
{
	buf_reset(x->out, SIZE_MAX);
	exchange_error_body(x->out, sentence, code);
	exchange_send(x, status, extra);
}

const char *exchange_sentence(const struct err *e)
{
	static const char known[] = "Invalid path: access outside workspace is not allowed";

	if (e->code != ERR_PATH_OUTSIDE_WORKSPACE && e->code != ERR_SYMLINK_OUTSIDE_WORKSPACE)
		return e->msg;
	return str_starts(str_of(e->msg), str_of(known)) ? e->msg : known;
}

/* A call that could not be made now is 503, one that failed 400 or what fits better. */
static int status_of(const struct err *e)
{
	switch (e->code) {
	case ERR_TOO_BUSY:
		return 503;
	case ERR_CHANGE_NOT_FOUND:
	case ERR_JOB_NOT_FOUND:
		return 404;
	case ERR_CONFLICT:
		return 409;
	default:
		return 400;
	}
}

void exchange_fail(struct exchange *x, const struct err *e, const struct buf *details)
{
	buf_reset(x->out, SIZE_MAX);
	exchange_error_body(x->out, exchange_sentence(e), e->code);
	if (details && details->n && !details->failed && x->out->n) {
		x->out->n--;
		buf_addc(x->out, ',');
		buf_add(x->out, buf_str(details));
		buf_addc(x->out, '}');
	}
	exchange_send(x, status_of(e), NULL);
}

const char *exchange_change_headers(const struct call_change *change, char out[CHANGE_HEADERS])
{
	const int n = snprintf(out, CHANGE_HEADERS, "Sidecar-Change: %llu\r\n",
			       (unsigned long long)change->id);

	if (change->not_kept)
		(void)snprintf(out + n, CHANGE_HEADERS - (size_t)n, "Sidecar-Not-Kept: %zu\r\n",
			       change->not_kept);
	return change->id ? out : NULL;
}

void exchange_answer(struct exchange *x, struct dispatch *d)
{
	AUTO_BUF details = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(x->out);
	struct call_change change = { .id = 0 };
	char header[CHANGE_HEADERS];
	struct err e;

	d->change = &change;
	d->details = &details;
	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_object(&w, "result");
	if (dispatch(x->front->service, d, &w, &e) < 0) {
		exchange_fail(x, &e, &details);
		return;
	}
	jw_end(&w);
	jw_end(&w);
	exchange_send(x, 200, exchange_change_headers(&change, header));
}

bool exchange_take_number(struct exchange *x, const struct http_request *r, const char *name,
			  struct json *members, size_t *count)
{
	char room[32];
	struct str text;
	int64_t number;
	const int given = http_query(r->head.query, str_of(name), room, sizeof room, &text);

	if (given == 0)
		return true;
	if (given < 0 || !str_int(text, &number) || number < 0) {
		exchange_refuse_query(x, name);
		return false;
	}
	members[(*count)++] = json_of_int(str_of(name), number);
	return true;
}

void exchange_refuse_query(struct exchange *x, const char *name)
{
	char text[64];

	(void)snprintf(text, sizeof text, "Missing or invalid %s", name);
	exchange_error(x, 400, NULL, text, ERR_INVALID_ARGUMENTS);
}
