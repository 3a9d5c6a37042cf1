/* SPDX-License-Identifier: MIT */
/* headers: compare headers with the body. */

#include "mcp/headers.h"

#include "base/base64.h"
#include "base/limits.h"
#include "base/own.h"

/* The value of a header that must be there once. */
static int only(const struct http_head *head, const char *name, struct str *ret,
		struct mcp_request *r)
{
	size_t n = 0;

	for (size_t i = 0; i < head->header_count; i++) {
		if (!str_eq_nocase(head->headers[i].name, str_of(name)))
			continue;
		*ret = head->headers[i].value;
		n++;
	}
	if (n == 1)
		return 0;
	return mcp_refuse(r, 400, MCP_HEADER_MISMATCH, "Header mismatch: %s is %s", name,
			  n ? "there more than once" : "missing");
}

/* The value as it is, or as base64 in its wrapping. */
static bool says(struct str value, struct str wanted)
{
	const struct str prefix = STR("=?base64?"), suffix = STR("?=");

	char bytes[LIMIT_HTTP_HEAD] UNINITIALISED;

	if (!str_starts(value, prefix) || !str_ends(value, suffix) || value.n < prefix.n + suffix.n)
		return str_eq(value, wanted);
	const struct str text = str_from(str_upto(value, value.n - suffix.n), prefix.n);
	const ptrdiff_t n = base64_decode(text, bytes);
	return n >= 0 && str_eq((struct str){ bytes, (size_t)n }, wanted);
}

static int compare(const struct http_head *head, const char *name, struct str wanted,
		   bool may_be_encoded, struct mcp_request *r)
{
	struct str value = STR("");

	if (only(head, name, &value, r) < 0)
		return -1;
	if (may_be_encoded ? says(value, wanted) : str_eq(value, wanted))
		return 0;
	return mcp_refuse(r, 400, MCP_HEADER_MISMATCH,
			  "Header mismatch: %s is '%.*s', but the body says '%.*s'", name,
			  STR_FMT(str_upto(value, 60)), STR_FMT(str_upto(wanted, 60)));
}

int mcp_headers_check(const struct http_head *head, struct mcp_request *r)
{
	const struct json *name = json_get(r->params, STR("name"));

	/* A body without a version is refused for that. */
	if (r->version.n == 0)
		return 0;
	if (compare(head, "MCP-Protocol-Version", r->version, false, r) < 0)
		return -1;
	if (!str_eq(r->version, STR(MCP_MODERN)))
		return 0;
	if (compare(head, "Mcp-Method", r->method, false, r) < 0)
		return -1;
	if (!str_eq(r->method, STR("tools/call")) || !name || name->type != JSON_STRING)
		return 0;
	return compare(head, "Mcp-Name", name->string, true, r);
}
