/* SPDX-License-Identifier: MIT */
/* wire: a tool's result in the envelope that existing clients know. */

#include "api/wire.h"

#include <stdio.h>

#include "api/calls.h"
#include "base/jw.h"

/* The sentences that clients of the existing contract know. */
static const char *wire_sentence(const struct err *e)
{
	if (e->code == ERR_PATH_OUTSIDE_WORKSPACE || e->code == ERR_SYMLINK_OUTSIDE_WORKSPACE)
		return "Invalid path: access outside workspace is not allowed";
	return e->msg;
}

void wire_error(struct buf *out, const struct err *e)
{
	buf_reset(out, SIZE_MAX);
	routes_error_body(out, wire_sentence(e), e->code);
}

int wire_result(struct buf *out, const struct tool *t, struct call *c, const struct json *object,
		struct err *e)
{
	struct jw w = jw_to(out);

	c->out = &w;
	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_object(&w, "result");
	int rc = tool_call(t, c, object, e);
	jw_end(&w);
	jw_end(&w);
	if (rc == 0 && out->failed)
		rc = err_set(e, ERR_EXECUTION_ERROR, "The answer is too large: ask for less");
	if (rc < 0)
		wire_error(out, e);
	return rc;
}

void wire_output_line(struct buf *out, bool is_stderr, struct str text)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_str(&w, "type", STR("delta"));
	jw_str(&w, "data", text);
	jw_str(&w, "stream", is_stderr ? STR("stderr") : STR("stdout"));
	jw_end(&w);
	buf_addc(out, '\n');
}

void wire_last_line(struct buf *out, struct str members, const struct err *e)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_str(&w, "type", e->code == ERR_NONE ? STR("done") : STR("error"));
	if (e->code == ERR_NONE) {
		buf_addf(out, ",%.*s", STR_FMT(members));
	} else {
		jw_str(&w, "message", str_of(wire_sentence(e)));
		jw_str(&w, "code", str_of(err_name(e->code)));
	}
	jw_end(&w);
	buf_addc(out, '\n');
}

/* A stream of JSON lines on its way to the client. */
struct ndjson {
	struct exchange *x;
	bool begun;
};

static int begin(void *arg)
{
	struct ndjson *n = arg;

	n->begun = true;
	return http_stream_begin(n->x->http, "application/x-ndjson; charset=utf-8", NULL);
}

static int emit(void *arg, bool is_stderr, struct str text)
{
	struct exchange *x = ((struct ndjson *)arg)->x;

	buf_reset(x->out, SIZE_MAX);
	wire_output_line(x->out, is_stderr, text);
	return x->out->failed ? -1 : http_stream_write(x->http, buf_str(x->out));
}

static void end_stream(struct exchange *x, struct str members, const struct err *e)
{
	buf_reset(x->out, SIZE_MAX);
	wire_last_line(x->out, members, e);
	if (!x->out->failed)
		(void)http_stream_write(x->http, buf_str(x->out));
	http_stream_end(x->http);
}

/* A call that could not be made now is 503, one that failed 400. */
static int status_of(const struct err *e)
{
	return e->code == ERR_TOO_BUSY ? 503 : 400;
}

static void call_streaming(struct exchange *x, const struct tool *t, struct call *c,
			   const struct json *object, struct err *e)
{
	struct ndjson n = { .x = x };
	const struct call_stream stream = { .begin = begin, .emit = emit, .arg = &n };
	/* The result's members are few and short; the answer buffer is the stream's. */
	char members[512];
	struct buf result = buf_over(members, sizeof members);
	struct jw w = jw_members_to(&result);

	c->stream = &stream;
	c->out = &w;
	const int rc = tool_call(t, c, object, e);
	if (n.begun) {
		end_stream(x, buf_str(&result), e);
	} else if (rc < 0) {
		wire_error(x->out, e);
		routes_send(x, status_of(e), NULL);
	} else {
		/* It goes on in the background: there is a result and no stream. */
		buf_addf(x->out, "{\"ok\":true,\"result\":{%.*s}}", STR_FMT(buf_str(&result)));
		routes_send(x, 200, NULL);
	}
}

static void tell_seen(void *arg, int64_t files)
{
	char line[64];

	(void)snprintf(line, sizeof line, "Sidecar-Files: %lld\r\n", (long long)files);
	http_send_progress(arg, line);
}

static void call_plain(struct exchange *x, const struct tool *t, struct call *c,
		       const struct json *object, struct err *e)
{
	const struct call_progress progress = { .seen = tell_seen, .arg = x->http };

	c->progress = x->tells ? &progress : NULL;
	const int rc = wire_result(x->out, t, c, object, e);
	routes_send(x, rc < 0 ? status_of(e) : 200, NULL);
}

void wire_call(struct exchange *x, const struct tool *t, const struct json *object)
{
	struct call c = calls_begin(x, &x->service->call, t, object);
	struct err e = { .code = ERR_NONE };

	(t->flags & TOOL_STREAM ? call_streaming : call_plain)(x, t, &c, object, &e);
	calls_log(x, str_of(t->name), c.session, e.code);
}
