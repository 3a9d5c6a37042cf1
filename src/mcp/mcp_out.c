/* SPDX-License-Identifier: MIT */
/* mcp_out: the parts that answers are made of. */

#include "mcp/mcp_out.h"

#include "base/own.h"

/* Newest first. */
static const char *const legacy[] = { MCP_LEGACY, "2025-06-18", "2025-03-26", "2024-11-05" };

const char *mcp_legacy_version(struct str version)
{
	for (size_t i = 0; i < ARRAY_LEN(legacy); i++)
		if (str_eq(str_of(legacy[i]), version))
			return legacy[i];
	return NULL;
}

static void write_id(struct jw *w, const char *name, const struct json *id)
{
	if (!id)
		jw_null(w, name);
	else if (id->type == JSON_STRING)
		jw_str(w, name, id->string);
	else
		jw_int(w, name, id->integer);
}

void mcp_write_versions(struct jw *w, const char *name)
{
	jw_array(w, name);
	jw_str(w, NULL, STR(MCP_MODERN));
	for (size_t i = 0; i < ARRAY_LEN(legacy); i++)
		jw_str(w, NULL, str_of(legacy[i]));
	jw_end(w);
}

void mcp_error(const struct mcp_request *r, struct buf *out)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_str(&w, "jsonrpc", STR("2.0"));
	write_id(&w, "id", r->id);
	jw_object(&w, "error");
	jw_int(&w, "code", r->code);
	jw_str(&w, "message", str_of(r->why));
	if (r->code == MCP_UNSUPPORTED_VERSION) {
		jw_object(&w, "data");
		mcp_write_versions(&w, "supported");
		jw_str(&w, "requested", r->version);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
}

void mcp_progress(const struct json *token, int64_t progress, struct str message, struct buf *out)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_str(&w, "jsonrpc", STR("2.0"));
	jw_str(&w, "method", STR("notifications/progress"));
	jw_object(&w, "params");
	write_id(&w, "progressToken", token);
	jw_int(&w, "progress", progress);
	jw_str(&w, "message", message);
	jw_end(&w);
	jw_end(&w);
}

void mcp_begin_result(struct jw *w, const struct mcp_request *r)
{
	jw_object(w, NULL);
	jw_str(w, "jsonrpc", STR("2.0"));
	write_id(w, "id", r->id);
	jw_object(w, "result");
	if (r->modern)
		jw_str(w, "resultType", STR("complete"));
}

void mcp_write_server(struct jw *w, const char *name)
{
	jw_object(w, name);
	jw_str(w, "name", STR("sidecar"));
	jw_str(w, "title", STR("Coding sidecar"));
	jw_str(w, "version", STR(SIDECAR_VERSION));
	jw_end(w);
}

void mcp_end_result(struct jw *w, const struct mcp_request *r)
{
	if (r->modern) {
		jw_object(w, "_meta");
		mcp_write_server(w, MCP_META "serverInfo");
		jw_end(w);
	}
	jw_end(w);
	jw_end(w);
}
