/* SPDX-License-Identifier: MIT */
/* protocol: from a JSON-RPC message to its answer, in both eras. */

#include "mcp/protocol.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "results/observation.h"
#include "base/jw.h"
#include "mcp/limits.h"
#include "tools/schema.h"

#define META	       "io.modelcontextprotocol/"
#define LEGACY_VERSION "2025-11-25" /* offered to a client that asks for one we do not know */
#define META_VERSION   META "protocolVersion"
#define META_INFO      META "clientInfo"
#define META_CAN       META "clientCapabilities"

static const char instructions[] =
	"Tools to read, search and change the files of one workspace and to run commands in it. "
	"Paths are relative to the workspace. Read a file before you overwrite it. Where other "
	"instructions name Bash, Read, Write, Edit, Grep, run_shell_command or the like, use these "
	"tools instead.";

/* Newest first. */
static const char *const legacy[] = { LEGACY_VERSION, "2025-06-18", "2025-03-26", "2024-11-05" };

const char *mcp_legacy_version(struct str version)
{
	for (size_t i = 0; i < ARRAY_LEN(legacy); i++)
		if (str_eq(str_of(legacy[i]), version))
			return legacy[i];
	return NULL;
}

static const struct mcp_client clients[] = {
	/* Codex 0.169: cuts the middle out of what is longer than 12,000 bytes. */
	{ "codex-mcp-client", .bytes = 11500 },
	/* Qwen Code 0.15: at 25,000 characters or 1,000 lines. It adds the server's name to its own. */
	{ "qwen-cli-mcp-client", .bytes = 24000, .lines = 950, .plain_errors = true },
	/* Gemini CLI 0.61: at 40,000 characters, with its own around the text. */
	{ "gemini-cli-mcp-client", .bytes = 39000, .plain_errors = true },
	/* Claude Code 2.1.197: shows only the first 2 KB of what is longer than 40,000 characters. */
	{ "claude-code", .bytes = 39000 },
	/* opencode 1.18: at 50 KB or 2,000 lines. */
	{ "opencode", .bytes = 50000 },
};

const struct mcp_client *mcp_client_find(struct str name)
{
	static const struct mcp_client other = { .name = "" };

	for (size_t i = 0; i < ARRAY_LEN(clients); i++)
		if (str_starts(name, str_of(clients[i].name)))
			return &clients[i];
	return &other;
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

static void write_versions(struct jw *w, const char *name)
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
		write_versions(&w, "supported");
		jw_str(&w, "requested", r->version);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
}

void mcp_progress(const struct json *token, int64_t progress_ms, struct str message,
		  struct buf *out)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_str(&w, "jsonrpc", STR("2.0"));
	jw_str(&w, "method", STR("notifications/progress"));
	jw_object(&w, "params");
	write_id(&w, "progressToken", token);
	jw_num(&w, "progress", (double)progress_ms / 1000);
	jw_str(&w, "message", message);
	jw_end(&w);
	jw_end(&w);
}

static void begin_result(struct jw *w, const struct mcp_request *r)
{
	jw_object(w, NULL);
	jw_str(w, "jsonrpc", STR("2.0"));
	write_id(w, "id", r->id);
	jw_object(w, "result");
	if (r->modern)
		jw_str(w, "resultType", STR("complete"));
}

/* What clients show to people, told once and not with each result. The icon is that of the page. */
static const char looks[] =
	"[{\"mimeType\":\"image/svg+xml\",\"sizes\":[\"any\"],\"src\":\"data:image/svg+xml;base64,"
	"PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnIHZpZXdCb3g9JzAgMCAxNiAxNic+"
	"PHJlY3Qgd2lkdGg9JzE2JyBoZWlnaHQ9JzE2JyByeD0nNCcgZmlsbD0nIzNiNWJkYicvPjxwYXRoIGQ9"
	"J000IDhoNU00IDVoOE00IDExaDcnIHN0cm9rZT0nI2ZmZicgc3Ryb2tlLXdpZHRoPScxLjYnLz48L3N2"
	"Zz4="
	"\"}]";

static void write_server(struct jw *w, const char *name, bool whole)
{
	jw_object(w, name);
	jw_str(w, "name", STR("sidecar"));
	jw_str(w, "title", STR("Coding sidecar"));
	jw_str(w, "version", STR(SIDECAR_VERSION));
	if (whole) {
		jw_str(w, "websiteUrl", STR("https://github.com/coding-sidecar/coding-sidecar"));
		jw_raw(w, "icons", str_of(looks));
	}
	jw_end(w);
}

