/* SPDX-License-Identifier: MIT */
/* manual: write tables of arguments and fields as Markdown and mdoc. */

#include "tools/manual.h"

#include "base/err.h"
#include "tools/schema.h"
#include "tools/tool.h"

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
static void write_arg(struct buf *out, const struct arg *of, const struct arg *a)
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
		write_arg(out, a, item);
}

/* `in` is the prefix of the name: "usage.", "matches[].". */
static void write_field(struct buf *out, struct str in, const struct field *f)
{
	static const char *const types[] = { "string", "integer", "boolean", "object" };
	AUTO_BUF below = { .max = 256 };

	buf_addf(out, "| `%.*s%s`%s | %s%s%s | ", STR_FMT(in), f->name,
		 f->flags & FIELD_OPTIONAL ? " (optional)" : "",
		 f->flags & FIELD_LIST ? "array of " : "", types[f->type],
		 f->flags & FIELD_NULLABLE ? " or null" : "");
	cell(out, f->about);
	for (size_t i = 0; f->choices && f->choices[i]; i++)
		buf_addf(out, "%s `%s`", i ? "," : ":", f->choices[i]);
	buf_add(out, STR(" |\n"));
	buf_addf(&below, "%.*s%s%s.", STR_FMT(in), f->name, f->flags & FIELD_LIST ? "[]" : "");
	for (const struct field *member = f->of; member && member->name; member++)
		write_field(out, buf_str(&below), member);
}

static const char *nature(const struct tool *t)
{
	if (t->flags & TOOL_READ_ONLY)
		return "changes nothing";
	return t->flags & TOOL_OPEN_WORLD ? "may change anything the sandbox allows"
					  : "changes files";
}

static void write_tool(struct buf *out, const struct tool *t)
{
	buf_addf(out, "\n## %s\n\n", t->name);
	cell(out, t->about);
	buf_addf(out, "\n\n*%s set; %s%s.*\n", t->flags & TOOL_CORE ? "Core" : "Full", nature(t),
		 t->flags & TOOL_IDEMPOTENT ? "; safe to repeat" : "");
	buf_add(out, STR("\n| argument | type | meaning |\n|---|---|---|\n"));
	for (const struct arg *a = t->args; a->name; a++)
		write_arg(out, NULL, a);
	buf_add(out, STR("\n| output | type | meaning |\n|---|---|---|\n"));
	for (const struct field *f = t->fields; f->name; f++)
		write_field(out, STR(""), f);
}

void manual_write_markdown(struct buf *out)
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
			write_tool(out, tool_at(i));
	buf_add(out, STR("\n## Error codes\n\n"));
	for (int code = ERR_NONE + 1; code < ERR_WIRE_END; code++)
		buf_addf(out, "- `%s`\n", err_name((enum err_code)code));
}

void manual_write_mdoc(struct buf *out)
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
