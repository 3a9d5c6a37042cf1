/* SPDX-License-Identifier: MIT */
/* schema: write tables of arguments and fields as JSON Schema, as Markdown and as mdoc. */

#include "tools/schema.h"

#include <ctype.h>
#include <stdio.h>

#include "base/jw.h"
#include "tools/watched.h"
#include "tools/limits.h"

#define MAX_SAFE_INTEGER INT64_C(9007199254740991) /* a larger limit is not written */

const char *const schema_formats[] = {
	[SCHEMA_OLLAMA] = "ollama",
	[SCHEMA_OPENAI] = "openai",
	[SCHEMA_OPENAI_STRICT] = "openai-strict",
	[SCHEMA_OPENAI_RESPONSES] = "openai-responses",
	[SCHEMA_ANTHROPIC] = "anthropic",
	[SCHEMA_GEMINI] = "gemini",
	[SCHEMA_MCP] = "mcp",
	[SCHEMA_ANTHROPIC_NATIVE] = "anthropic-native",
	[SCHEMA_OPENAI_NATIVE] = "openai-native",
	[SCHEMA_DIALECTS] = NULL,
};

const char *const schema_sets[] = { "core", "full", NULL };

/* What a dialect includes. */
static const struct dialect {
	bool rare;   /* rare arguments */
	bool limits; /* default, minimum, maximum */
	bool plain;  /* also false and 0 as defaults, which models need not pay for */
	bool closed; /* additionalProperties: false */
	bool strict; /* every property is required */
	bool upper;  /* types are written OBJECT, STRING … */
	struct run_times times;
} dialects[SCHEMA_DIALECTS] = {
	[SCHEMA_OPENAI] = { .rare = true, .limits = true, .closed = true },
	[SCHEMA_OPENAI_STRICT] = { .rare = true, .closed = true, .strict = true },
	[SCHEMA_OPENAI_RESPONSES] = { .rare = true, .limits = true, .closed = true },
	[SCHEMA_ANTHROPIC] = { .rare = true, .limits = true, .closed = true },
	[SCHEMA_GEMINI] = { .rare = true, .upper = true },
	[SCHEMA_MCP] = { .rare = true, .limits = true, .closed = true },
};

/* For programs that call the HTTP API directly. */
static const struct dialect http = { .rare = true,
				     .limits = true,
				     .times = { LIMIT_RUN_MS, LIMIT_COMMAND_MS } };

static bool dialect_by_name(struct str name, enum schema_dialect *ret)
{
	for (int i = 0; i < SCHEMA_DIALECTS; i++) {
		if (!str_eq(str_of(schema_formats[i]), name))
			continue;
		*ret = (enum schema_dialect)i;
		return true;
	}
	return false;
}

unsigned schema_default_set(enum schema_dialect d)
{
	return d == SCHEMA_MCP ? TOOL_MODEL : TOOL_CORE;
}

/* The name of an argument's type in JSON Schema. */
static const char *schema_type(const struct arg *a)
{
	switch (a->type) {
	case ARG_STR:
	case ARG_CHOICE:
		return "string";
	case ARG_INT:
		return "integer";
	case ARG_NUM:
		return "number";
	case ARG_BOOL:
		return "boolean";
	case ARG_STRINGS:
	case ARG_PAIRS:
	case ARG_OBJECTS:
		return "array";
	case ARG_JSON:
		break;
	}
	return "object";
}

static void write_type(struct jw *w, const char *type, bool nullable)
{
	if (!nullable) {
		jw_str(w, "type", str_of(type));
		return;
	}
	jw_array(w, "type");
	jw_str(w, NULL, str_of(type));
	jw_str(w, NULL, STR("null"));
	jw_end(w);
}

/* The type of an argument as the dialect writes it. */
static void write_arg_type(struct jw *w, const char *type, bool nullable, const struct dialect *d)
{
	char name[16] = "";

	for (size_t i = 0; i < sizeof name - 1 && type[i]; i++)
		name[i] = (char)(d->upper ? toupper(type[i]) : type[i]);
	write_type(w, name, nullable);
}

static void write_words(struct jw *w, const char *const *words, bool nullable)
{
	jw_array(w, "enum");
	for (; *words; words++)
		jw_str(w, NULL, str_of(*words));
	if (nullable)
		jw_null(w, NULL);
	jw_end(w);
}