static void end_result(struct jw *w, const struct mcp_request *r)
{
	if (r->modern) {
		jw_object(w, "_meta");
		write_server(w, META "serverInfo", str_eq(r->method, STR("server/discover")));
		jw_end(w);
	}
	jw_end(w);
	jw_end(w);
}

int mcp_refuse(struct mcp_request *r, int status, enum mcp_code code, const char *fmt, ...)
{
	va_list args;

	r->status = status;
	r->code = code;
	va_start(args, fmt);
	(void)vsnprintf(r->why, sizeof r->why, fmt, args);
	va_end(args);
	return -1;
}

/* A string or an integer, as ids and progress tokens are. */
static bool is_id(const struct json *v)
{
	return v && (v->type == JSON_STRING || (v->type == JSON_NUMBER && v->whole));
}

int mcp_parse(struct str text, struct arena *a, const struct json **ret, struct mcp_request *r)
{
	struct err e;

	*r = (struct mcp_request){ .status = 200 };
	if (json_parse(text, a, ret, &e) == 0)
		return 0;
	if (a->failed)
		return mcp_refuse(r, 503, MCP_INTERNAL, "Not enough memory for the message");
	return mcp_refuse(r, 400, MCP_PARSE_ERROR, "Parse error: %.250s", e.msg);
}

/* The metadata of a request decide its era; what they hold is checked when it is answered. */
static void read_meta(struct mcp_request *r)
{
	const struct json *meta = json_get(r->params, STR("_meta"));
	const struct json *token = json_get(meta, STR("progressToken"));

	r->token = is_id(token) ? token : NULL;
	r->version = json_text(meta, STR(META_VERSION));
	r->client = json_text(json_get(meta, STR(META_INFO)), STR("name"));
	r->modern = json_get(meta, STR(META_VERSION)) || json_get(meta, STR(META_CAN)) ||
		    json_get(meta, STR(META_INFO)) || str_eq(r->method, STR("server/discover"));
}

int mcp_open(const struct json *message, struct mcp_request *r)
{
	const struct json *id = json_get(message, STR("id"));
	const struct json *method = json_get(message, STR("method"));

	*r = (struct mcp_request){ .status = 200, .id = is_id(id) ? id : NULL };
	if (message->type != JSON_OBJECT)
		return mcp_refuse(r, 400, MCP_INVALID_REQUEST,
				  "A message must be a JSON object, not %s",
				  json_type_name(message));
	if (!str_eq(json_text(message, STR("jsonrpc")), STR("2.0")))
		return mcp_refuse(r, 400, MCP_INVALID_REQUEST, "jsonrpc must be \"2.0\"");
	if (!method && (json_get(message, STR("result")) || json_get(message, STR("error"))))
		return 0;
	if (id && !r->id)
		return mcp_refuse(r, 400, MCP_INVALID_REQUEST,
				  "id must be a string or an integer, not %s",
				  id->type != JSON_NUMBER     ? json_type_name(id)
				  : fabs(id->number) < 0x1p53 ? "a fraction"
							      : "so large a number");
	if (!method || method->type != JSON_STRING || method->string.n == 0)
		return mcp_refuse(r, 400, MCP_INVALID_REQUEST, "method must be a string");
	r->method = method->string;
	r->params = json_get(message, STR("params"));
	if (r->params && r->params->type != JSON_OBJECT)
		return mcp_refuse(r, 400, MCP_INVALID_PARAMS, "params must be an object, not %s",
				  json_type_name(r->params));
	read_meta(r);
	return 0;
}

static int check_modern(struct mcp_request *r)
{
	const struct json *meta = json_get(r->params, STR("_meta"));
	const struct json *version = json_get(meta, STR(META_VERSION));
	const struct json *can = json_get(meta, STR(META_CAN));

	if (!version || version->type != JSON_STRING)
		return mcp_refuse(r, 400, MCP_INVALID_PARAMS,
				  "params._meta must have \"" META_VERSION "\", a string");
	if (!str_eq(r->version, STR(MCP_MODERN)))
		return mcp_refuse(r, 400, MCP_UNSUPPORTED_VERSION, "Unsupported protocol version");
	if (!can || can->type != JSON_OBJECT)
		return mcp_refuse(r, 400, MCP_INVALID_PARAMS,
				  "params._meta must have \"" META_CAN "\", an object");
	return 0;
}

static void write_instructions(struct jw *w, const struct mcp_offer *offer)
{
	jw_open_str(w, "instructions");
	jw_piece(w, str_of(instructions));
	if (offer->held) {
		jw_piece(w, STR(" "));
		jw_piece(w, offer->held(offer->arg));
	}
	jw_close_str(w);
}

static enum mcp_verb initialize(const struct mcp_offer *offer, struct mcp_request *r,
				struct buf *out)
{
	const struct json *wanted = json_get(r->params, STR("protocolVersion"));
	struct jw w = jw_to(out);

