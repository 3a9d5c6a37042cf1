/* SPDX-License-Identifier: MIT */
/* What a modern request's headers may say beside its body. */

#include "unit.h"

#include "api/mcp.h"

#define VERSION "MCP-Protocol-Version: 2026-07-28\r\n"
#define METHOD	"Mcp-Method: tools/call\r\n"
#define NAME	"Mcp-Name: read_file\r\n"

static const struct {
	const char *headers, *name; /* name: the tool in the body */
	bool ok;
} cases[] = {
	{ VERSION METHOD NAME, "read_file", true },
	{ "mcp-protocol-version: 2026-07-28\r\nMCP-METHOD: tools/call\r\nmcp-name: read_file\r\n",
	  "read_file", true },
	{ VERSION METHOD "Mcp-Name:  \t read_file \t\r\n", "read_file", true },
	{ VERSION METHOD "Mcp-Name: =?base64?cmVhZF9maWxl?=\r\n", "read_file", true },
	{ VERSION METHOD "Mcp-Name: =?base64?w6Q=?=\r\n", "\xc3\xa4", true },
	{ VERSION METHOD "Mcp-Name: =?base64?YQ==?=\r\n", "a", true },
	{ VERSION METHOD "Mcp-Name: =?base64?"
			 "?=\r\n",
	  "", true },

	{ METHOD NAME, "read_file", false },
	{ VERSION NAME, "read_file", false },
	{ VERSION METHOD, "read_file", false },
	{ VERSION METHOD NAME NAME, "read_file", false },
	{ VERSION VERSION METHOD NAME, "read_file", false },
	{ "MCP-Protocol-Version: 2025-11-25\r\n" METHOD NAME, "read_file", false },
	{ VERSION "Mcp-Method: tools/list\r\n" NAME, "read_file", false },
	{ VERSION "Mcp-Method: Tools/Call\r\n" NAME, "read_file", false },
	{ VERSION "Mcp-Method: =?base64?dG9vbHMvY2FsbA==?=\r\n" NAME, "read_file", false },
	{ VERSION METHOD NAME, "write_file", false },
	{ VERSION METHOD "Mcp-Name: READ_FILE\r\n", "read_file", false },
	{ VERSION METHOD "Mcp-Name: =?BASE64?cmVhZF9maWxl?=\r\n", "read_file", false },
	{ VERSION METHOD "Mcp-Name: =?base64?cmVhZF9maWx?=\r\n", "read_file", false },
	{ VERSION METHOD "Mcp-Name: =?base64?cmVhZF9maWxlcw==?=\r\n", "read_file", false },
	{ VERSION METHOD "Mcp-Name: =?base64?cmVh?=\r\n", "read_file", false },
	{ VERSION METHOD "Mcp-Name: =?base64?cm Vh?=\r\n", "rea", false },
	{ VERSION METHOD "Mcp-Name: =?base64?YR==?=\r\n", "a", false },
	{ VERSION METHOD "Mcp-Name: =?base64?=\r\n", "", false },
	{ VERSION METHOD "Mcp-Name: \xc3\xa4\r\n", "a", false },
	{ VERSION METHOD "Mcp-Name:\r\n", "read_file", false },
};

static void headers_say_what_the_body_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct json name = { .type = JSON_STRING,
					   .name = STR("name"),
					   .string = str_of(cases[i].name) };
		struct json params = { .type = JSON_OBJECT };
		struct mcp_request r = { .method = STR("tools/call"),
					 .params = &params,
					 .modern = true,
					 .version = STR(MCP_MODERN) };
		struct json copy = name;
		char text[1024];
		struct http_scan scan = { 0 };
		struct http_head head;
		struct http_refusal why;

		params.first = &copy;
		(void)snprintf(text, sizeof text, "POST /mcp HTTP/1.1\r\nHost: x\r\n%s\r\n",
			       cases[i].headers);
		const struct str in = guarded(str_of(text));
		assert_true(http_parse_head(in, &scan, &head, &why) > 0);
		const int rc = mcp_headers_check(&head, &r);
		if (rc != (cases[i].ok ? 0 : -1))
			fail_msg("%s: %d %s", cases[i].headers, rc, r.why);
		if (rc < 0) {
			assert_int_equal(r.code, MCP_HEADER_MISMATCH);
			assert_int_equal(r.status, 400);
		}
		guarded_free(in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_say_what_the_body_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
