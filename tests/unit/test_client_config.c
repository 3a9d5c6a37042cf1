/* SPDX-License-Identifier: MIT */
/* The configuration of a host: what it may contain, and the message for each mistake. */

#include "client_unit.h"

#define SIDECAR(members)                                                                           \
	"{\"plugins\":{\"coding\":{\"mode\":\"sidecar\",\"sidecar\":{" members "}}}}"
#define LOCAL(members)	"{\"plugins\":{\"coding\":{\"mode\":\"local\",\"local\":{" members "}}}}"
#define CODING(members) "{\"plugins\":{\"coding\":{" members "}}}"

static const struct {
	const char *json, *address, *sentence; /* an address, or a sentence */
} cases[] = {
	{ "{\"other\":1,\"plugins\":{\"x\":{},\"coding\":{\"enabled\":true,\"mode\":\"sidecar\","
	  "\"sidecar\":{\"socketPath\":\"/run/s\",\"waitForReadyMs\":10000}}}}",
	  "unix:/run/s", NULL },
	{ SIDECAR("\"tcp\":{\"host\":\"::1\",\"port\":80},\"auth\":{\"token\":\"t\",\"required\":"
		  "true}"),
	  "tcp:[::1]:80", NULL },
	{ SIDECAR("\"socketPath\":\"/s\",\"auth\":{\"required\":false},\"tcp\":null"), "unix:/s",
	  NULL },
	{ SIDECAR("\"socketPath\":\"/\\u0073\""), "unix:/s", NULL },
	{ "", NULL, "The configuration is not JSON: " },
	{ "[]", NULL, "The configuration must be an object, not an array" },
	{ "{}", NULL, "plugins.coding must be an object; it is missing" },
	{ "{\"plugins\":1}", NULL, "plugins must be an object, not a number" },
	{ CODING("\"enabled\":\"yes\""), NULL,
	  "plugins.coding.enabled must be true or false, not \"yes\"" },
	{ CODING("\"enabled\":false"), NULL, "plugins.coding.enabled is false" },
	{ CODING(""), NULL, "plugins.coding.mode must be \"sidecar\" or \"local\"; it is missing" },
	{ CODING("\"mode\":\"container\""), NULL,
	  "plugins.coding.mode must be \"sidecar\" or \"local\", not \"container\"" },
	{ CODING("\"mode\":\"sidecar\""), NULL,
	  "plugins.coding.sidecar must be an object when the mode is \"sidecar\"; it is missing" },
	{ CODING("\"mode\":\"local\",\"container\":{}"), NULL,
	  "plugins.coding has no member \"container\"; it may have: enabled mode sidecar local" },
	{ SIDECAR(""), NULL, "plugins.coding.sidecar must have socketPath or tcp; it has neither" },
	{ SIDECAR("\"socketPath\":\"/s\",\"tcp\":{\"host\":\"h\",\"port\":1}"), NULL,
	  "plugins.coding.sidecar must have socketPath or tcp, not both" },
	{ SIDECAR("\"socketPath\":1"), NULL,
	  "plugins.coding.sidecar.socketPath must be a string that is not empty, not a number" },
	{ SIDECAR("\"socketPath\":\"s\""), NULL, "The socket path must be absolute, not \"s\"" },
	{ SIDECAR("\"socketpath\":\"/s\""), NULL,
	  "plugins.coding.sidecar has no member \"socketpath\"; it may have: " },
	{ SIDECAR("\"tcp\":{\"host\":\"h\"}"), NULL,
	  "plugins.coding.sidecar.tcp.port must be a number; it is missing" },
	{ SIDECAR("\"tcp\":{\"port\":1}"), NULL,
	  "plugins.coding.sidecar.tcp.host must be a name or an address; it is missing" },
	{ SIDECAR("\"tcp\":{\"host\":\"h\",\"port\":70000}"), NULL,
	  "plugins.coding.sidecar.tcp.port must be a whole number from 1 to 65535, not 70000" },
	{ SIDECAR("\"tcp\":{\"host\":\"h\",\"port\":\"80\"}"), NULL,
	  "plugins.coding.sidecar.tcp.port must be a number, not \"80\"" },
	{ SIDECAR("\"socketPath\":\"/s\",\"auth\":{\"required\":true}"), NULL,
	  "plugins.coding.sidecar.auth.required is true and plugins.coding.sidecar.auth.token is "
	  "missing" },
	{ SIDECAR("\"socketPath\":\"/s\",\"auth\":{\"token\":\"\"}"), NULL,
	  "plugins.coding.sidecar.auth.token must be a string that is not empty, not \"\"" },
	{ SIDECAR("\"socketPath\":\"/s\",\"waitForReadyMs\":1.5"), NULL,
	  "plugins.coding.sidecar.waitForReadyMs must be a whole number from 1 to 86400000, not "
	  "1.5" },
	{ LOCAL(""), NULL,
	  "plugins.coding.local.workspaceRoot must be an absolute path; it is missing" },
	{ LOCAL("\"workspaceRoot\":\"here\""), NULL,
	  "plugins.coding.local.workspaceRoot must be an absolute path, not \"here\"" },
	{ LOCAL("\"workspaceRoot\":\"/tmp\",\"allowOutsideWorkspaceRoot\":1"), NULL,
	  "plugins.coding.local.allowOutsideWorkspaceRoot must be true or false, not a number" },
};

static void each_mistake_has_its_message(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sidecar_error error = { .code = "" };
		struct sidecar *client = sidecar_open_json(cases[i].json, &error);
		if (!client != !cases[i].address)
			fail_msg("%zu: %s", i, error.message);
		if (client)
			assert_string_equal(sidecar_address(client), cases[i].address);
		if (!client &&
		    strncmp(error.message, cases[i].sentence, strlen(cases[i].sentence)) != 0)
			fail_msg("%zu: %s", i, error.message);
		if (!client)
			assert_string_equal(error.code, strstr(error.message, "is false")
								? "DISABLED"
								: "INVALID_CONFIG");
		sidecar_close(client);
	}
}

static void a_local_executor_works(void **state)
{
	struct scratch s = scratch_new();
	char json[PATH_MAX], address[PATH_MAX];
	struct sidecar_error error;

	(void)state;
	(void)snprintf(json, sizeof json, LOCAL("\"workspaceRoot\":\"%.1000s\""), s.path);
	(void)snprintf(address, sizeof address, "local:%.1000s", s.path);
	struct sidecar *client = sidecar_open_json(json, &error);
	assert_non_null(client);
	assert_string_equal(sidecar_address(client), address);
	sidecar_close(client);
	scratch_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mistake_has_its_message),
		cmocka_unit_test(a_local_executor_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