static void write_limits(struct jw *w, const struct arg *a, const struct dialect *d)
{
	const bool timed = a->flags & RUN_TIME;
	const int64_t usual = timed ? d->times.usual_ms : a->def;
	const int64_t most = timed ? d->times.most_ms : a->max;

	if (a->type == ARG_CHOICE)
		jw_str(w, "default", str_of(a->choices[a->def]));
	if (a->type == ARG_BOOL && (a->def || d->plain))
		jw_bool(w, "default", a->def != 0);
	if (a->type != ARG_INT && a->type != ARG_NUM)
		return;
	/* A default outside the limits means "not given". */
	if (usual >= a->min && (usual || d->plain))
		jw_int(w, "default", usual);
	jw_int(w, "minimum", a->min);
	if (most < MAX_SAFE_INTEGER)
		jw_int(w, "maximum", most);
}

static void write_object(struct jw *w, const char *name, const struct arg *table,
			 const struct dialect *d);

static void write_arg(struct jw *w, const char *name, const struct arg *a, const struct dialect *d)
{
	const bool nullable = d->strict && !(a->flags & (REQUIRED | EXPECTED));
	char usual[40];

	jw_object(w, name);
	if (a->type == ARG_JSON)
		jw_raw(w, "type", STR("[\"array\",\"object\"]"));
	else
		write_arg_type(w, schema_type(a), nullable, d);
	if (a->type == ARG_CHOICE)
		write_words(w, a->choices, nullable);
	if (a->type == ARG_OBJECTS)
		write_object(w, "items", a->of, d);
	if (a->type == ARG_STRINGS || a->type == ARG_PAIRS) {
		jw_object(w, "items");
		write_arg_type(w, "string", false, d);
		jw_end(w);
	}
	jw_open_str(w, "description");
	jw_piece(w, str_of(a->about));
	/* Where defaults are not members, a model reads this one. */
	if (a->flags & RUN_TIME && !d->limits) {
		(void)snprintf(usual, sizeof usual, " (default %lld)",
			       (long long)d->times.usual_ms);
		jw_piece(w, str_of(usual));
	}
	jw_close_str(w);
	if (d->limits)
		write_limits(w, a, d);
	jw_end(w);
}

static void write_object(struct jw *w, const char *name, const struct arg *table,
			 const struct dialect *d)
{
	jw_object(w, name);
	write_arg_type(w, "object", false, d);
	jw_object(w, "properties");
	for (const struct arg *a = table; a->name; a++)
		if (d->rare || !(a->flags & RARE))
			write_arg(w, a->name, a, d);
	jw_end(w);
	jw_array(w, "required");
	for (const struct arg *a = table; a->name; a++)
		if (d->strict || a->flags & (REQUIRED | EXPECTED))
			jw_str(w, NULL, str_of(a->name));
	jw_end(w);
	if (d->closed)
		jw_bool(w, "additionalProperties", false);
	jw_end(w);
}

/* By enum field_type. */
static const char *const field_types[] = { "string", "integer", "boolean", "object" };

static void write_fields(struct jw *w, const struct field *table);

static void write_field_type(struct jw *w, const struct field *f, bool nullable)
{
	write_type(w, field_types[f->type], nullable);
	if (f->choices)
		write_words(w, f->choices, nullable);
	if (f->type == FIELD_OBJECT)
		write_fields(w, f->of);
}

static void write_field(struct jw *w, const struct field *f)
{
	const bool nullable = f->flags & FIELD_NULLABLE;

	jw_object(w, f->name);
	if (f->flags & FIELD_LIST) {
		write_type(w, "array", nullable);
		jw_object(w, "items");
		write_field_type(w, f, false);
		jw_end(w);
	} else {
		write_field_type(w, f, nullable);
	}
	jw_str(w, "description", str_of(f->about));
	jw_end(w);
}

/* Write the members of an object's schema after its type. */
static void write_fields(struct jw *w, const struct field *table)
{
	jw_object(w, "properties");
	for (const struct field *f = table; f->name; f++)
		write_field(w, f);
	jw_end(w);
	jw_array(w, "required");
	for (const struct field *f = table; f->name; f++)
		if (!(f->flags & FIELD_OPTIONAL))
			jw_str(w, NULL, str_of(f->name));
	jw_end(w);
	jw_bool(w, "additionalProperties", false);
}

void schema_fields(struct jw *w, const char *name, const struct field *table)
{
	jw_object(w, name);
	write_type(w, "object", false);
	write_fields(w, table);
	jw_end(w);
}

