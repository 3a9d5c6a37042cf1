/* SPDX-License-Identifier: MIT */
/* Escapes of paths, parameters of queries. */

#include "unit.h"

#include "net/http_parse.h"

static const struct {
	struct str raw;
	const char *path; /* NULL: refused */
	size_t n;
} paths[] = {
	{ STR(""), "", 0 },
	{ STR("/read"), "/read", 5 },
	{ STR("/a%20b+c"), "/a b+c", 6 },
	{ STR("/%2f%2F%c3%A9"), "///\xc3\xa9", 5 },
	{ STR("%00"), "\0", 1 },
	{ STR("%2525"), "%25", 3 },
	{ STR("%"), NULL, 0 },
	{ STR("/a%4"), NULL, 0 },
	{ STR("/%g0"), NULL, 0 },
	{ STR("/%0g"), NULL, 0 },
	{ STR("/% 0"), NULL, 0 },
	{ STR("/%%20"), NULL, 0 },
	{ STR("/%+1"), NULL, 0 },
};

static void paths_are_decoded_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		const struct str raw = guarded(paths[i].raw);
		char out[64];
		const ptrdiff_t n = http_path_decode(raw, out);
		guarded_free(raw);
		assert_int_equal(n, paths[i].path ? (ptrdiff_t)paths[i].n : -1);
		if (n > 0)
			assert_memory_equal(out, paths[i].path, (size_t)n);
	}
}

static const struct {
	const char *query, *name;
	int rc;
	const char *value;
} queries[] = {
	{ "", "a", 0, NULL },
	{ "a=1", "a", 1, "1" },
	{ "a=1", "b", 0, NULL },
	{ "a=1", "", 0, NULL },
	{ "ab=1", "a", 0, NULL },
	{ "a=1", "ab", 0, NULL },
	{ "b=2&a=1&a=3", "a", 1, "1" },
	{ "a", "a", 1, "" },
	{ "a=", "a", 1, "" },
	{ "a=b=c", "a", 1, "b=c" },
	{ "&&a=1&", "a", 1, "1" },
	{ "&&", "", 0, NULL },
	{ "=x", "", 1, "x" },
	{ "A=1", "a", 0, NULL },
	{ "%61=1", "a", 1, "1" },
	{ "a+b=1", "a b", 1, "1" },
	{ "a=1+2%2B3%26", "a", 1, "1 2+3&" },
	{ "a=%zz", "a", -1, NULL },
	{ "a=%1", "a", -1, NULL },
	{ "%=1&b=2", "b", 1, "2" },
	{ "b=%zz&a=1", "a", 1, "1" },
	{ "a=12345678", "a", 1, "12345678" },
	{ "a=+2345678", "a", 1, " 2345678" },
	{ "a=+23456789", "a", -1, NULL },
};

static void parameters_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
		const struct str query = guarded(str_of(queries[i].query));
		char out[8];
		struct str value = { NULL, 0 };
		const int rc = http_query(query, str_of(queries[i].name), out, sizeof out, &value);
		if (rc != queries[i].rc)
			fail_msg("%s: %s gives %d", queries[i].query, queries[i].name, rc);
		if (rc == 1)
			assert_str(value, queries[i].value);
		guarded_free(query);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_decoded_once),
		cmocka_unit_test(parameters_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
