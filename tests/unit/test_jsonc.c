/* SPDX-License-Identifier: MIT */
/* jsonc: one value changes, every other byte stays; what is added looks like the text around it. */

#include "unit.h"

#include "base/arena.h"
#include "base/own.h"
#include "setup/conf.h"

enum verb_of_case { SET, REMOVE, ADD, DROP };

struct change_case {
	enum verb_of_case verb;
	const char *text, *keys, *value, *want; /* keys with dots; want NULL: an error */
};

static struct key_path keys_of(const char *dotted)
{
	struct key_path k = { .n = 0 };
	struct str rest = str_of(dotted);

	while (rest.n && k.n < KEY_PATH_MAX)
		(void)str_cut(rest, '.', &k.key[k.n++], &rest);
	return k;
}

static int change(const struct change_case *c, struct str text, struct buf *out, struct err *e)
{
	struct key_path at = keys_of(c->keys);

	if (c->verb == ADD || c->verb == DROP)
		at.item = str_of(c->value);
	if (c->verb == SET || c->verb == ADD)
		return conf_set(CONF_JSON, text, &at, str_of(c->value), out, e);
	return conf_remove(CONF_JSON, text, &at, out, e);
}

static const struct change_case cases[] = {
	{ SET, "", "a.b", "1", "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n" },
	{ SET, "// c\n", "a", "1", "// c\n{\n  \"a\": 1\n}\n" },
	{ SET, "\xef\xbb\xbf", "a", "1", "\xef\xbb\xbf{\n  \"a\": 1\n}\n" },
	{ SET, "{}", "a", "1", "{\n  \"a\": 1\n}" },
	{ SET, "{}\n", "a", "[\"x\",\"y\"]", "{\n  \"a\": [\"x\", \"y\"]\n}\n" },
	{ SET, "{ \"b\": 2 }", "a", "{\"x\":[1]}", "{ \"b\": 2, \"a\": {\"x\": [1]} }" },
	{ SET, "{\"a\":1}", "a", "2", "{\"a\":2}" },
	{ SET, "{\"a\": 1 }", "a", "1", "{\"a\": 1 }" },
	{ SET, "{\"a\":1,\"a\":2}", "a", "3", "{\"a\":1,\"a\":3}" },
	{ SET, "{\"\\u0061\":1}", "a", "3", "{\"\\u0061\":3}" },
	{ SET, "{\n\t\"b\": 2\n}\n", "a", "{\"x\":1}",
	  "{\n\t\"b\": 2,\n\t\"a\": {\n\t\t\"x\": 1\n\t}\n}\n" },
	{ SET, "{\r\n  \"b\": 2\r\n}\r\n", "a", "{\"x\":1}",
	  "{\r\n  \"b\": 2,\r\n  \"a\": {\r\n    \"x\": 1\r\n  }\r\n}\r\n" },
	{ SET, "{\n  \"b\": 2, // two\n}\n", "a", "1", "{\n  \"b\": 2, // two\n  \"a\": 1,\n}\n" },
	{ SET, "{\n  \"b\": 2 // two\n}\n", "a", "1", "{\n  \"b\": 2, // two\n  \"a\": 1\n}\n" },
	{ SET, "{\r\n  \"b\": 2 // two\r\n}\r\n", "a", "1",
	  "{\r\n  \"b\": 2, // two\r\n  \"a\": 1\r\n}\r\n" },
	{ SET, "{\n  \"b\": 2 /* two */\n  // end\n}\n", "a", "1",
	  "{\n  \"b\": 2, /* two */\n  \"a\": 1\n  // end\n}\n" },
	{ SET, "{\n  // nothing yet\n}\n", "a", "1", "{\n  // nothing yet\n  \"a\": 1\n}\n" },
	{ SET, "{\n    \"m\": {\n        \"x\": {}\n    }\n}\n", "m.x.y", "true",
	  "{\n    \"m\": {\n        \"x\": {\n            \"y\": true\n        }\n    }\n}\n" },
	{ SET, "{\n  \"m\": {}\n}\n", "m.s", "[{\"a\":1}]",
	  "{\n  \"m\": {\n    \"s\": [\n      {\n        \"a\": 1\n      }\n    ]\n  }\n}\n" },
	{ SET, "{\n  \"m\": {\"s\": {}}\n}\n", "m.s", "[]", "{\n  \"m\": {\"s\": []}\n}\n" },
	{ SET, "{\"m\": 3}", "m.a", "1", NULL },
	{ SET, "[]", "a", "1", NULL },
	{ SET, "{\"a\": 1", "a", "1", NULL },
	{ SET, "{\"a\" 1}", "a", "1", NULL },
	{ SET, "{a: 1}", "a", "1", NULL },
	{ SET, "{\"a\": }", "a", "1", NULL },
	{ SET, "{\"a\": 1 \"b\": 2}", "a", "1", NULL },
	{ SET, "{\"a\": \"1}", "a", "1", NULL },
	{ SET, "{\"a\": \"1\\", "a", "1", NULL },
	{ SET, "{} x", "a", "1", NULL },
	{ SET, "{} /* x", "a", "1", NULL },
	{ SET, "{,}", "a", "1", NULL },
	{ REMOVE, "{\n  \"b\": 2,\n  \"a\": 1\n}\n", "a", "", "{\n  \"b\": 2\n}\n" },
	{ REMOVE, "{\n  \"b\": 2, // two\n  \"a\": 1\n}\n", "a", "", "{\n  \"b\": 2 // two\n}\n" },
	{ REMOVE, "{\"b\": 2, // two\n\"a\": 1}", "a", "", "{\"b\": 2 // two\n}" },
	{ REMOVE, "{ // why\n\"a\": 1}", "a", "", "{ // why\n}" },
	{ REMOVE, "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "a", "", "{\n  \"b\": 2\n}\n" },
	{ REMOVE, "{\n  \"a\": 1\n}\n", "a", "", "{}\n" },
	{ REMOVE, "{ \"a\": 1, \"b\": 2 }", "b", "", "{ \"a\": 1 }" },
	{ REMOVE, "{\n  // why\n  \"a\": 1,\n}\n", "a", "", "{\n  // why\n}\n" },
	{ REMOVE, "{\"b\": 2}", "a.c", "", "{\"b\": 2}" },
	{ REMOVE, "", "a", "", "" },
	{ ADD, "{}", "a", "\"x\"", "{\n  \"a\": [\"x\"]\n}" },
	{ ADD, "{\"a\": []}", "a", "\"x\"", "{\"a\": [\n  \"x\"\n]}" },
	{ ADD, "{\"a\": [\"x\"]}", "a", "\"x\"", "{\"a\": [\"x\"]}" },
	{ ADD, "{\"a\": [\"y\"]}", "a", "\"x\"", "{\"a\": [\"y\", \"x\"]}" },
	{ ADD, "{\n  \"a\": [\n    \"y\",\n  ],\n}", "a", "\"x\"",
	  "{\n  \"a\": [\n    \"y\",\n    \"x\",\n  ],\n}" },
	{ ADD, "{\"a\": [ { \"m\" : \"x\" /* c */ } ]}", "a", "{\"m\":\"x\"}",
	  "{\"a\": [ { \"m\" : \"x\" /* c */ } ]}" },
	{ ADD, "{\"a\": {}}", "a", "\"x\"", NULL },
	{ DROP, "{\"a\": [\"y\", \"x\"]}", "a", "\"x\"", "{\"a\": [\"y\"]}" },
	{ DROP, "{\"a\": [\"y\", \"x\"]}", "a", "\"z\"", "{\"a\": [\"y\", \"x\"]}" },
	{ DROP, "{\"a\": [\"x\", \"y\"]}", "a", "\"x\"", "{\"a\": [ \"y\"]}" },
	{ DROP, "{}", "a", "\"x\"", "{}" },
};

static void changes_only_what_is_asked(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF out = { .max = 4096 };
		struct err e = { .code = ERR_NONE };
		const struct str text = guarded(str_of(cases[i].text));
		const int status = change(&cases[i], text, &out, &e);

		if (cases[i].want) {
			if (status < 0)
				fail_msg("%s: %s", cases[i].text, e.msg);
			assert_str(buf_str(&out), cases[i].want);
		} else {
			if (status == 0)
				fail_msg("%s: accepted", cases[i].text);
			assert_int_equal(e.code, ERR_INVALID_CONFIG);
		}
		guarded_free(text);
	}
}

