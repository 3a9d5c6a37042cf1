/* SPDX-License-Identifier: MIT */
/* observation: what models read, and four providers' ways to write the same. */

#include "results/limits.h"
#include "results/observation.h"

#include "base/own.h"

void observation_begin(struct jw *w, struct str tool)
{
	jw_object(w, NULL);
	jw_bool(w, "success", true);
	jw_str(w, "tool", tool);
	jw_object(w, "output");
}

/* If there is no room for it, the result counts. */
static void write_extra(struct jw *w, const char *name, struct str json)
{
	if (json.n && jw_buf(w)->max - jw_length(w) > json.n + 2 * (size_t)LIMIT_ENVELOPE_END)
		jw_raw(w, name, json);
}

void observation_end(struct jw *w, const struct call_change *change)
{
	jw_end(w);
	jw_null(w, "error");
	write_extra(w, "denied", change->denied);
	if (change->denied_count)
		jw_int(w, "denied_count", change->denied_count);
	write_extra(w, "changes", change->json);
	write_extra(w, "runs_later", change->later);
	write_extra(w, "guard_changed", change->unguarded);
	jw_end(w);
}

void observation_fail(struct buf *out, struct str tool, const struct err *e)
{
	struct jw w = jw_to(out);

	buf_reset(out, SIZE_MAX);
	jw_object(&w, NULL);
	jw_bool(&w, "success", false);
	jw_str(&w, "tool", tool);
	jw_null(&w, "output");
	jw_object(&w, "error");
	jw_str(&w, "code", str_of(err_name(e->code)));
	jw_str(&w, "message", str_of(e->msg));
	if (e->mime) {
		jw_int(&w, "size", e->size);
		jw_str(&w, "mime", str_of(e->mime));
	}
	jw_end(&w);
	jw_end(&w);
}

void observation_fail_text(struct buf *out, const char *kind, const struct err *e)
{
	const struct str all = str_of(e->msg);

	buf_reset(out, SIZE_MAX);
	buf_addf(out, "%s: ", kind);
	if (e->advice) {
		buf_add(out, str_upto(all, e->advice - 1));
		buf_addc(out, '\n');
	}
	buf_add(out, str_from(all, e->advice));
}

bool observation_form(struct str name, enum reply_form *ret)
{
	static const char *const names[REPLY_FORMS] = {
		[REPLY_PLAIN] = "",	   [REPLY_OLLAMA] = "ollama",
		[REPLY_OPENAI] = "openai", [REPLY_ANTHROPIC] = "anthropic",
		[REPLY_GEMINI] = "gemini",
	};

	for (int i = 0; i < REPLY_FORMS; i++) {
		if (!str_eq(str_of(names[i]), name))
			continue;
		*ret = (enum reply_form)i;
		return true;
	}
	return false;
}

/* An object, or a string that holds one; absent or null is empty. */
static const struct json *read_arguments(const struct json *v, struct arena *a, struct err *e)
{
	if (!v || v->type == JSON_NULL || (v->type == JSON_STRING && str_trim(v->string).n == 0))
		return &json_empty;
	if (v->type == JSON_STRING && json_parse(v->string, a, &v, e) < 0)
		return NULL;
	if (v->type == JSON_OBJECT)
		return v;
	(void)err_set(e, ERR_INVALID_ARGUMENTS, "The arguments must be a JSON object, not %s",
		      json_type_name(v));
	return NULL;
}

