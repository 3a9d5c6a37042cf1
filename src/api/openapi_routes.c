/* SPDX-License-Identifier: MIT */
/* openapi_routes: the operations that are not one tool each. */

#include "api/openapi.h"
#include "tools/schema.h"

/* Only to describe parameters, which are read elsewhere. */
struct params {
	int64_t format, set, reply;
	struct str path, mode;
	bool recursive;
};

static const char *const results[] = { "text", NULL };
static const char *const replies[] = { "ollama", "openai", "anthropic", "gemini", NULL };

static const struct arg list_params[] = {
	A_CHOICE(struct params, format, "format", 0, 0, schema_formats, "Whose form they have"),
	A_CHOICE(struct params, set, "set", 0, 0, schema_sets, "The few, or all"),
	A_END,
};

static const struct arg call_params[] = {
	A_CHOICE(struct params, reply, "reply", RARE, 0, replies,
		 "Answer with the message to feed back to this provider's model"),
	A_CHOICE(struct params, set, "results", RARE, 0, results,
		 "With reply: the result as text, instead of JSON in it"),
	A_STR(struct params, path, "session", 0, "The session, if the call names none"),
	A_END,
};

static void health(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(
		w, "application/json",
		"{\"type\":\"object\",\"properties\":{\"ok\":{\"type\":\"boolean\",\"enum\":[true]}"
		","
		"\"version\":{\"type\":\"string\"},\"uptimeMs\":{\"type\":\"integer\"},"
		"\"pid\":{\"type\":\"integer\"},\"kind\":{\"type\":\"string\",\"enum\":[\"serve\","
		"\"mcp\",\"local\"]},\"client\":{\"type\":\"string\"},\"calls\":{\"type\":"
		"\"integer\"},\"running\":{\"type\":\"integer\"},\"event\":{\"type\":\"integer\"},"
		"\"audit\":{\"type\":\"string\",\"enum\":[\"on\",\"failing\"]},"
		"\"workspace\":{\"type\":\"string\"}},"
		"\"required\":[\"ok\",\"version\",\"uptimeMs\",\"pid\",\"kind\",\"calls\","
		"\"running\",\"workspace\"]}",
		"{\"ok\":true,\"version\":\"" SIDECAR_VERSION
		"\",\"uptimeMs\":316,\"pid\":41,\"kind\":\"serve\",\"calls\":7,\"running\":0,"
		"\"event\":14,\"workspace\":\"/workspace\"}");
}

static void metrics(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(w, "text/plain", "{\"type\":\"string\"}", NULL);
}

static void page(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(w, "text/html", "{\"type\":\"string\"}", NULL);
}

static void any_object(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(w, "application/json", "{\"type\":\"object\"}", NULL);
}

static void definitions(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(w, "application/json",
			"{\"type\":\"array\",\"items\":{\"type\":\"object\"}}", NULL);
}

static void model_call(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(
		w, "application/json", "{\"type\":\"object\"}",
		"{\"function\":{\"name\":\"read_file\",\"arguments\":{\"path\":\"README.md\"}}}");
}

#define RPC                                                                                        \
	"{\"anyOf\":[" OPENAPI_REF("schemas/RpcMessage") ",{\"type\":\"array\","                   \
							 "\"items\":" OPENAPI_REF(                 \
								 "schemas/RpcMessage") "}]}"

static void rpc_request(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(w, "application/json", RPC,
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
			"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
			"\"clientInfo\":{\"name\":\"example\",\"version\":\"1\"}}}");
}

static void rpc_answer(struct jw *w, const struct operation *o)
{
	(void)o;
	jw_object(w, "content");
	jw_object(w, "application/json");
	jw_raw(w, "schema", STR(RPC));
	jw_end(w);
	/* With progress on the way. */
	jw_object(w, "text/event-stream");
	jw_raw(w, "schema", STR("{\"type\":\"string\"}"));
	jw_end(w);
	jw_end(w);
}

static const struct arg events_params[] = {
	A_STR(struct params, path, "since", 0, "Begin after this event; absent: from now on"),
	A_END,
};

static const struct arg call_id[] = {
	A_INT(struct params, format, "id", 0, 1, INT64_MAX, "Which call"),
	A_END,
};

static const struct arg change_id[] = {
	A_INT(struct params, format, "id", 0, 1, INT64_MAX, "Which change"),
	A_END,
};

#define UNDO_HOW                                                                                   \
	"\"dryRun\":{\"type\":\"boolean\",\"description\":\"Only say what would be done\"},"       \
	"\"force\":{\"type\":\"boolean\",\"description\":\"Overwrite what has changed since, and " \
	"restore what was saved\"}"

static void undo_one(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(
		w, "application/json",
		"{\"type\":\"object\",\"properties\":{\"paths\":{\"type\":\"array\","
		"\"items\":{\"type\":\"string\"},\"description\":\"Only these paths and what "
		"is below them\"}," UNDO_HOW "}}",
		NULL);
}

