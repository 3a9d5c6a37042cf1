/* SPDX-License-Identifier: MIT */
/* Who may call: tokens everywhere, Host and Origin on TCP. */

#include "unit.h"

#include "api/exchange.h"
#include "base/own.h"

enum { UNIX, TCP };

struct request {
	const char *host, *headers;
};

static int check(const struct auth_rules *s, const char *host, const char *headers, bool tcp)
{
	char text[512];
	struct http_scan scan = { 0 };
	struct http_head head;
	struct http_refusal why;
	const char *sentence = NULL;

	(void)snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: %s\r\n%s\r\n", host, headers);
	const struct str copy = guarded(str_of(text));
	assert_true(http_parse_head(copy, &scan, &head, &why) > 0);
	const int status = auth_check(s, &head, tcp, &sentence);
	assert_int_equal(status != 0, sentence != NULL);
	if (status == 401)
		assert_string_equal(sentence, "Unauthorized");
	guarded_free(copy);
	return status;
}

static const struct {
	const char *headers;
	/* what is answered: no token configured; optional; required. On TCP optional is required.
	 */
	int none, optional, required;
} tokens[] = {
	{ "", 0, 0, 401 },
	{ "Authorization: Bearer tok\r\n", 0, 0, 0 },
	{ "authorization: bEARER   tok\r\n", 0, 0, 0 },
	{ "X-Sidecar-Token: tok\r\n", 0, 0, 0 },
	{ "Authorization: Basic dG9r\r\n", 0, 0, 401 },
	{ "Authorization: Basic dG9r\r\nX-Sidecar-Token: tok\r\n", 0, 0, 0 },
	{ "Authorization: Bearer\r\n", 0, 401, 401 },
	{ "Authorization: Bearer to\r\n", 0, 401, 401 },
	{ "Authorization: Bearer tokk\r\n", 0, 401, 401 },
	{ "Authorization: Bearer tok tok\r\n", 0, 401, 401 },
	{ "Authorization: Bearertok\r\n", 0, 0, 401 },
	{ "X-Sidecar-Token:\r\n", 0, 401, 401 },
	{ "X-Sidecar-Token: Bearer tok\r\n", 0, 401, 401 },
	{ "Authorization: Bearer no\r\nX-Sidecar-Token: tok\r\n", 0, 401, 401 },
	{ "Authorization: Bearer no\r\nAuthorization: Bearer tok\r\n", 0, 401, 401 },
};

static void a_wrong_token_is_refused_and_a_missing_one_may_be(void **state)
{
	const struct auth_rules none = { 0 }, optional = { .token = STR("tok") },
				required = { .token = STR("tok"), .required = true };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
		const char *h = tokens[i].headers;
		assert_int_equal(check(&none, "localhost", h, UNIX), tokens[i].none);
		assert_int_equal(check(&none, "localhost", h, TCP), tokens[i].none);
		assert_int_equal(check(&optional, "localhost", h, UNIX), tokens[i].optional);
		assert_int_equal(check(&optional, "localhost", h, TCP), tokens[i].required);
		assert_int_equal(check(&required, "localhost", h, UNIX), tokens[i].required);
		assert_int_equal(check(&required, "localhost", h, TCP), tokens[i].required);
	}
}

static const struct {
	const char *host;
	bool ours;
} hosts[] = {
	{ "localhost", true },
	{ "LocalHost:80", true },
	{ "127.0.0.1", true },
	{ "127.1.2.3:9", true },
	{ "[::1]", true },
	{ "[::1]:80", true },
	{ "10.1.2.3", true },
	{ "10.1.2.3:80", true },
	{ "box.example", true },
	{ "Box.Example:80", true },
	{ "", false },
	{ "evil.example", false },
	{ "localhost.evil", false },
	{ "127.0.0.1.evil", false },
	{ "xlocalhost", false },
	{ "10.1.2.30", false },
	{ "127.1", false },
	{ "[::2]", false },
	{ "box.example.", false },
	{ "sub.box.example", false },
	{ "2130706433", false },
};

static void a_foreign_host_is_refused_on_tcp(void **state)
{
	const struct auth_rules s = { .tcp_host = STR("10.1.2.3"),
				      .hosts = STR(" box.example ,x") };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		const int status = check(&s, hosts[i].host, "", TCP);
		if (status != (hosts[i].ours ? 0 : 403))
			fail_msg("%s: %d", hosts[i].host, status);
		assert_int_equal(check(&s, hosts[i].host, "", UNIX), 0);
	}
}

static const struct {
	const char *origin;
	bool ours;
} origins[] = {
	{ "http://localhost", true },
	{ "http://LOCALHOST", true },
	{ "https://app.example", true },
	{ "https://localhost", false },
	{ "http://localhost:81", false },
	{ "http://app.example", false },
	{ "null", false },
	{ "", false },
	{ "http://", false },
	{ "https://app.example.evil", false },
};

static void a_foreign_page_is_refused_on_tcp(void **state)
{
	const struct auth_rules s = { .origins = STR("https://app.example,") };
	char header[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(origins); i++) {
		(void)snprintf(header, sizeof header, "Origin: %s\r\n", origins[i].origin);
		const int status = check(&s, "localhost", header, TCP);
		if (status != (origins[i].ours ? 0 : 403))
			fail_msg("%s: %d", origins[i].origin, status);
		assert_int_equal(check(&s, "localhost", header, UNIX), 0);
	}
}

static void a_star_stands_for_all(void **state)
{
	(void)state;
	assert_true(auth_listed(STR("a,*"), STR("anything")));
	assert_true(auth_listed(STR("a, B "), STR("b")));
	assert_false(auth_listed(STR(""), STR("")));
	assert_false(auth_listed(STR(",,"), STR("")));
	assert_false(auth_listed(STR("ab"), STR("a")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_token_is_refused_and_a_missing_one_may_be),
		cmocka_unit_test(a_foreign_host_is_refused_on_tcp),
		cmocka_unit_test(a_foreign_page_is_refused_on_tcp),
		cmocka_unit_test(a_star_stands_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
