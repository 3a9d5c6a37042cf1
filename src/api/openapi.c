/* SPDX-License-Identifier: MIT */
/* openapi: the document, from the tables of tools and operations. */

#include "api/openapi.h"

#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "tools/schema.h"

/* A call of each tool of the wire contract, and its answer. */
static const struct {
	const char *tool, *request, *answer;
} examples[] = {
	{ "read", "{\"path\":\"README.md\",\"offset\":1,\"limit\":1}",
	  "{\"ok\":true,\"result\":{\"type\":\"text\",\"content\":\"# Title\",\"totalLines\":5,"
	  "\"hasMore\":true}}" },
	{ "write", "{\"path\":\"notes/a.txt\",\"content\":\"one\\n\"}",
	  "{\"ok\":true,\"result\":{\"ok\":true,\"path\":\"notes/a.txt\",\"bytes\":4}}" },
	{ "edit", "{\"path\":\"a.txt\",\"oldText\":\"one\",\"newText\":\"two\"}",
	  "{\"ok\":true,\"result\":{\"ok\":true,\"path\":\"a.txt\",\"diff\":\"-1 one\\n+1 "
	  "two\"}}" },
	{ "patch",
	  "{\"patch\":\"*** Begin Patch\\n*** Add File: notes/b.txt\\n+two\\n*** End Patch\\n\"}",
	  "{\"ok\":true,\"result\":{\"files\":[{\"path\":\"notes/"
	  "b.txt\",\"kind\":\"created\",\"added\":1,"
	  "\"removed\":0,\"diff\":\"+1 two\"}],\"fuzz\":[]}}" },
	{ "ls", "{\"path\":\"src\"}", "{\"ok\":true,\"result\":{\"output\":\"a.c\\nlib/\"}}" },
	{ "find", "{\"pattern\":\"*.c\"}",
	  "{\"ok\":true,\"result\":{\"files\":[\"src/a.c\"],\"truncated\":false,\"limit\":1000}}" },
	{ "grep", "{\"pattern\":\"main\",\"glob\":\"*.c\"}",
	  "{\"ok\":true,\"result\":{\"content\":\"src/a.c:3: int main(void)\"}}" },
	{ "search", "{\"pattern\":\"main\",\"types\":[\"c\"]}",
	  "{\"ok\":true,\"result\":{\"matches\":[{\"path\":\"src/a.c\",\"line\":3,\"lines\":[\"int "
	  "main(void)\"]}],\"isFile\":false,\"filesSearched\":1,\"stoppedBecause\":\"complete\","
	  "\"skipped\":{\"ignored\":0,\"binary\":0,\"unreadable\":0,\"longLines\":0}}}" },
	{ "bash", "{\"command\":\"make\",\"timeoutSeconds\":60}",
	  "{\"type\":\"done\",\"exitCode\":0}" },
};

static const char *example_of(const struct operation *o, bool request)
{
	for (size_t i = 0; o->tool && i < ARRAY_LEN(examples); i++)
		if (strcmp(examples[i].tool, o->tool->name) == 0)
			return request ? examples[i].request : examples[i].answer;
	return NULL;
}

static void raw(struct jw *w, const char *name, const char *json)
{
	jw_raw(w, name, str_of(json));
}

void openapi_open(struct jw *w, const char *type)
{
	jw_object(w, "content");
	jw_object(w, type);
}

void openapi_close(struct jw *w, const char *example)
{
	if (example)
		raw(w, "example", example);
	jw_end(w);
	jw_end(w);
}

void openapi_content(struct jw *w, const char *type, const char *schema, const char *example)
{
	openapi_open(w, type);
	raw(w, "schema", schema);
	openapi_close(w, example);
}

void openapi_args(struct jw *w, const struct operation *o)
{
	openapi_open(w, "application/json");
	schema_args(w, "schema", o->tool->args);
	openapi_close(w, example_of(o, true));
}

