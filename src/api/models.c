/* SPDX-License-Identifier: MIT */
/*
 * models: the calls of models, /tools: our own tools, and those that providers have built into their
 * models, taken as they are and answered in their form.
 *
 *	{"type":"tool_use","id":…,"name":"str_replace_based_edit_tool","input":{…}}	Anthropic
 *	{"type":"tool_use","id":…,"name":"bash","input":{…}}
 *	{"type":"tool_use","id":…,"name":"memory","input":{…}}
 *		→ {"type":"tool_result","tool_use_id":…,"content":…,"is_error":…}
 *	{"type":"apply_patch_call","call_id":…,"operation":{…}}				OpenAI
 *		→ {"type":"apply_patch_call_output","call_id":…,"status":…,"output":…}
 *	{"type":"shell_call","call_id":…,"action":{…}}
 *		→ {"type":"shell_call_output","call_id":…,"output":[{stdout,stderr,outcome}]}
 *	{"type":"local_shell_call","call_id":…,"action":{…}}
 *		→ {"type":"local_shell_call_output","id":<the call_id>,"output":"{…}"}
 *
 * One table says which of our tools carries out which call, and how its answer is written.
 * Everything else is as for every call of a model, for which dispatch has a kind of its own: these
 * models write absolute paths, and have no other tools of ours that a result could name.
 */

#include "api/routes.h"

#include "base/limits.h"
#include "base/own.h"
#include "results/observation.h"
#include "tools/schema.h"

struct native_kind;

struct native_call {
	const struct native_kind *kind;
	const struct json *arguments; /* NULL: not understood */
	struct str id, session;	      /* empty: none was given */
};

/* What became of a call. */
struct native_result {
	const struct native_call *call;
	const struct way_text *text; /* if its tool writes text … */
	struct str members;	     /* … else */
	bool success;
	const struct err *e; /* why it failed; NULL: it did not */
};

struct native_kind {
	struct str type;   /* of the call */
	struct str name;   /* of a tool_use */
	struct str inside; /* the member with its arguments */
	const struct tool *tool;
	bool text; /* its result is text */
	void (*write)(struct buf *out, const struct native_result *r);
};

/* "CODE: sentence", and on the next line what to do. */
static void write_failure(struct jw *w, const char *name, const struct err *e)
{
	char room[sizeof e->msg + 64];
	struct buf text = buf_over(room, sizeof room);

	observation_fail_text(&text, err_name(e->code), e);
	jw_str(w, name, buf_str(&text));
}

static void write_tool_result(struct buf *out, const struct native_result *r)
{
	const struct model_call call = { .id = r->call->id };
	char room[sizeof r->e->msg + 64];
	struct buf text = buf_over(room, sizeof room);
	const struct way_text failure = { .text = &text };

	if (r->e)
		observation_fail_text(&text, "Error", r->e);
	observation_reply_text(out, REPLY_ANTHROPIC, &call, r->e ? &failure : r->text, r->success);
}

/* The members of a command's output when it did not run: what its shell would have said. */
static void write_no_output(struct jw *w, const struct err *e)
{
	enum { CANNOT_RUN = 126 }; /* what a shell answers for a program that it may not run */

	jw_str(w, "stdout", STR(""));
	write_failure(w, "stderr", e);
	jw_object(w, "outcome");
	jw_str(w, "type", STR("exit"));
	jw_int(w, "exit_code", CANNOT_RUN);
	jw_end(w);
}

static void write_shell(struct buf *out, const struct native_result *r)
{
	struct jw w = jw_to(out);
	const struct json *most =
		r->call->arguments ? json_get(r->call->arguments, STR("max_output_length")) : NULL;

	jw_object(&w, NULL);
	jw_str(&w, "type", STR("shell_call_output"));
	jw_str(&w, "call_id", r->call->id);
	jw_str(&w, "status", STR("completed"));
	if (most && most->type == JSON_NUMBER && most->whole)
		jw_int(&w, "max_output_length", most->integer);
	if (r->e) {
		jw_array(&w, "output");
		jw_object(&w, NULL);
		write_no_output(&w, r->e);
		jw_end(&w);
		jw_end(&w);
	} else { /* "output" is the only member */
		buf_addc(out, ',');
		buf_add(out, r->members);
	}
	jw_end(&w);
}

static void write_local_shell(struct buf *out, const struct native_result *r)
{
	AUTO_BUF text = { .max = LIMIT_ANSWER };
	struct jw w = jw_to(out), inner = jw_to(&text);

	if (r->e) {
		jw_object(&inner, NULL);
		write_no_output(&inner, r->e);
		jw_end(&inner);
	} else {
		buf_addc(&text, '{');
		buf_add(&text, r->members);
		buf_addc(&text, '}');
	}
	jw_object(&w, NULL);
	jw_str(&w, "type", STR("local_shell_call_output"));
	jw_str(&w, "id", r->call->id);
	jw_str(&w, "status", STR("completed"));
	jw_str(&w, "output", buf_str(&text));
	jw_end(&w);
	out->failed |= text.failed;
}