static void errors_name_the_line(void **state)
{
	const struct key_path at = keys_of("a");
	struct str found;
	struct err e;

	(void)state;
	assert_int_equal(conf_find(CONF_JSON, STR("{\n  \"a\": 1\n  \"b\": 2\n}"), &at, &found, &e),
			 -1);
	assert_string_equal(e.msg, "line 3: a comma is missing");
}

static void finds_values_items_and_members(void **state)
{
	const struct str text = STR("{\"a\": {\"b\": [1, \"x\" /* y */]}, \"\\u0063\": null}");
	struct key_path at = keys_of("a.b"), top = keys_of(""), none = keys_of("a.x");
	AUTO_ARENA memory = { .max = 4096 };
	struct str found, name;
	struct err e;

	(void)state;
	at.item = STR("\"x\"");
	assert_int_equal(conf_find(CONF_JSON, text, &at, &found, &e), 0);
	assert_str(found, "\"x\"");
	at.item = STR("2");
	assert_int_equal(conf_find(CONF_JSON, text, &at, &found, &e), 0);
	assert_null(found.p);
	at.item.p = NULL;
	assert_true(conf_child(CONF_JSON, text, &at, 1, &memory, &name, &found));
	assert_str(found, "\"x\"");
	assert_false(conf_child(CONF_JSON, text, &at, 2, &memory, &name, &found));
	assert_true(conf_child(CONF_JSON, text, &top, 1, &memory, &name, &found));
	assert_str(name, "c");
	assert_false(conf_child(CONF_JSON, text, &top, 2, &memory, &name, &found));
	assert_false(conf_child(CONF_JSON, STR("3"), &top, 0, &memory, &name, &found));
	assert_int_equal(conf_find(CONF_JSON, text, &none, &found, &e), 0);
	assert_null(found.p);
}

static void says_when_there_is_no_room(void **state)
{
	const struct key_path at = keys_of("a");
	struct buf out = { .max = 4 };
	struct err e;

	(void)state;
	assert_int_equal(conf_set(CONF_JSON, STR("{\"b\": 1}"), &at, STR("1"), &out, &e), -1);
	assert_int_equal(e.code, ERR_FILE_TOO_LARGE);
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_only_what_is_asked),
		cmocka_unit_test(errors_name_the_line),
		cmocka_unit_test(finds_values_items_and_members),
		cmocka_unit_test(says_when_there_is_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