/* The result's own schema: one of two if the tool has two. */
static void write_result(struct jw *w, const struct field *one, const struct field *other)
{
	if (!other) {
		schema_fields(w, "result", one);
		return;
	}
	jw_object(w, "result");
	jw_array(w, "oneOf");
	schema_fields(w, NULL, one);
	schema_fields(w, NULL, other);
	jw_end(w);
	jw_end(w);
}

static void write_envelope(struct jw *w, const struct field *one, const struct field *other)
{
	jw_object(w, "schema");
	jw_str(w, "type", STR("object"));
	jw_object(w, "properties");
	raw(w, "ok", "{\"type\":\"boolean\",\"enum\":[true]}");
	write_result(w, one, other);
	jw_end(w);
	raw(w, "required", "[\"ok\",\"result\"]");
	jw_bool(w, "additionalProperties", false);
	jw_end(w);
}

void openapi_result(struct jw *w, const struct operation *o)
{
	openapi_open(w, "application/json");
	write_envelope(w, o->tool->fields, o->tool->other);
	openapi_close(w, example_of(o, false));
}

/* What models get. */
static void write_observation(struct jw *w, const struct operation *o)
{
	openapi_open(w, "application/json");
	jw_object(w, "schema");
	jw_array(w, "anyOf");
	schema_observation(w, NULL, o->tool);
	raw(w, NULL, OPENAPI_REF("schemas/Message"));
	jw_end(w);
	jw_end(w);
	openapi_close(w, NULL);
}

/* The last line of a stream: a type, then the fields of the tool. */
static void write_done(struct jw *w, const struct field *fields)
{
	static const char *const done[] = { "done", NULL };
	struct field all[8] = { { "type", "The command has ended", FIELD_STR, .choices = done } };
	size_t n = 1;

	while (fields->name && n < ARRAY_LEN(all) - 1)
		all[n++] = *fields++;
	schema_fields(w, NULL, all);
}

/* A stream of JSON lines. */
static void write_lines(struct jw *w, const struct operation *o)
{
	openapi_open(w, "application/x-ndjson");
	jw_object(w, "schema");
	jw_str(w, "description", STR("Each line is one of these; the last one is done or error."));
	jw_array(w, "oneOf");
	raw(w, NULL, OPENAPI_REF("schemas/Delta"));
	write_done(w, o->tool->fields);
	raw(w, NULL, OPENAPI_REF("schemas/StreamError"));
	jw_end(w);
	jw_end(w);
	raw(w, "example", example_of(o, false));
	jw_end(w);
	jw_object(w, "application/json");
	write_envelope(w, o->tool->other, NULL);
	openapi_close(w, NULL);
}