void schema_observation(struct jw *w, const char *name, const struct tool *t)
{
	static const struct field error_fields[] = {
		{ "code", "What kind of failure", FIELD_STR },
		{ "message", "What was wrong and what to do", FIELD_STR },
		{ "size", "BINARY_FILE: bytes of the file", FIELD_INT, FIELD_OPTIONAL },
		{ "mime", "BINARY_FILE: its media type", FIELD_STR, FIELD_OPTIONAL },
		F_END,
	};
	const struct field fields[] = {
		{ "success", "Whether the tool ran", FIELD_BOOL },
		{ "tool", "Its name", FIELD_STR },
		{ "output", "Its result, or null", FIELD_OBJECT, FIELD_NULLABLE, t->fields },
		{ "error", "Why it failed, or null", FIELD_OBJECT, FIELD_NULLABLE, error_fields },
		{ "denied", "What the sandbox refused to its command, if it did: the first 20",
		  FIELD_OBJECT, FIELD_LIST | FIELD_OPTIONAL, denied_fields },
		{ "denied_count", "How many operations these were", FIELD_INT, FIELD_OPTIONAL },
		{ "changes", "What it changed, if it did", FIELD_OBJECT, FIELD_OPTIONAL,
		  changed_fields },
		{ "runs_later", "Of that, what a person's programs run later, outside", FIELD_STR,
		  FIELD_LIST | FIELD_OPTIONAL },
		{ "guard_changed",
		  "Guarded paths that changed while its command ran, by no allowed call", FIELD_STR,
		  FIELD_LIST | FIELD_OPTIONAL },
		F_END,
	};

	schema_fields(w, name, fields);
}

void schema_arg(struct jw *w, const char *name, const struct arg *a)
{
	write_arg(w, name, a, &http);
}

void schema_args(struct jw *w, const char *name, const struct arg *table)
{
	write_object(w, name, table, &http);
}

static void write_annotations(struct jw *w, const struct tool *t)
{
	jw_object(w, "annotations");
	jw_str(w, "title", str_of(t->title)); /* where clients before 2025-06-18 look for it */
	jw_bool(w, "readOnlyHint", t->flags & TOOL_READ_ONLY);
	jw_bool(w, "destructiveHint", t->flags & TOOL_DESTRUCTIVE);
	jw_bool(w, "idempotentHint", t->flags & TOOL_IDEMPOTENT);
	jw_bool(w, "openWorldHint", t->flags & TOOL_OPEN_WORLD);
	jw_end(w);
}

/* What only MCP clients get. */
static void write_mcp(struct jw *w, const struct tool *t, const struct schema_offer *o)
{
	if (o->structured)
		schema_observation(w, "outputSchema", t);
	write_annotations(w, t);
	/* One client cuts results at a size of its own unless a tool names another, and may have
	 * its model search for tools unless they are to be shown at once. */
	jw_object(w, "_meta");
	jw_int(w, "anthropic/maxResultSizeChars", o->result_bytes + o->result_bytes / 4);
	jw_bool(w, "anthropic/alwaysLoad", true);
	jw_end(w);
}

static void write_tool(struct jw *w, const struct tool *t, const struct schema_offer *o)
{
	const enum schema_dialect d = o->dialect;
	const bool function = d <= SCHEMA_OPENAI_RESPONSES;
	const bool nested = d < SCHEMA_OPENAI_RESPONSES;
	struct dialect how = dialects[d];

	how.times = o->times;
	jw_object(w, NULL);
	if (function)
		jw_str(w, "type", STR("function"));
	if (nested)
		jw_object(w, "function");
	jw_str(w, "name", str_of(t->name));
	if (d == SCHEMA_MCP)
		jw_str(w, "title", str_of(t->title));
	const bool reads = d == SCHEMA_MCP && !o->structured && t->about_reader;
	jw_str(w, "description", str_of(reads ? t->about_reader : t->about));
	write_object(w,
		     d == SCHEMA_ANTHROPIC ? "input_schema"
		     : d == SCHEMA_MCP	   ? "inputSchema"
					   : "parameters",
		     t->args, &how);
	if (d == SCHEMA_OPENAI_STRICT)
		jw_bool(w, "strict", true);
	if (d == SCHEMA_OPENAI_RESPONSES) /* whose default is true */
		jw_bool(w, "strict", false);
	if (d == SCHEMA_MCP)
		write_mcp(w, t, o);
	if (nested)
		jw_end(w);
	jw_end(w);
}

