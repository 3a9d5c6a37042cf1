/* SPDX-License-Identifier: MIT */
/* native: the table of providers' calls, and what their answers look like. */

#include "api/native.h"

#include "api/changes.h"
#include "api/observation.h"
#include "base/limits.h"
#include "base/own.h"

/* What became of a call. */
struct native_result {
	const struct native_call *call;
	const struct call_text *text; /* if its tool writes text … */
	struct str members;	      /* … else */
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

	observation_fail_text(&text, e);
	jw_str(w, name, buf_str(&text));
}

static void write_tool_result(struct buf *out, const struct native_result *r)
{
	const struct model_call call = { .id = r->call->id };
	char room[sizeof r->e->msg + 64];
	struct buf text = buf_over(room, sizeof room);
	const struct call_text failure = { .text = &text };

	if (r->e) {
		const struct str all = str_of(r->e->msg);
		buf_add(&text, STR("Error: "));
		if (r->e->advice) {
			buf_add(&text, str_upto(all, r->e->advice - 1));
			buf_addc(&text, '\n');
		}
		buf_add(&text, str_from(all, r->e->advice));
	}
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

	jw_object(&inner, NULL);
	if (r->e)
		write_no_output(&inner, r->e);
	jw_end(&inner);
	if (!r->e) {
		text.n = 0;
		buf_addf(&text, "{");
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

bool native_read(const struct json *body, struct native_call *ret, struct err *e)
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

void native_answer(struct exchange *x, const struct native_call *call, struct err *e)
{
	AUTO_BUF members = { .max = LIMIT_ANSWER }, text = { .max = LIMIT_ANSWER };
	struct call_text shown = { .text = &text };
	struct call_change change = { .id = 0 };
	struct call_end end = { .ran = false };
	struct native_result result = { .call = call, .text = &shown };
	struct dispatch d = exchange_call(x, CALL_NATIVE, call->kind->tool, call->arguments);
	char header[48];

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
		exchange_send(x, 200, change.id ? changes_header(change.id, header) : NULL);
}