static void write_params(struct jw *w, const struct operation *o)
{
	const struct arg *params = o->params || o->body || !o->tool ? o->params : o->tool->args;
	char place[64];

	if (!params || !params->name)
		return;
	jw_array(w, "parameters");
	for (const struct arg *a = params; a->name; a++) {
		(void)snprintf(place, sizeof place, "{%s}", a->name);
		const bool in_path = strstr(o->path, place);
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

static void write_answers(struct jw *w, const struct operation *o)
{
	jw_object(w, "responses");
	jw_object(w, o->answer ? "200" : "204");
	jw_str(w, "description", o->answer ? STR("It succeeded") : STR("It is done"));
	if (o->answer)
		o->answer(w, o);
	jw_end(w);
	if (o->notified)
		raw(w, "202", "{\"description\":\"A notification was taken\"}");
	if (!o->failures) {
		raw(w, "400", OPENAPI_REF("responses/Failed"));
		raw(w, "403", OPENAPI_REF("responses/Forbidden"));
		raw(w, "503", OPENAPI_REF("responses/Busy"));
	}
	raw(w, "401", OPENAPI_REF("responses/Unauthorized"));
	raw(w, "default", o->failures ? o->failures : OPENAPI_REF("responses/Refused"));
	jw_end(w);
}

static void write_operation(struct jw *w, const struct operation *o)
{
	const struct str about = str_of(o->about ? o->about : o->tool->about);
	struct str first, rest;

	jw_object(w, o->method);
	jw_str(w, "operationId", str_of(o->id));
	jw_array(w, "tags");
	jw_str(w, NULL, str_of(o->tag));
	jw_end(w);
	(void)str_cut(about, '.', &first, &rest);
	jw_str(w, "summary", first);
	if (str_trim(rest).n)
		jw_str(w, "description", about);
	write_params(w, o);
	if (o->body) {
		jw_object(w, "requestBody");
		o->body(w, o);
		jw_end(w);
	}
	write_answers(w, o);
	jw_end(w);
}

/* Operations of one path, which stand in a row. Returns the first that is of another path. */
static const struct operation *write_path(struct jw *w, const struct operation *o)
{
	const char *path = o->path;

	jw_object(w, path);
	for (; o->path && strcmp(o->path, path) == 0; o++)
		write_operation(w, o);
	jw_end(w);
	return o;
}

static void write_tool(struct jw *w, const struct tool *t)
{
	const bool model = t->flags & TOOL_MODEL, lines = t->flags & TOOL_STREAM;
	char path[64], id[64];
	const struct operation o[] = {
		{ path, "post", id, model ? "models" : "tools", NULL, NULL, t, openapi_args,
		  model	  ? write_observation
		  : lines ? write_lines
			  : openapi_result },
		{ .path = NULL },
	};

	if (!(t->flags & (TOOL_WIRE | TOOL_MODEL)))
		return;
	(void)snprintf(path, sizeof path, "/%s%s", model ? "tools/" : "", t->name);
	(void)snprintf(id, sizeof id, "%s", t->name);
	(void)write_path(w, o);
}

/* An error, whose code is one of those that exist. */
static void write_error_schema(struct jw *w)
{
	jw_object(w, "Error");
	jw_str(w, "type", STR("object"));
	jw_object(w, "properties");
	raw(w, "ok", "{\"type\":\"boolean\",\"enum\":[false]}");
	raw(w, "error", "{\"type\":\"string\",\"description\":\"What was wrong\"}");
	jw_object(w, "code");
	jw_str(w, "type", STR("string"));
	jw_array(w, "enum");
	for (int code = ERR_NONE + 1; code < ERR_WIRE_END; code++)
		jw_str(w, NULL, str_of(err_name((enum err_code)code)));
	jw_end(w);
	jw_end(w);
	raw(w, "conflicts",
	    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
	    "\"path\":{\"type\":\"string\"},\"why\":{\"type\":\"string\"}},"
	    "\"required\":[\"path\",\"why\"]},"
	    "\"description\":\"With CONFLICT: what is not as the change left it\"}");
	raw(w, "paths",
	    "{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
	    "\"description\":\"With NOT_SAVED: what cannot be restored\"}");
	jw_end(w);
	raw(w, "required", "[\"ok\",\"error\"]");
	jw_bool(w, "additionalProperties", false);
	jw_end(w);
}

static void write_response(struct jw *w, const char *name, const char *about, const char *schema)
{
	jw_object(w, name);
	jw_str(w, "description", str_of(about));
	openapi_content(w, "application/json", schema, NULL);
	jw_end(w);
}

static void write_schemas(struct jw *w, bool surface)
{
	static const char *const stream[] = { "stdout", "stderr", NULL };
	static const char *const delta[] = { "delta", NULL }, *const failed[] = { "error", NULL };
	static const struct field delta_fields[] = {
		{ "type", "A piece of output", FIELD_STR, .choices = delta },
		{ "data", "The text, whole characters", FIELD_STR },
		{ "stream", "Where it was written", FIELD_STR, .choices = stream },
		F_END,
	};
	static const struct field stream_error_fields[] = {
		{ "type", "The command could not be run", FIELD_STR, .choices = failed },
		{ "message", "Why", FIELD_STR },
		{ "code", "As in Error", FIELD_STR },
		F_END,
	};
	static const struct field foreign_fields[] = {
		{ "code", "What kind of failure", FIELD_STR },
		{ "message", "What was wrong", FIELD_STR },
		F_END,
	};

	jw_object(w, "schemas");
	write_error_schema(w);
	schema_fields(w, "Delta", delta_fields);
	schema_fields(w, "StreamError", stream_error_fields);
	raw(w, "Message",
	    "{\"type\":\"object\",\"description\":\"With ?reply=: the message to feed back to the "
	    "model\",\"minProperties\":2}");
	raw(w, "RpcMessage",
	    "{\"type\":\"object\",\"description\":\"JSON-RPC 2.0\",\"properties\":{\"jsonrpc\":"
	    "{\"type\":\"string\",\"enum\":[\"2.0\"]},\"id\":{},\"method\":{\"type\":\"string\"},"
	    "\"params\":{\"type\":\"object\",\"additionalProperties\":true},\"result\":{},"
	    "\"error\":{}},\"required\":[\"jsonrpc\"]}");
	if (surface)
		schema_fields(w, "ForeignError", foreign_fields);
	jw_end(w);
}

static void write_components(struct jw *w, bool surface)
{
	static const char *const error = OPENAPI_REF("schemas/Error");

	jw_object(w, "components");
	raw(w, "securitySchemes",
	    "{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"},"
	    "\"header\":{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"X-Sidecar-Token\"}}");
	write_schemas(w, surface);
	jw_object(w, "responses");
	write_response(w, "Failed", "The call failed", error);
	write_response(w, "Unauthorized", "A wrong token, or none where one is required", error);
	write_response(w, "Forbidden", "A foreign page, name or user", error);
	write_response(w, "Busy", "Too much at once: try again", error);
	write_response(w, "Refused", "The request itself is wrong", error);
	write_response(w, "Rpc", "The message, or the request itself, is wrong",
		       "{\"anyOf\":[" OPENAPI_REF("schemas/RpcMessage") "," OPENAPI_REF(
			       "schemas/Error") "]}");
	if (surface)
		write_response(w, "Foreign", "The call failed, or the request itself is wrong",
			       "{\"anyOf\":[" OPENAPI_REF("schemas/ForeignError") "," OPENAPI_REF(
				       "schemas/Error") "]}");
	jw_end(w);
	jw_end(w);
}

static void write_tags(struct jw *w, bool surface)
{
	static const struct {
		const char *name, *about;
	} tags[] = {
		{ "server", "The server itself" },
		{ "tools", "Tools for programs" },
		{ "jobs", "Commands in the background" },
		{ "models", "Tools for models" },
		{ "mcp", "The Model Context Protocol" },
		{ "agent-sandbox", "The runtime of agent-sandbox" },
	};

	jw_array(w, "tags");
	for (size_t i = 0; i < ARRAY_LEN(tags) - !surface; i++) {
		jw_object(w, NULL);
		jw_str(w, "name", str_of(tags[i].name));
		jw_str(w, "description", str_of(tags[i].about));
		jw_end(w);
	}
	jw_end(w);
}

void openapi_write(bool surface, struct buf *out)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_str(&w, "openapi", STR("3.1.0"));
	jw_object(&w, "info");
	jw_str(&w, "title", STR("coding-sidecar"));
	jw_str(&w, "version", STR(SIDECAR_VERSION));
	jw_str(&w, "description",
	       STR("Tools for coding agents inside one workspace. Every JSON body may carry "
		   "sessionId, a name of the client's choice."));
	raw(&w, "license", "{\"name\":\"MIT\",\"identifier\":\"MIT\"}");
	jw_end(&w);
	raw(&w, "servers", "[{\"url\":\"/\"}]");
	/* On a Unix socket a token may be left out unless it is required. */
	raw(&w, "security", "[{\"bearer\":[]},{\"header\":[]},{}]");
	write_tags(&w, surface);
	jw_object(&w, "paths");
	for (size_t i = 0; tool_at(i); i++)
		write_tool(&w, tool_at(i));
	for (const struct operation *o = openapi_operations; o->path;)
		o = write_path(&w, o);
	for (const struct operation *o = openapi_surface_operations; surface && o->path;)
		o = write_path(&w, o);
	jw_end(&w);
	write_components(&w, surface);
	jw_end(&w);
}