void observation_read_call(const struct json *call, struct arena *a, struct model_call *ret,
			   struct err *e)
{
	static const struct str wrappers[] = { STR("function"), STR("functionCall") };
	static const struct str members[] = { STR("arguments"), STR("input"), STR("args") };
	const struct json *inner = call, *arguments = NULL;

	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++) {
		const struct json *v = json_get(call, wrappers[i]);
		if (v && v->type == JSON_OBJECT)
			inner = v;
	}
	for (size_t i = 0; i < ARRAY_LEN(members) && !arguments; i++)
		arguments = json_get(inner, members[i]);
	ret->name = json_text(inner, STR("name"));
	ret->session = json_text(call, STR("sessionId"));
	ret->id = json_text(call, STR("call_id"));
	ret->responses = ret->id.n > 0;
	if (!ret->id.n)
		ret->id = json_text(call, STR("id"));
	if (!ret->id.n)
		ret->id = json_text(inner, STR("id"));
	if (ret->name.n == 0)
		(void)err_set(e, ERR_INVALID_ARGUMENTS,
			      "The body is no tool call: it has no name. Send the call as the "
			      "model wrote it, or the arguments to /tools/<name>.");
	else
		ret->arguments = read_arguments(arguments, a, e);
}

static void write_id(struct jw *w, const char *name, struct str id)
{
	if (id.n)
		jw_str(w, name, id);
}

/* What a provider's message says of a call. */
struct provider_reply {
	struct str text;
	bool is_json;		      /* the text is an observation */
	const struct way_text *image; /* an image beside the text; or NULL */
	bool success;
};

static void write_openai(struct jw *w, const struct model_call *call,
			 const struct provider_reply *r)
{
	jw_str(w, call->responses ? "type" : "role",
	       call->responses ? STR("function_call_output") : STR("tool"));
	write_id(w, call->responses ? "call_id" : "tool_call_id", call->id);
	jw_str(w, call->responses ? "output" : "content", r->text);
}

/* The content of a tool_result that shows an image. */
static void write_blocks(struct jw *w, const struct provider_reply *r)
{
	jw_array(w, "content");
	jw_object(w, NULL);
	jw_str(w, "type", STR("image"));
	jw_object(w, "source");
	jw_str(w, "type", STR("base64"));
	jw_str(w, "media_type", str_of(r->image->image_type));
	jw_base64(w, "data", r->image->image);
	jw_end(w);
	jw_end(w);
	jw_object(w, NULL);
	jw_str(w, "type", STR("text"));
	jw_str(w, "text", r->text);
	jw_end(w);
	jw_end(w);
}

static void write_anthropic(struct jw *w, const struct model_call *call,
			    const struct provider_reply *r)
{
	jw_str(w, "type", STR("tool_result"));
	write_id(w, "tool_use_id", call->id);
	if (r->image)
		write_blocks(w, r);
	else
		jw_str(w, "content", r->text);
	jw_bool(w, "is_error", !r->success);
}

static void write_gemini(struct jw *w, const struct model_call *call,
			 const struct provider_reply *r)
{
	jw_object(w, "functionResponse");
	write_id(w, "id", call->id);
	jw_str(w, "name", call->name);
	if (r->is_json) {
		jw_raw(w, "response", r->text);
	} else {
		jw_object(w, "response");
		jw_str(w, r->success ? "output" : "error", r->text);
		jw_end(w);
	}
	jw_end(w);
}

static void write_reply(struct buf *out, enum reply_form form, const struct model_call *call,
			const struct provider_reply *r)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	switch (form) {
	case REPLY_OLLAMA:
		jw_str(&w, "role", STR("tool"));
		jw_str(&w, "tool_name", call->name);
		jw_str(&w, "content", r->text);
		break;
	case REPLY_OPENAI:
		write_openai(&w, call, r);
		break;
	case REPLY_ANTHROPIC:
		write_anthropic(&w, call, r);
		break;
	case REPLY_GEMINI:
		write_gemini(&w, call, r);
		break;
	case REPLY_PLAIN:
	case REPLY_FORMS:
		break;
	}
	jw_end(&w);
}

void observation_reply(struct buf *out, enum reply_form form, const struct model_call *call,
		       struct str observation, bool success)
{
	write_reply(out, form, call,
		    &(struct provider_reply){
			    .text = observation, .is_json = true, .success = success });
}

void observation_reply_text(struct buf *out, enum reply_form form, const struct model_call *call,
			    const struct way_text *text, bool success)
{
	write_reply(out, form, call,
		    &(struct provider_reply){ .text = buf_str(text->text),
					      .image = text->image_type ? text : NULL,
					      .success = success });
}
