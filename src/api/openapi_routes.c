/* SPDX-License-Identifier: MIT */
/* openapi_routes: the operations that are not one tool each. */

#include "api/openapi.h"
#include "tools/schema.h"

/* Only to describe parameters, which are read elsewhere. */
struct params {
	int64_t format, set, reply;
};

static const char *const replies[] = { "ollama", "openai", "anthropic", "gemini", NULL };

static const struct arg list_params[] = {
	A_CHOICE(struct params, format, "format", 0, 0, schema_formats, "Whose form they have"),
	A_CHOICE(struct params, set, "set", 0, 0, schema_sets, "The few, or all"),
	A_END,
};

static const struct arg call_params[] = {
	A_CHOICE(struct params, reply, "reply", RARE, 0, replies,
		 "Answer with the message to feed back to this provider's model"),
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
		"\"workspace\":{\"type\":\"string\"}},"
		"\"required\":[\"ok\",\"version\",\"uptimeMs\",\"workspace\"]}",
		"{\"ok\":true,\"version\":\"" SIDECAR_VERSION
		"\",\"uptimeMs\":316,\"workspace\":\"/workspace\"}");
}

static void metrics(struct jw *w, const struct operation *o)
{
	(void)o;
	openapi_content(w, "text/plain", "{\"type\":\"string\"}", NULL);
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
	{ "/jobs", "get", "jobs", "jobs", NULL, .tool = &tool_jobs, .answer = openapi_result },
	{ "/jobs/{id}", "get", "job", "jobs", NULL, .tool = &tool_job, .answer = openapi_result },
	{ "/jobs/{id}/stop", "post", "stopJob", "jobs", NULL, .tool = &tool_stop_job,
	  .answer = openapi_result },
	{ .path = NULL },
};