	if (!wanted || wanted->type != JSON_STRING) {
		(void)mcp_refuse(r, 200, MCP_INVALID_PARAMS,
				 "params.protocolVersion must be a string");
		return MCP_ANSWERED;
	}
	r->agreed = mcp_legacy_version(wanted->string);
	if (!r->agreed)
		r->agreed = mcp_legacy_version(STR(LEGACY_VERSION));
	if (!r->client.n)
		r->client = json_text(json_get(r->params, STR("clientInfo")), STR("name"));
	begin_result(&w, r);
	jw_str(&w, "protocolVersion", str_of(r->agreed));
	jw_raw(&w, "capabilities", STR("{\"tools\":{}}"));
	write_server(&w, "serverInfo", true);
	write_instructions(&w, offer);
	end_result(&w, r);
	return MCP_OPENED;
}

static enum mcp_verb ping(const struct mcp_offer *offer, struct mcp_request *r, struct buf *out)
{
	struct jw w = jw_to(out);

	(void)offer;
	begin_result(&w, r);
	end_result(&w, r);
	return MCP_ANSWERED;
}

/* The answer is the same for every client until the process ends. */
static void write_caching(struct jw *w, const struct mcp_request *r)
{
	if (!r->modern)
		return;
	jw_int(w, "ttlMs", LIMIT_MCP_CACHE_MS);
	jw_str(w, "cacheScope", STR("public"));
}

static enum mcp_verb discover(const struct mcp_offer *offer, struct mcp_request *r, struct buf *out)
{
	struct jw w = jw_to(out);

	begin_result(&w, r);
	write_versions(&w, "supportedVersions");
	jw_raw(&w, "capabilities", STR("{\"tools\":{}}"));
	write_instructions(&w, offer);
	write_caching(&w, r);
	end_result(&w, r);
	return MCP_ANSWERED;
}

static enum mcp_verb list_tools(const struct mcp_offer *offer, struct mcp_request *r,
				struct buf *out)
{
	const struct json *cursor = json_get(r->params, STR("cursor"));
	struct jw w = jw_to(out);

	if (cursor && cursor->type != JSON_NULL) {
		(void)mcp_refuse(r, 200, MCP_INVALID_PARAMS,
				 "There is no such cursor: all tools are listed at once");
		return MCP_ANSWERED;
	}
	begin_result(&w, r);
	schema_write(&w, "tools", &offer->tools);
	write_caching(&w, r);
	end_result(&w, r);
	return MCP_ANSWERED;
}

static int find_tool(unsigned tool_set, struct mcp_request *r)
{
	const struct json *name = json_get(r->params, STR("name"));
	char text[256];
	struct buf names = buf_over(text, sizeof text);

	if (!name || name->type != JSON_STRING)
		return mcp_refuse(r, 200, MCP_INVALID_PARAMS, "params.name must be a string");
	r->tool = tool_by_name(name->string, tool_set);
	if (!r->tool) {
		tool_names(tool_set, &names);
		return mcp_refuse(r, 200, MCP_INVALID_PARAMS, "Unknown tool: %.*s. There are: %.*s",
				  STR_FMT(str_upto(name->string, 60)), STR_FMT(buf_str(&names)));
	}
	r->arguments = json_get(r->params, STR("arguments"));
	if (!r->arguments || r->arguments->type == JSON_NULL)
		r->arguments = &json_empty;
	if (r->arguments->type != JSON_OBJECT)
		return mcp_refuse(r, 200, MCP_INVALID_PARAMS,
				  "params.arguments must be an object, not %s",
				  json_type_name(r->arguments));
	return 0;
}

static enum mcp_verb call_tool(const struct mcp_offer *offer, struct mcp_request *r,
			       struct buf *out)
{
	(void)out;
	return find_tool(offer->tools.set, r) == 0 ? MCP_CALL : MCP_ANSWERED;
}

enum { LEGACY = 1, MODERN = 2 };

static const struct {
	const char *name;
	unsigned eras;
	enum mcp_verb (*answer)(const struct mcp_offer *offer, struct mcp_request *r,
				struct buf *out);
} methods[] = {
	{ "tools/call", LEGACY | MODERN, call_tool },
	{ "tools/list", LEGACY | MODERN, list_tools },
	{ "server/discover", MODERN, discover },
	{ "initialize", LEGACY, initialize },
	{ "ping", LEGACY, ping },
};

static enum mcp_verb notified(struct mcp_request *r)
{
	const struct json *id = json_get(r->params, STR("requestId"));

	if (!str_eq(r->method, STR("notifications/cancelled")) || !is_id(id))
		return MCP_SILENT;
	r->cancel = id;
	return MCP_CANCEL;
}