static void write_patched(struct buf *out, const struct native_result *r)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_str(&w, "type", STR("apply_patch_call_output"));
	jw_str(&w, "call_id", r->call->id);
	jw_str(&w, "status", r->success ? STR("completed") : STR("failed"));
	if (r->e)
		write_failure(&w, "output", r->e);
	else
		jw_str(&w, "output", buf_str(r->text->text));
	jw_end(&w);
}

#define TOOL_USE(name, tool)                                                                       \
	{                                                                                          \
		STR("tool_use"), STR(name), STR("input"), &(tool), true, write_tool_result         \
	}

static const struct native_kind kinds[] = {
	TOOL_USE("str_replace_based_edit_tool", tool_text_editor),
	TOOL_USE("str_replace_editor", tool_text_editor), /* until 2025-01-24 */
	TOOL_USE("bash", tool_shell_session),
	TOOL_USE("memory", tool_memory),
	{ STR("shell_call"), STR(""), STR("action"), &tool_shell, false, write_shell },
	{ STR("local_shell_call"), STR(""), STR("action"), &tool_local_shell, false,
	  write_local_shell },
	{ STR("apply_patch_call"), STR(""), STR("operation"), &tool_patch_operation, true,
	  write_patched },
};

static const struct native_kind *kind_of(const struct json *body)
{
	const struct str type = json_text(body, STR("type")), name = json_text(body, STR("name"));

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_eq(kinds[i].type, type) &&
		    (!kinds[i].name.n || str_eq(kinds[i].name, name)))
			return &kinds[i];
	return NULL;
}

/* Whether the body is such a call. If its arguments cannot be understood, *e says why. */
static bool native_read(const struct json *body, struct native_call *ret, struct err *e)
{
	const struct native_kind *kind = kind_of(body);

	if (!kind)
		return false;
	*ret = (struct native_call){
		.kind = kind,
		.arguments = json_get(body, kind->inside),
		.session = json_text(body, STR("sessionId")),
		.id = json_text(body, kind->name.n ? STR("id") : STR("call_id")),
	};
	if (!ret->id.n)
		ret->id = json_text(body, STR("id"));
	if (ret->arguments && ret->arguments->type == JSON_OBJECT)
		return true;
	ret->arguments = NULL;
	(void)err_set(e, ERR_INVALID_ARGUMENTS, "The call has no object \"%.*s\"",
		      STR_FMT(kind->inside));
	return true;
}

/* Make the call. Returns whether it succeeded: then its result is in `text` or in `members`. */
static bool make(struct exchange *x, const struct dispatch *d, struct buf *members, struct err *e)
{
	struct service *s = x->front->service;
	struct jw w = jw_members_to(members);

	if (d->arguments)
		return dispatch(s, d, &w, e) == 0;
	dispatch_refused(s, d, str_of(d->tool->name), e);
	return false;
}

/* Make the call and answer it. The status is 200 whatever becomes of it: that is for the model to
 * read. `e` is that of native_read. */
static void native_answer(struct exchange *x, const struct native_call *call, struct err *e)
{
	AUTO_BUF members = { .max = LIMIT_ANSWER }, text = { .max = LIMIT_ANSWER };
	struct way_text shown = { .text = &text };
	struct call_change change = { .id = 0 };
	struct call_end end = { .ran = false };
	struct native_result result = { .call = call, .text = &shown };
	struct dispatch d = exchange_call(x, CALL_NATIVE, call->kind->tool, call->arguments);
	char header[CHANGE_HEADERS];

	if (x->front->service->tool_set == TOOL_CORE) {
		d.arguments = NULL;
		(void)err_set(e, ERR_UNKNOWN_TOOL,
			      "This server offers its five tools only (--tool-set core), not %s",
			      call->kind->tool->name);
	}
	d.session = call->session;
	d.sized = true;
	d.text = call->kind->text ? &shown : NULL;
	d.change = &change;
	d.end = &end;
	if (!make(x, &d, &members, e))
		result.e = e;
	result.members = buf_str(&members);
	result.success = !result.e && !(end.ran && (end.exit_code || end.timed_out));
	buf_reset(x->out, SIZE_MAX);
	call->kind->write(x->out, &result);
	if (x->out->failed)
		exchange_error(x, 503, NULL, "Not enough memory for the answer, try again",
			       ERR_TOO_BUSY);
	else
		exchange_send(x, 200, exchange_change_headers(&change, header));
}

/* Make a model's call: its observation is in x->out, or its text in `text` if that is not NULL. If
 * the arguments could not be understood *e says why. Returns whether the call succeeded. */
static bool observe(struct exchange *x, const struct model_call *m, struct way_text *text,
		    struct err *e)
{
	const unsigned set = x->front->service->tool_set ? x->front->service->tool_set : TOOL_MODEL;
	const struct tool *t = m->arguments ? tool_for_model(m->name, set, e) : NULL;
	struct dispatch d = exchange_call(x, CALL_MODEL, t, m->arguments);
	struct call_change change = { .id = 0 };
	struct jw w = jw_to(x->out);