/* The tools that a provider has built into its models. */
static void write_native(struct jw *w, const char *name, const struct schema_offer *o)
{
	static const struct {
		enum schema_dialect dialect;
		const char *type, *name;
		bool memory, local, old;
	} natives[] = {
		{ SCHEMA_ANTHROPIC_NATIVE, "text_editor_20250728", "str_replace_based_edit_tool" },
		{ SCHEMA_ANTHROPIC_NATIVE, "bash_20250124", "bash" },
		{ SCHEMA_ANTHROPIC_NATIVE, "memory_20250818", "memory", .memory = true },
		{ SCHEMA_OPENAI_NATIVE, "apply_patch" },
		{ SCHEMA_OPENAI_NATIVE, "shell", .local = true },
		{ SCHEMA_OPENAI_NATIVE, "local_shell", .old = true },
	};

	jw_array(w, name);
	for (size_t i = 0; i < ARRAY_LEN(natives); i++) {
		if (natives[i].dialect != o->dialect || (natives[i].memory && !o->memory) ||
		    (natives[i].old && o->set == TOOL_CORE))
			continue;
		jw_object(w, NULL);
		jw_str(w, "type", str_of(natives[i].type));
		if (natives[i].name)
			jw_str(w, "name", str_of(natives[i].name));
		if (natives[i].local)
			jw_raw(w, "environment", STR("{\"type\":\"local\"}"));
		jw_end(w);
	}
	jw_end(w);
}

void schema_write_one(struct jw *w, const struct tool *t, const struct schema_offer *o)
{
	write_tool(w, t, o);
}

void schema_write(struct jw *w, const char *name, const struct schema_offer *o)
{
	if (o->dialect >= SCHEMA_ANTHROPIC_NATIVE) {
		write_native(w, name, o);
		return;
	}
	jw_array(w, name);
	if (o->dialect == SCHEMA_GEMINI) {
		jw_object(w, NULL);
		jw_array(w, "functionDeclarations");
	}
	for (size_t i = 0; tool_at(i); i++)
		if (tool_at(i)->flags & o->set)
			write_tool(w, tool_at(i), o);
	if (o->dialect == SCHEMA_GEMINI) {
		jw_end(w);
		jw_end(w);
	}
	jw_end(w);
}

int schema_choose(struct str format, struct str set_name, unsigned set, struct schema_offer *ret,
		  struct err *e)
{
	enum schema_dialect dialect = SCHEMA_OLLAMA;
	const bool only_core = set == TOOL_CORE;

	if (format.n && !dialect_by_name(format, &dialect))
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "format must be ollama, openai, openai-strict, openai-responses, "
			       "anthropic, gemini, mcp, anthropic-native or openai-native");
	if (only_core && dialect >= SCHEMA_ANTHROPIC_NATIVE)
		return err_set(
			e, ERR_INVALID_ARGUMENTS,
			"This server offers its five tools only (--tool-set core), not those "
			"of a provider");
	if (!set)
		set = schema_default_set(dialect);
	if (set_name.n)
		set = str_eq(set_name, STR("core"))   ? TOOL_CORE
		      : str_eq(set_name, STR("full")) ? TOOL_MODEL
						      : 0;
	if (!set)
		return err_set(e, ERR_INVALID_ARGUMENTS, "set must be core or full");
	*ret = (struct schema_offer){
		.dialect = dialect,
		.set = only_core ? TOOL_CORE : set,
		.times = dialect == SCHEMA_MCP ? run_times_mcp : run_times_model,
		.result_bytes = LIMIT_RESULT_BYTES,
		.memory = true,
	};
	return 0;
}

/* Add the text of a table's cell; a bar would end it. */
static void cell(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
}

/* `of` is the list argument whose items have this member, or NULL. */
static void describe_arg(struct buf *out, const struct arg *of, const struct arg *a)
{
	buf_addf(out, "| `%s%s%s`%s | %s | ", of ? of->name : "", of ? "[]." : "", a->name,
		 a->flags & (REQUIRED | EXPECTED) ? " (required)" : "", schema_type(a));
	cell(out, a->about);
	if (a->flags & RUN_TIME)
		buf_addf(out, " (default %lld, by MCP %lld)", (long long)run_times_model.usual_ms,
			 (long long)run_times_mcp.usual_ms);
	if (a->type == ARG_CHOICE) {
		buf_add(out, STR(":"));
		for (size_t i = 0; a->choices[i]; i++)
			buf_addf(out, "%s `%s`", i ? "," : "", a->choices[i]);
		buf_addf(out, " (default `%s`)", a->choices[a->def]);
	}
	buf_add(out, STR(" |\n"));
	for (const struct arg *item = a->of; item && item->name; item++)
		describe_arg(out, a, item);
}

