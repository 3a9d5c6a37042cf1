/* SPDX-License-Identifier: MIT */
/* observe: find the tool a model means, call it, and say how it went. */

#include "api/observe.h"

#include "api/calls.h"
#include "api/observation.h"
#include "api/reply.h"
#include "base/jw.h"
#include "net/http_url.h"
#include "tools/schema.h"

/* The observation of a call, in x->out. Its arguments are NULL when they could not be understood,
 * for the reason in *e. Returns whether it succeeded. */
static bool observe(struct exchange *x, const struct model_call *m, struct err *e)
{
	const struct tool *t = NULL;
	struct call c = { .session = m->session };

	if (m->arguments && observation_tool(m->name, &t, e) == 0) {
		c = calls_begin(x, &x->service->model_call, t, m->arguments);
		if (m->session.n)
			c.session = m->session;
	}
	const bool success = observation_write(x->service, &c, t, m->name, m->arguments, x->out, e);
	calls_log(x, m->name, c.session, success ? ERR_NONE : e->code);
	return success;
}

/* A parameter of the query that must be a word we know; an absent one is the empty word, one given
 * as that is a word nobody knows. */
static struct str query_word(const struct http_request *r, struct str name, char out[32])
{
	struct str value = STR("");
	const int given = http_query(r->head.query, name, out, 32, &value);

	return given < 0 || (given > 0 && value.n == 0) ? STR("?") : value;
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
	const struct model_call m = { .name = name, .arguments = routes_body(x, r, &e) };

	answer(x, r, &m, &e);
}

void observe_call(struct exchange *x, const struct http_request *r)
{
	struct err e = { .code = ERR_NONE };
	struct model_call m = { .name = STR("") };
	const struct json *body = routes_body(x, r, &e);

	if (body)
		reply_read(body, x->arena, &m, &e);
	answer(x, r, &m, &e);
}

void observe_list(struct exchange *x, const struct http_request *r)
{
	char format_room[32], set_room[32];
	const struct str format = query_word(r, STR("format"), format_room);
	const struct str set = query_word(r, STR("set"), set_room);
	struct jw w = jw_to(x->out);
	struct err e;

	if (schema_write_named(&w, format, set, x->service->tool_set, &e) < 0)
		routes_send_error(x, 400, NULL, e.msg, e.code);
	else
		routes_send(x, 200, NULL);
}