	d.change = &change;
	d.session = m->session;
	d.text = text;
	d.sized = text;
	if (!t)
		dispatch_refused(x->front->service, &d, m->name, e);
	observation_begin(&w, m->name);
	if (t && dispatch(x->front->service, &d, &w, e) == 0) {
		observation_end(&w, &change);
		return true;
	}
	if (text)
		observation_fail_text(text->text, err_name(e->code), e);
	else
		observation_fail(x->out, m->name, e);
	return false;
}

/* How a model's call is to be answered, from the query of its request. */
struct form {
	enum reply_form reply;
	bool text;
};

static bool read_form(struct exchange *x, const struct http_request *r, struct form *ret)
{
	char room[32];
	const char *wrong = NULL;
	struct form f;

	if (!observation_form(exchange_query_word(r, STR("reply"), room), &f.reply))
		wrong = "reply must be ollama, openai, anthropic or gemini";
	const struct str results = exchange_query_word(r, STR("results"), room);
	f.text = str_eq(results, STR("text"));
	if (results.n && !f.text)
		wrong = "results must be text, or not given";
	else if (f.text && f.reply == REPLY_PLAIN)
		wrong = "results=text needs a reply: ollama, openai, anthropic or gemini";
	if (!wrong) {
		*ret = f;
		return true;
	}
	exchange_error(x, 400, NULL, wrong, ERR_INVALID_ARGUMENTS);
	return false;
}

/* The status is always 200: whatever is wrong with a call is for the model to read, even a body
 * that is not JSON. Only a request whose query is wrong is 400. */
static void answer_model(struct exchange *x, const struct http_request *r,
			 const struct model_call *m, struct err *e)
{
	AUTO_BUF wrapped = { .max = 2 * (size_t)LIMIT_ANSWER };
	AUTO_BUF text = { .max = LIMIT_ANSWER };
	struct way_text t = { .text = &text };
	struct form form;

	if (!read_form(x, r, &form))
		return;
	const bool success = observe(x, m, form.text ? &t : NULL, e);
	if (form.reply == REPLY_PLAIN) {
		exchange_send(x, 200, NULL);
		return;
	}
	if (form.text)
		observation_reply_text(&wrapped, form.reply, m, &t, success);
	else
		observation_reply(&wrapped, form.reply, m, buf_str(x->out), success);
	if (wrapped.failed)
		exchange_error(x, 503, NULL, "Not enough memory for the answer, try again",
			       ERR_TOO_BUSY);
	else
		x->outlet->send(x,
				&(struct http_answer){ 200, HTTP_JSON, NULL, buf_str(&wrapped) });
}

/* POST /tools/<name>: the body is the arguments. */
void models_call_named(struct exchange *x, const struct http_request *r, struct str name)
{
	struct err e;
	struct model_call m = { .name = name, .arguments = exchange_body(x, r, &e) };

	if (exchange_session(x, r, &m.session))
		answer_model(x, r, &m, &e);
}

/* POST /tools: a model's call as its provider writes it. */
void models_call(struct exchange *x, const struct http_request *r, struct str rest)
{
	struct err e;
	struct model_call m = { .name = STR("") };
	struct native_call native;
	const struct json *body = exchange_body(x, r, &e);

	(void)rest;
	if (body && native_read(body, &native, &e)) {
		if (exchange_session(x, r, &native.session))
			native_answer(x, &native, &e);
		return;
	}
	if (body)
		observation_read_call(body, x->arena, &m, &e);
	if (exchange_session(x, r, &m.session))
		answer_model(x, r, &m, &e);
}

/* GET /tools?format=…&set=…: the definitions for a model's request. GET /tools/<name>: one of them,
 * of any set. */
void models_list_tools(struct exchange *x, const struct http_request *r, struct str rest)
{
	const struct service *s = x->front->service;
	char format[32], set[32];
	struct jw w = jw_to(x->out);
	struct schema_offer offer;
	struct err e;

	if (rest.n && !tool_for_model(rest, s->tool_set ? s->tool_set : TOOL_MODEL, &e)) {
		exchange_error(x, 404, NULL, e.msg, e.code);
		return;
	}
	if (schema_choose(exchange_query_word(r, STR("format"), format),
			  exchange_query_word(r, STR("set"), set), s->tool_set, &offer, &e) < 0) {
		exchange_error(x, 400, NULL, e.msg, e.code);
		return;
	}
	if (rest.n && offer.dialect >= SCHEMA_ANTHROPIC_NATIVE) {
		exchange_error(x, 400, NULL, "A single tool has no native format",
			       ERR_INVALID_ARGUMENTS);
		return;
	}
	offer.times = s->model_times;
	offer.memory = s->mcp.memory;
	if (offer.dialect == SCHEMA_MCP) {
		const unsigned wanted = offer.set;
		offer = s->mcp;
		offer.set = wanted;
	}
	if (rest.n)
		schema_write_one(&w, tool_by_name(rest, TOOL_MODEL), &offer);
	else
		schema_write(&w, NULL, &offer);
	exchange_send(x, 200, NULL);
}