static void undo_many(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(
		w, "application/json",
		"{\"type\":\"object\",\"properties\":{\"ids\":{\"type\":\"array\","
		"\"items\":{\"type\":\"integer\"},\"description\":\"Which changes\"},"
		"\"since\":{\"type\":\"integer\",\"description\":\"Or this one and all after "
		"it\"},\"session\":{\"type\":\"string\",\"description\":\"Or all of this "
		"session\"},\"paths\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
		"\"description\":\"Only these paths and what is below them\"}," UNDO_HOW "}}",
		NULL);
}

static void events(struct jw *w, const struct operation *o)
{
	(void)o;
	jw_object(w, "content");
	jw_object(w, "text/event-stream");
	jw_raw(w, "schema", STR("{\"type\":\"string\"}"));
	jw_end(w);
	jw_object(w, "application/x-ndjson");
	jw_raw(w, "schema", STR("{\"type\":\"string\"}"));
	jw_end(w);
	jw_end(w);
}

const struct operation openapi_operations[] = {
	{ "/health", "get", "health", "server", "What is in force", .answer = health },
	{ "/metrics", "get", "metrics", "server", "What it has done, for Prometheus",
	  .answer = metrics },
	{ "/openapi.json", "get", "openapi", "server", "This document", .answer = any_object },
	{ "/tools", "get", "tools", "models", "The definitions to put into a model's request",
	  list_params, .answer = definitions },
	{ "/tools", "post", "callTool", "models", "Take a model's tool call as it is", call_params,
	  .body = model_call, .answer = any_object },
	{ "/mcp", "post", "mcp", "mcp", "Take a message of the Model Context Protocol",
	  .body = rpc_request, .answer = rpc_answer, .failures = OPENAPI_REF("responses/Rpc"),
	  .notified = true },
	{ "/mcp", "delete", "endSession", "mcp", "End a session",
	  .failures = OPENAPI_REF("responses/Rpc") },
	{ "/events", "get", "events", "live", "What happens, as it happens", events_params,
	  .answer = events },
	{ "/calls/{id}", "get", "watchedCall", "live",
	  "One call: its arguments, events, result and diff", call_id, .answer = any_object },
	{ "/calls/{id}/stop", "post", "stopCall", "live",
	  "End a running call, with everything that it started", call_id, .answer = any_object },
	{ "/ui", "get", "ui", "live", "The page that shows this in a browser", .answer = page },
	{ "/changes", "get", "changes", "changes", NULL, .tool = &tool_changes,
	  .answer = openapi_result },
	{ "/changes/{id}", "get", "change", "changes", NULL, .tool = &tool_change,
	  .answer = openapi_result },
	{ "/changes/{id}/diff", "get", "changeDiff", "changes", NULL, .tool = &tool_change_diff,
	  .answer = metrics },
	{ "/changes/{id}/undo", "post", "undoChange", "changes", NULL, change_id, &tool_undo,
	  undo_one, openapi_result },
	{ "/changes/undo", "post", "undo", "changes", NULL, NULL, &tool_undo, undo_many,
	  openapi_result },
	{ "/jobs", "get", "jobs", "jobs", NULL, .tool = &tool_jobs, .answer = openapi_result },
	{ "/jobs/{id}", "get", "job", "jobs", NULL, .tool = &tool_job, .answer = openapi_result },
	{ "/jobs/{id}/stop", "post", "stopJob", "jobs", NULL, .tool = &tool_stop_job,
	  .answer = openapi_result },
	{ .path = NULL },
};

static const struct arg path_params[] = {
	A_STR(struct params, path, "path", REQUIRED, "A path in the workspace, '/' as %2F"),
	A_END,
};

static const struct arg put_params[] = {
	A_STR(struct params, path, "path", REQUIRED, "A path in the workspace, '/' as %2F"),
	A_STR(struct params, mode, "mode", 0, "Its permissions, as in 0644"),
	A_END,
};

static const struct arg delete_params[] = {
	A_STR(struct params, path, "path", REQUIRED, "A path in the workspace, '/' as %2F"),
	A_BOOL(struct params, recursive, "recursive", false, "Also what is in a directory"),
	A_END,
};

static const char *const entry_types[] = { "file", "directory", NULL };
static const char *const ok_word[] = { "ok", NULL };

static const struct field home_fields[] = {
	{ "status", "It runs", FIELD_STR, .choices = ok_word },
	{ "message", "A sentence", FIELD_STR },
	F_END,
};

static const struct field upload_fields[] = { { "message", "A sentence", FIELD_STR }, F_END };

static const struct field exists_fields[] = {
	{ "path", "What was asked for", FIELD_STR },
	{ "exists", "Whether it is there", FIELD_BOOL },
	F_END,
};

