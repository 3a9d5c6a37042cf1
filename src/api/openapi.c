/* SPDX-License-Identifier: MIT */
/*
 * openapi: the HTTP API, described for programs (OpenAPI 3.1).
 *
 * openapi.json has what is fixed, and says where the program writes what its tables say: the
 * arguments and fields of the tools (tools/tool.h). The black-box tests hold every answer they get
 * against the document.
 */

#include "api/routes.h"

#include <string.h>

#include "base/jw.h"
#include "base/own.h"
#include "tools/schema.h"
#include "tools/tool.h"

/* A piece of a text, and what is written after it. */
struct openapi_part {
	const char *text;
	enum {
		WRITE_TEXT,	   /* nothing */
		WRITE_VERSION,	   /* that of the program */
		WRITE_CODES,	   /* all codes of errors */
		WRITE_FORMATS,	   /* the names of dialects … */
		WRITE_SETS,	   /* … and of sets of tools */
		WRITE_MODELS,	   /* members: the path of each tool for models */
		WRITE_FAILURES,	   /* members: the answers to what failed … */
		WRITE_FOREIGN,	   /* … on a route of agent-sandbox */
		WRITE_NAME,	   /* of the tool, as all below */
		WRITE_ABOUT,	   /* members: its summary and description */
		WRITE_ARGS,	   /* the schema of its arguments … */
		WRITE_PARAMS,	   /* … or these as parameters of a path and its query */
		WRITE_FIELDS,	   /* the schema of its result; one of two if it has two */
		WRITE_OTHER,	   /* … of the second one */
		WRITE_DONE,	   /* … of the last line of a stream */
		WRITE_RESULT,	   /* … of the answer that has the result in it */
		WRITE_OBSERVATION, /* … of what models get */
	} what;
	const char *name;	 /* of a tool of the wire contract, */
	const struct tool *tool; /* or another tool, or NULL: that of the text */
	bool surface;		 /* only with the routes of agent-sandbox */
};

#include "api/openapi_data.h"

static void write_about(struct jw *w, const struct tool *t)
{
	const struct str about = str_of(t->about);
	struct str first, rest;

	(void)str_cut(about, '.', &first, &rest);
	jw_str(w, "summary", first);
	if (str_trim(rest).n)
		jw_str(w, "description", about);
}

static void write_params(struct jw *w, const struct tool *t)
{
	jw_array(w, NULL);
	for (const struct arg *a = t->args; a->name; a++) {
		const bool in_path = strcmp(a->name, "id") == 0;
		jw_object(w, NULL);
		jw_str(w, "name", str_of(a->name));
		jw_str(w, "in", in_path ? STR("path") : STR("query"));
		jw_bool(w, "required", in_path || a->flags & REQUIRED);
		jw_str(w, "description", str_of(a->about));
		schema_arg(w, "schema", a);
		jw_end(w);
	}
	jw_end(w);
}

static void write_fields(struct jw *w, const struct tool *t)
{
	if (!t->other[0]) {
		schema_fields(w, NULL, t->fields);
		return;
	}
	jw_object(w, NULL);
	jw_array(w, "oneOf");
	schema_fields(w, NULL, t->fields);
	for (size_t i = 0; i < ARRAY_LEN(t->other) && t->other[i]; i++)
		schema_fields(w, NULL, t->other[i]);
	jw_end(w);
	jw_end(w);
}

/* A type, then the fields of the tool, then what is known only when it has ended. */
static void write_done(struct jw *w, const struct field *fields)
{
	static const char *const done[] = { "done", NULL };
	struct field all[9] = { { "type", "The command has ended", FIELD_STR, .choices = done } };
	size_t n = 1;

	while (fields->name && n < ARRAY_LEN(all) - 3)
		all[n++] = *fields++;
	all[n++] =
		(struct field){ "change", "What it changed, for undo", FIELD_INT, FIELD_OPTIONAL };
	all[n] = (struct field){ "notKept", "How many paths of it cannot be brought back",
				 FIELD_INT, FIELD_OPTIONAL };
	schema_fields(w, NULL, all);
}

static void write_words(struct jw *w, const char *const *words)
{
	jw_array(w, NULL);
	for (; *words; words++)
		jw_str(w, NULL, str_of(*words));
	jw_end(w);
}

static void write_codes(struct jw *w)
{
	jw_array(w, NULL);
	for (int code = ERR_NONE + 1; code < ERR_WIRE_END; code++)
		jw_str(w, NULL, str_of(err_name((enum err_code)code)));
	jw_end(w);
}

static void write_text(const struct openapi_part *p, const struct tool *t, bool surface,
		       struct buf *out);

static void write_models(struct buf *out)
{
	const char *comma = "";

	for (size_t i = 0; tool_at(i); i++) {
		if (!(tool_at(i)->flags & TOOL_MODEL))
			continue;
		buf_addf(out, "%s\"/tools/%s\":{\"post\":", comma, tool_at(i)->name);
		write_text(model_operation, tool_at(i), false, out);
		buf_addc(out, '}');
		comma = ",";
	}
}

/* What is about one tool. */
static void write_of_tool(const struct openapi_part *p, const struct tool *t, struct buf *out)
{
	struct jw w = jw_to(out), members = jw_members_to(out);

	switch (p->what) {
	case WRITE_NAME:
		jw_str(&w, NULL, str_of(t->name));
		return;
	case WRITE_ABOUT:
		write_about(&members, t);
		return;
	case WRITE_ARGS:
		schema_args(&w, NULL, t->args);
		return;
	case WRITE_PARAMS:
		write_params(&w, t);
		return;
	case WRITE_FIELDS:
		write_fields(&w, t);
		return;
	case WRITE_OTHER:
		schema_fields(&w, NULL, t->other[0]);
		return;
	case WRITE_DONE:
		write_done(&w, t->fields);
		return;
	case WRITE_RESULT:
		write_text(envelope, t, false, out);
		return;
	case WRITE_OBSERVATION:
		schema_observation(&w, NULL, t);
		return;
	default:
		return;
	}
}

static void write_part(const struct openapi_part *p, const struct tool *t, struct buf *out)
{
	struct jw w = jw_to(out);

	switch (p->what) {
	case WRITE_VERSION:
		jw_str(&w, NULL, STR(SIDECAR_VERSION));
		return;
	case WRITE_CODES:
		write_codes(&w);
		return;
	case WRITE_FORMATS:
		write_words(&w, schema_formats);
		return;
	case WRITE_SETS:
		write_words(&w, schema_sets);
		return;
	case WRITE_MODELS:
		write_models(out);
		return;
	case WRITE_FAILURES:
		write_text(failures, t, false, out);
		return;
	case WRITE_FOREIGN:
		write_text(foreign, t, false, out);
		return;
	default:
		write_of_tool(p, t, out);
		return;
	}
}

static void write_text(const struct openapi_part *p, const struct tool *t, bool surface,
		       struct buf *out)
{
	for (; p->text; p++) {
		const struct tool *wire = p->name ? tool_by_name(str_of(p->name), TOOL_WIRE) : t;
		if (p->surface && !surface)
			continue;
		buf_add(out, str_of(p->text));
		write_part(p, p->tool ? p->tool : wire, out);
	}
}

void openapi_send(struct exchange *x, const struct http_request *r, struct str rest)
{
	(void)r;
	(void)rest;
	write_text(document, NULL, x->front->surface, x->out);
	exchange_send(x, 200, NULL);
}
