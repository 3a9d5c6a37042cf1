/* SPDX-License-Identifier: MIT */
/* Sessions begin, are found, end, and are bounded. */

#include "unit.h"

#include "api/limits.h"
#include "api/mcp.h"
#include "base/own.h"

static struct mcp_http *sessions;

static int fresh(void **state)
{
	(void)state;
	sessions = mem_new(1, sizeof *sessions);
	return sessions ? 0 : -1;
}

static int gone(void **state)
{
	(void)state;
	mem_free(sessions);
	return 0;
}

static void a_session_has_a_name_of_its_own(void **state)
{
	char a[MCP_SESSION_ID + 1], b[MCP_SESSION_ID + 1], client[MCP_CLIENT_NAME];

	(void)state;
	mcp_sessions_begin(sessions, "one", STR("client of one"), a);
	mcp_sessions_begin(sessions, "two", STR("client of two"), b);
	assert_string_not_equal(a, b);
	assert_int_equal(strspn(a, "0123456789abcdef"), MCP_SESSION_ID);
	assert_string_equal(mcp_sessions_find(sessions, str_of(a), client), "one");
	assert_string_equal(mcp_sessions_find(sessions, str_of(b), client), "two");
	assert_string_equal(client, "client of two");
	assert_null(mcp_sessions_find(sessions, STR(""), client));
	assert_null(mcp_sessions_find(sessions, str_upto(str_of(a), MCP_SESSION_ID - 1), client));
	assert_true(mcp_sessions_end(sessions, str_of(a)));
	assert_false(mcp_sessions_end(sessions, str_of(a)));
	assert_null(mcp_sessions_find(sessions, str_of(a), client));
	assert_string_equal(mcp_sessions_find(sessions, str_of(b), client), "two");
}

static void the_one_used_longest_ago_makes_room(void **state)
{
	char first[MCP_SESSION_ID + 1], second[MCP_SESSION_ID + 1], id[MCP_SESSION_ID + 1];
	char client[MCP_CLIENT_NAME];

	(void)state;
	mcp_sessions_begin(sessions, "first", STR("client of first"), first);
	mcp_sessions_begin(sessions, "second", STR("client of second"), second);
	for (int i = 2; i < LIMIT_MCP_SESSIONS; i++)
		mcp_sessions_begin(sessions, "more", STR("client of more"), id);
	assert_non_null(mcp_sessions_find(sessions, str_of(first), client));
	mcp_sessions_begin(sessions, "one too many", STR("client of one too many"), id);
	assert_non_null(mcp_sessions_find(sessions, str_of(first), client));
	assert_null(mcp_sessions_find(sessions, str_of(second), client));
	assert_string_equal(mcp_sessions_find(sessions, str_of(id), client), "one too many");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_session_has_a_name_of_its_own, fresh, gone),
		cmocka_unit_test_setup_teardown(the_one_used_longest_ago_makes_room, fresh, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