/* `in` is the prefix of the name: "usage.", "matches[].". */
static void describe_field(struct buf *out, struct str in, const struct field *f)
{
	AUTO_BUF below = { .max = 256 };

	buf_addf(out, "| `%.*s%s`%s | %s%s%s | ", STR_FMT(in), f->name,
		 f->flags & FIELD_OPTIONAL ? " (optional)" : "",
		 f->flags & FIELD_LIST ? "array of " : "", field_types[f->type],
		 f->flags & FIELD_NULLABLE ? " or null" : "");
	cell(out, f->about);
	for (size_t i = 0; f->choices && f->choices[i]; i++)
		buf_addf(out, "%s `%s`", i ? "," : ":", f->choices[i]);
	buf_add(out, STR(" |\n"));
	buf_addf(&below, "%.*s%s%s.", STR_FMT(in), f->name, f->flags & FIELD_LIST ? "[]" : "");
	for (const struct field *member = f->of; member && member->name; member++)
		describe_field(out, buf_str(&below), member);
}

static const char *nature(const struct tool *t)
{
	if (t->flags & TOOL_READ_ONLY)
		return "changes nothing";
	return t->flags & TOOL_OPEN_WORLD ? "may change anything the sandbox allows"
					  : "changes files";
}

static void describe_tool(struct buf *out, const struct tool *t)
{
	buf_addf(out, "\n## %s\n\n", t->name);
	cell(out, t->about);
	buf_addf(out, "\n\n*%s set; %s%s.*\n", t->flags & TOOL_CORE ? "Core" : "Full", nature(t),
		 t->flags & TOOL_IDEMPOTENT ? "; safe to repeat" : "");
	buf_add(out, STR("\n| argument | type | meaning |\n|---|---|---|\n"));
	for (const struct arg *a = t->args; a->name; a++)
		describe_arg(out, NULL, a);
	buf_add(out, STR("\n| output | type | meaning |\n|---|---|---|\n"));
	for (const struct field *f = t->fields; f->name; f++)
		describe_field(out, STR(""), f);
}

void schema_write_markdown(struct buf *out)
{
	buf_add(out, STR("# Tools for models\n"
			 "\n"
			 "Written by `sidecar tools --markdown`; do not edit.\n"
			 "\n"
			 "The core set has five tools, for small models, which get confused by "
			 "more; the full set has\nall tools. `GET /tools?format=F&set=S` and "
			 "`sidecar tools --format F --set S` give the\ndefinitions to put into a "
			 "request to a model. The formats are"));
	for (size_t i = 0; schema_formats[i]; i++)
		buf_addf(out, "%s `%s`", i ? "," : "", schema_formats[i]);
	buf_add(out,
		STR(".\n\n"
		    "`POST /tools/NAME` with the arguments as a JSON object calls a tool. "
		    "`POST /tools` takes a\nmodel's tool call unchanged; with `?reply=ollama`, "
		    "`openai`, `anthropic` or `gemini` the answer\nhas the form in which it "
		    "goes back to the model. The answer is always an observation:\n\n"
		    "```json\n"
		    "{\"success\":true,\"tool\":\"read_file\",\"output\":{\"content\":\"...\"},"
		    "\"error\":null}\n"
		    "{\"success\":false,\"tool\":\"read_file\",\"output\":null,\"error\":{"
		    "\"code\":\"FILE_NOT_FOUND\",\"message\":\"...\"}}\n"
		    "```\n\n"
		    "An optional argument that is `null` or an empty string counts as absent. "
		    "Numbers and booleans\nmay be given as strings. `sessionId` may be given "
		    "next to the arguments.\n"));
	for (size_t i = 0; tool_at(i); i++)
		if (tool_at(i)->flags & TOOL_MODEL)
			describe_tool(out, tool_at(i));
	buf_add(out, STR("\n## Error codes\n\n"));
	for (int code = ERR_NONE + 1; code < ERR_WIRE_END; code++)
		buf_addf(out, "- `%s`\n", err_name((enum err_code)code));
}

void schema_write_mdoc(struct buf *out)
{
	buf_add(out, STR(".Bl -tag -width Ds\n"));
	for (size_t i = 0; tool_at(i); i++) {
		const struct tool *t = tool_at(i);
		if (!(t->flags & TOOL_MODEL))
			continue;
		buf_addf(out, ".It Ic %s", t->name);
		for (const struct arg *a = t->args; a->name; a++)
			buf_addf(out, " %sAr %s", a->flags & (REQUIRED | EXPECTED) ? "" : "Op ",
				 a->name);
		buf_addc(out, '\n');
		/* In mdoc each sentence begins on a new line. */
		for (const char *c = t->about; *c; c++)
			buf_addc(out, *c == ' ' && c[-1] == '.' ? '\n' : *c);
		buf_addc(out, '\n');
	}
	buf_add(out, STR(".El\n"));
}
