/* SPDX-License-Identifier: MIT */
/* exchange: what handlers of requests have in common, and answers over a connection. */

#include "api/exchange.h"

#include <stdio.h>

#include "base/io.h"
#include "net/http_url.h"

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
	.is_ready = is_ready,
	.tell_seen = tell_seen,
};

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
		.linger = x->linger,
		.linger_arg = x->linger_arg,
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
