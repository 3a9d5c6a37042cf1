/* SPDX-License-Identifier: MIT */
/* observe: find the tool a model means, call it, and say how it went. */

#include "api/observe.h"

#include "api/calls.h"
#include "api/reply.h"
#include "base/io.h"
#include "base/jw.h"
#include "base/limits.h"
#include "net/http_url.h"
#include "tools/schema.h"

static int find_tool(struct str name, const struct tool **ret, struct err *e)
{
	char text[512];
	struct buf names = { .p = text, .cap = sizeof text, .max = sizeof text };

	*ret = tool_by_name(name, TOOL_MODEL);
	if (*ret)
		return 0;
	tool_names(TOOL_MODEL, &names);
	return err_set(e, ERR_UNKNOWN_TOOL, "There is no tool \"%.*s\". The tools are: %.*s",
		       STR_FMT(str_upto(name, 100)), STR_FMT(buf_str(&names)));
}

static void write_failure(struct buf *out, struct str name, const struct err *e)
{
	struct jw w = { .out = out };

	jw_object(&w, NULL);
	jw_bool(&w, "success", false);
	jw_str(&w, "tool", name);
	jw_null(&w, "output");
	jw_object(&w, "error");
	jw_str(&w, "code", str_of(err_name(e->code)));
	jw_str(&w, "message", str_of(e->msg));
	jw_end(&w);
	jw_end(&w);
}

/* What takes the secrets out of one observation. */
struct cleaner {
	struct service *service;
	struct buf *out; /* of the observation: fails when a string could not be looked at */
	struct buf aside;
};

static void cleaner_done(struct cleaner *c)
{
	buf_done(&c->aside);
}

static struct str clean(void *arg, struct str value)
{
	struct cleaner *c = arg;
	const struct str text =
		scrub_text(c->service->scrub, &c->service->scrubbed, value, &c->aside);

	if (c->aside.failed)
		c->out->failed = true;
	return text;
}

/* The observation of a call, in x->out. Its arguments are NULL when they could not be understood,
 * for the reason in *e. Returns whether it succeeded. */
static bool observe(struct exchange *x, const struct model_call *m, struct err *e)
{
	const int64_t began_ms = io_now_ms();
	const struct tool *t;
	struct jw w = { .out = x->out };
	struct call c = { .session = m->session };
	CLEANUP(cleaner_done)
	struct cleaner cleaner = { .service = x->service,
				   .out = x->out,
				   .aside = { .max = LIMIT_ANSWER } };
	AUTO_BUF pieces = { .max = LIMIT_ANSWER };
	const struct jw_filter filter = { .apply = clean, .arg = &cleaner, .pieces = &pieces };
	int rc = m->arguments ? find_tool(m->name, &t, e) : -1;

	if (rc == 0) {
		c = calls_begin(x, &x->service->model_call, t, m->arguments);
		if (m->session.n)
			c.session = m->session;
		c.out = &w;
		jw_object(&w, NULL);
		jw_bool(&w, "success", true);
		jw_str(&w, "tool", m->name);
		jw_object(&w, "output");
		if (t->flags & TOOL_SCRUB && x->service->scrub)
			w.filter = &filter;
		rc = tool_call(t, &c, m->arguments, e);
	}
	if (rc == 0) {
		jw_end(&w);
		jw_null(&w, "error");
		jw_end(&w);
		if (x->out->failed)
			rc = err_set(e, ERR_EXECUTION_ERROR,
				     "The answer is too large: ask for less");
	}
	if (rc < 0) {
		buf_reset(x->out, SIZE_MAX);
		write_failure(x->out, m->name, e);
	}
	calls_log(x, m->name, c.session, began_ms, rc < 0 ? e->code : ERR_NONE);
	return rc == 0;
}

/* The body as an object; NULL and *e when it is none. An empty one is an empty object. */
static const struct json *body_of(struct exchange *x, const struct http_request *r, struct err *e)
{
	static const struct json empty = { .type = JSON_OBJECT };
	const struct json *v;

	if (str_find_nocase(http_header(&r->head, STR("content-type")), STR("application/json")) <
	    0) {
		(void)err_set(e, ERR_INVALID_ARGUMENTS,
			      "The body must have the Content-Type application/json");
		return NULL;
	}
	if (str_trim(r->body).n == 0)
		return &empty;
	if (json_parse(r->body, x->arena, &v, e) < 0)
		return NULL;
	if (v->type == JSON_OBJECT)
		return v;
	(void)err_set(e, ERR_INVALID_ARGUMENTS, "The body must be a JSON object, not %s",
		      json_type_name(v));
	return NULL;
}

/* A parameter of the query that must be a word we know; an absent one is the empty word. */
static struct str query_word(const struct http_request *r, struct str name, char out[32])
{
	struct str value = STR("");

	return http_query(r->head.query, name, out, 32, &value) < 0 ? STR("?") : value;
}

static void answer(struct exchange *x, const struct http_request *r, const struct model_call *m,
		   struct err *e)
{
	char room[32];
	const struct str form = query_word(r, STR("reply"), room);
	AUTO_BUF wrapped = { .max = 2 * (size_t)LIMIT_ANSWER };
	enum reply_form reply;

	if (!reply_by_name(form, &reply)) {
		routes_send_error(x, 400, NULL, "reply must be ollama, openai, anthropic or gemini",
				  ERR_INVALID_ARGUMENTS);
		return;
	}
	const bool success = observe(x, m, e);
	if (reply == REPLY_PLAIN) {
		routes_send(x, 200, NULL);
		return;
	}
	reply_write(&wrapped, reply, m, buf_str(x->out), success);
	if (wrapped.failed)
		routes_send_error(x, 503, NULL, "Not enough memory for the answer, try again",
				  ERR_TOO_BUSY);
	else
		http_send(x->http,
			  &(struct http_answer){ 200, HTTP_JSON, NULL, buf_str(&wrapped) });
}

void observe_tool(struct exchange *x, const struct http_request *r, struct str name)
{
	struct err e = { .code = ERR_NONE };
	const struct model_call m = { .name = name, .arguments = body_of(x, r, &e) };

	answer(x, r, &m, &e);
}

void observe_call(struct exchange *x, const struct http_request *r)
{
	struct err e = { .code = ERR_NONE };
	struct model_call m = { .name = STR("") };
	const struct json *body = body_of(x, r, &e);

	if (body)
		reply_read(body, x->arena, &m, &e);
	answer(x, r, &m, &e);
}

void observe_list(struct exchange *x, const struct http_request *r)
{
	char format_room[32], set_room[32];
	const struct str format = query_word(r, STR("format"), format_room);
	const struct str set = query_word(r, STR("set"), set_room);
	enum schema_dialect dialect = SCHEMA_OLLAMA;
	struct jw w = { .out = x->out };

	if (format.n && !schema_dialect_by_name(format, &dialect)) {
		routes_send_error(x, 400, NULL,
				  "format must be ollama, openai, openai-strict, "
				  "openai-responses, anthropic, gemini or mcp",
				  ERR_INVALID_ARGUMENTS);
		return;
	}
	unsigned flags = x->service->tool_set;
	if (!flags)
		flags = schema_default_set(dialect);
	if (set.n)
		flags = str_eq(set, STR("core"))   ? TOOL_CORE
			: str_eq(set, STR("full")) ? TOOL_MODEL
						   : 0;
	if (!flags) {
		routes_send_error(x, 400, NULL, "set must be core or full", ERR_INVALID_ARGUMENTS);
		return;
	}
	schema_write(&w, NULL, dialect, flags);
	routes_send(x, 200, NULL);
}