static enum mcp_verb answer(const struct mcp_offer *offer, struct mcp_request *r, struct buf *out)
{
	const unsigned era = r->modern ? MODERN : LEGACY;

	if (r->modern && check_modern(r) < 0)
		return MCP_ANSWERED;
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (methods[i].eras & era && str_eq(str_of(methods[i].name), r->method))
			return methods[i].answer(offer, r, out);
	(void)mcp_refuse(r, r->modern ? 404 : 200, MCP_NO_METHOD, "Method not found: %.*s",
			 STR_FMT(str_upto(r->method, 100)));
	return MCP_ANSWERED;
}

enum mcp_verb mcp_answer(const struct mcp_offer *offer, struct mcp_request *r, struct buf *out)
{
	r->structured = offer->tools.structured;
	if (r->method.n == 0 || !r->id)
		return r->method.n ? notified(r) : MCP_SILENT;
	const enum mcp_verb verb = answer(offer, r, out);
	if (r->code)
		mcp_error(r, out);
	return verb;
}

/* The blocks of a result that is text: first the image, if it is one, then the text. */
static void write_text(struct jw *w, const struct way_text *t)
{
	if (t->image_type) {
		jw_object(w, NULL);
		jw_str(w, "type", STR("image"));
		jw_base64(w, "data", t->image);
		jw_str(w, "mimeType", str_of(t->image_type));
		jw_end(w);
	}
	jw_object(w, NULL);
	jw_str(w, "type", STR("text"));
	jw_str(w, "text", buf_str(t->text));
	jw_end(w);
}

void mcp_result_text(const struct mcp_request *r, const struct way_text *t, bool success,
		     struct buf *out)
{
	struct jw w = jw_to(out);

	begin_result(&w, r);
	jw_array(&w, "content");
	write_text(&w, t);
	jw_end(&w);
	jw_bool(&w, "isError", !success);
	end_result(&w, r);
}

void mcp_result_structured(const struct mcp_request *r, struct str observation, bool success,
			   struct buf *out)
{
	struct jw w = jw_to(out);

	begin_result(&w, r);
	jw_array(&w, "content");
	jw_object(&w, NULL);
	jw_str(&w, "type", STR("text"));
	jw_str(&w, "text", observation);
	jw_end(&w);
	jw_end(&w);
	jw_raw(&w, "structuredContent", observation);
	jw_bool(&w, "isError", !success);
	end_result(&w, r);
}

void mcp_fail(const struct mcp_request *r, const struct err *e, struct buf *out)
{
	AUTO_BUF b = { .max = 16 << 10 };

	if (r->structured) {
		observation_fail(&b, str_of(r->tool->name), e);
		mcp_result_structured(r, buf_str(&b), false, out);
	} else {
		observation_fail_text(&b, err_name(e->code), e);
		mcp_result_text(r, &(struct way_text){ .text = &b },
				mcp_client_find(r->client)->plain_errors, out);
	}
}

int mcp_batch_check(const char *version, const struct json *batch, struct mcp_request *r)
{
	if (!version || !str_eq(str_of(version), STR("2025-03-26")))
		return mcp_refuse(r, 400, MCP_INVALID_REQUEST,
				  "Batches are not part of this protocol version: send one message "
				  "at a time");
	if (!batch->first)
		return mcp_refuse(r, 400, MCP_INVALID_REQUEST, "The batch is empty");
	return 0;
}

static void answer_item(const struct mcp_offer *offer, const struct mcp_batch *b,
			const struct json *item, struct buf *out)
{
	struct mcp_request r;

	if (mcp_open(item, &r) < 0 ||
	    (str_eq(r.method, STR("initialize")) &&
	     mcp_refuse(&r, 400, MCP_INVALID_REQUEST, "initialize must not be part of a batch"))) {
		mcp_error(&r, out);
		return;
	}
	switch (mcp_answer(offer, &r, out)) {
	case MCP_CALL:
		b->call(b->arg, &r, out);
		break;
	case MCP_CANCEL:
		b->cancel(b->arg, r.cancel);
		break;
	default:
		break;
	}
}

void mcp_batch_answer(const struct mcp_offer *offer, const struct mcp_batch *b,
		      const struct json *batch, struct buf *out)
{
	buf_addc(out, '[');
	for (const struct json *item = batch->first; item; item = item->next) {
		const size_t before = out->n;
		if (before > 1)
			buf_addc(out, ',');
		const size_t start = out->n;
		answer_item(offer, b, item, out);
		if (out->n == start)
			out->n = before;
	}
	buf_addc(out, ']');
	if (!out->failed && out->n == 2)
		out->n = 0;
}
