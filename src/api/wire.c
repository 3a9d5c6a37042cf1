/* SPDX-License-Identifier: MIT */
/* wire: a tool's result in the envelope that existing clients know. */

#include "api/wire.h"

#include "api/calls.h"
#include "base/io.h"
#include "base/jw.h"

/* The sentences that clients of the existing contract know. */
static const char *wire_sentence(const struct err *e)
{
	if (e->code == ERR_PATH_OUTSIDE_WORKSPACE || e->code == ERR_SYMLINK_OUTSIDE_WORKSPACE)
		return "Invalid path: access outside workspace is not allowed";
	return e->msg;
}

/* A stream of JSON lines on its way to the client. */
struct ndjson {
	struct exchange *x;
	bool begun;
};

static int send_line(struct ndjson *n)
{
	struct buf *line = n->x->out;

	buf_addc(line, '\n');
	return line->failed ? -1 : http_stream_write(n->x->http, buf_str(line));
}

static int begin(void *arg)
{
	struct ndjson *n = arg;

	n->begun = true;
	return http_stream_begin(n->x->http, "application/x-ndjson; charset=utf-8");
}

static int emit(void *arg, bool is_stderr, struct str text)
{
	struct ndjson *n = arg;
	struct jw w = { .out = n->x->out };

	buf_reset(w.out, SIZE_MAX);
	jw_object(&w, NULL);
	jw_str(&w, "type", STR("delta"));
	jw_str(&w, "data", text);
	jw_str(&w, "stream", is_stderr ? STR("stderr") : STR("stdout"));
	jw_end(&w);
	return send_line(n);
}

static void end_stream(struct ndjson *n, struct str members, const struct err *e)
{
	struct jw w = { .out = n->x->out };

	buf_reset(w.out, SIZE_MAX);
	jw_object(&w, NULL);
	jw_str(&w, "type", e->code == ERR_NONE ? STR("done") : STR("error"));
	if (e->code == ERR_NONE) {
		buf_addf(w.out, ",%.*s", STR_FMT(members));
	} else {
		jw_str(&w, "message", str_of(wire_sentence(e)));
		jw_str(&w, "code", str_of(err_name(e->code)));
	}
	jw_end(&w);
	(void)send_line(n);
	http_stream_end(n->x->http);
}

/* A call that could not be made now is 503, one that failed 400. */
static void refuse_call(struct exchange *x, const struct err *e)
{
	routes_send_error(x, e->code == ERR_TOO_BUSY ? 503 : 400, NULL, wire_sentence(e), e->code);
}

static void call_streaming(struct exchange *x, const struct tool *t, struct call *c,
			   const struct json *object, struct err *e)
{
	struct ndjson n = { .x = x };
	const struct call_stream stream = { .begin = begin, .emit = emit, .arg = &n };
	/* The result's members are few and short; the answer buffer is the stream's. */
	char members[512];
	struct buf result = { .p = members, .cap = sizeof members, .max = sizeof members };
	struct jw w = { .out = &result, .depth = 1, .objects = 1 };

	c->stream = &stream;
	c->out = &w;
	const int rc = tool_call(t, c, object, e);
	if (n.begun) {
		end_stream(&n, buf_str(&result), e);
	} else if (rc < 0) {
		refuse_call(x, e);
	} else {
		/* It goes on in the background: there is a result and no stream. */
		buf_addf(x->out, "{\"ok\":true,\"result\":{%.*s}}", STR_FMT(buf_str(&result)));
		routes_send(x, 200, NULL);
	}
}

static void call_plain(struct exchange *x, const struct tool *t, struct call *c,
		       const struct json *object, struct err *e)
{
	struct jw w = { .out = x->out };

	c->out = &w;
	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_object(&w, "result");
	int rc = tool_call(t, c, object, e);
	if (rc == 0) {
		jw_end(&w);
		jw_end(&w);
		if (x->out->failed)
			rc = err_set(e, ERR_EXECUTION_ERROR,
				     "The answer is too large: ask for less");
	}
	if (rc < 0)
		refuse_call(x, e);
	else
		routes_send(x, 200, NULL);
}

void wire_call(struct exchange *x, const struct tool *t, const struct json *object)
{
	const int64_t began_ms = io_now_ms();
	struct call c = calls_begin(x, &x->service->call, t, object);
	struct err e = { .code = ERR_NONE };

	(t->flags & TOOL_STREAM ? call_streaming : call_plain)(x, t, &c, object, &e);
	calls_log(x, str_of(t->name), c.session, began_ms, e.code);
}