static const struct field entry_fields[] = {
	{ "name", "Its name", FIELD_STR },
	{ "size", "Bytes", FIELD_INT },
	{ "type", "What it is; links are followed", FIELD_STR, .choices = entry_types },
	{ "modified_at", "When it was changed, RFC 3339", FIELD_STR },
	{ "mode", "Its permissions, as in 0644", FIELD_STR },
	F_END,
};

static const struct field listing_fields[] = {
	{ "path", "The directory", FIELD_STR },
	{ "entries", "In byte order of their names", FIELD_OBJECT, FIELD_LIST, entry_fields },
	F_END,
};

static const struct field health_fields[] = {
	{ "status", "It runs", FIELD_STR, .choices = ok_word },
	{ "uptime_seconds", "Since it was started", FIELD_INT },
	F_END,
};

static void fields(struct jw *w, const struct field *table)
{
	openapi_open(w, "application/json");
	schema_fields(w, "schema", table);
	openapi_close(w, NULL);
}

static void home_answer(struct jw *w, const struct operation *o)
{
	(void)o;
	fields(w, home_fields);
}

static void execute_answer(struct jw *w, const struct operation *o)
{
	fields(w, o->tool->fields);
}

static void upload_body(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(w, "multipart/form-data",
			"{\"type\":\"object\",\"properties\":{\"file\":{\"type\":\"string\","
			"\"description\":"
			"\"Its file name is the path\"}},\"required\":[\"file\"]}",
			NULL);
}

static void upload_answer(struct jw *w, const struct operation *o)
{
	(void)o;
	fields(w, upload_fields);
}

static void bytes(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(w, "application/octet-stream", "{}", NULL);
}

static void list_answer(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(
		w, "application/json",
		"{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"name\":"
		"{\"type\":\"string\"},\"size\":{\"type\":\"integer\"},\"type\":{\"type\":"
		"\"string\","
		"\"enum\":[\"file\",\"directory\"]},\"mod_time\":{\"type\":\"number\"}},"
		"\"required\":"
		"[\"name\",\"size\",\"type\",\"mod_time\"],\"additionalProperties\":false}}",
		NULL);
}

static void exists_answer(struct jw *w, const struct operation *o)
{
	(void)o;
	fields(w, exists_fields);
}

static void file_answer(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_open(w, "application/octet-stream");
	jw_raw(w, "schema", STR("{}"));
	jw_end(w);
	jw_object(w, "application/json");
	schema_fields(w, "schema", listing_fields);
	openapi_close(w, NULL);
}

static void health_answer(struct jw *w, const struct operation *o)
{
	(void)o;
	fields(w, health_fields);
}

static void metadata_answer(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(w, "application/json",
			"{\"type\":\"object\",\"properties\":{\"env\":{\"type\":\"object\","
			"\"additionalProperties\":{\"type\":\"string\"}}},\"required\":[\"env\"],"
			"\"additionalProperties\":false}",
			NULL);
}

#define SANDBOX "agent-sandbox"

#define FAILS OPENAPI_REF("responses/Foreign")

const struct operation openapi_surface_operations[] = {
	{ "/", "get", "runtime", SANDBOX, "Whether it runs", NULL, NULL, NULL, home_answer, FAILS },
	{ "/execute", "post", "execute", SANDBOX, NULL, NULL, &tool_execute, openapi_args,
	  execute_answer, FAILS },
	{ "/upload", "post", "upload", SANDBOX, "Write a file", NULL, NULL, upload_body,
	  upload_answer, FAILS },
	{ "/download/{path}", "get", "download", SANDBOX, "Read a file", path_params, NULL, NULL,
	  bytes, FAILS },
	{ "/list/{path}", "get", "list", SANDBOX, "List a directory", path_params, NULL, NULL,
	  list_answer, FAILS },
	{ "/exists/{path}", "get", "exists", SANDBOX, "Whether something is there", path_params,
	  NULL, NULL, exists_answer, FAILS },
	{ "/v1/files/{path}", "get", "getFile", SANDBOX, "Read a file or list a directory",
	  path_params, NULL, NULL, file_answer, FAILS },
	{ "/v1/files/{path}", "put", "putFile", SANDBOX, "Write a file", put_params, NULL, bytes,
	  NULL, FAILS },
	{ "/v1/files/{path}", "delete", "deleteFile", SANDBOX, "Remove a file or directory",
	  delete_params, NULL, NULL, NULL, FAILS },
	{ "/v1/health", "get", "runtimeHealth", SANDBOX, "Whether it runs, and how long", NULL,
	  NULL, NULL, health_answer, FAILS },
	{ "/v1/metadata", "get", "runtimeMetadata", SANDBOX,
	  "Variables called SANDBOX_ that are no secrets", NULL, NULL, NULL, metadata_answer,
	  FAILS },
	{ .path = NULL },
};
