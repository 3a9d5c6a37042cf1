/* SPDX-License-Identifier: MIT */
/* Binding of arguments by the model's rules, row by row. */

#include "unit.h"

#include "base/buf.h"
#include "base/own.h"
#include "tools/tool.h"

struct item {
	struct str text;
	bool all;
};

struct args {
	struct str text, path;
	int64_t count, mode;
	double number;
	bool on;
	const struct json *names, *env, *items;
};

static const char *const modes[] = { "one", "two", NULL };

static const struct arg item_table[] = {
	A_STR(struct item, text, "text", REQUIRED, "t"),
	A_BOOL(struct item, all, "all", false, "a"),
	A_END,
};

static const struct arg table[] = {
	A_STR(struct args, text, "text", REQUIRED | NO_NUL, "t"),
	A_STR(struct args, path, "path", NONBLANK, "p"),
	A_INT(struct args, count, "count", 5, 1, 10, "c"),
	A_NUM(struct args, number, "number", 2, 0, 100, "n"),
	A_CHOICE(struct args, mode, "mode", 0, 1, modes, "m"),
	A_BOOL(struct args, on, "on", true, "o"),
	A_STRINGS(struct args, names, "names", 0, "n"),
	A_PAIRS(struct args, env, "env", 0, "e"),
	A_OBJECTS(struct args, items, "items", 0, item_table, "i"),
	A_END,
};

static const struct tool probe = { .name = "probe", .args = table, .flags = TOOL_MODEL };

static int bind(const char *text, struct arena *a, struct args *args, struct err *e)
{
	const struct json *v;

	*args = (struct args){ 0 };
	assert_int_equal(json_parse(str_of(text), a, &v, e), 0);
	return tool_bind(&probe, v, args, e);
}

static void test_accepted(void **state)
{
	static const struct {
		const char *json;
		int64_t count, mode;
		bool on;
	} rows[] = {
		{ "{\"text\":\"\"}", 5, 1, true },
		{ "{\"text\":\"x\",\"count\":1,\"on\":false}", 1, 1, false },
		{ "{\"text\":\"x\",\"count\":\"10\",\"on\":\"False\"}", 10, 1, false },
		{ "{\"text\":\"x\",\"count\":\" 3 \",\"mode\":\"ONE\"}", 3, 0, true },
		{ "{\"text\":\"x\",\"count\":null,\"on\":null,\"mode\":null,\"items\":null}", 5, 1,
		  true },
		{ "{\"text\":\"x\",\"count\":2.0,\"sessionId\":7}", 2, 1, true },
		{ "{\"text\":\"x\",\"count\":\"2.0\",\"path\":\"\"}", 2, 1, true },
		{ "{\"text\":\"x\",\"count\":\"1e1\",\"path\":\"  \"}", 10, 1, true },
		{ "{\"text\":\"x\",\"names\":[],\"env\":{\"A\":\"1\"},\"items\":[]}", 5, 1, true },
		{ "{\"text\":\"x\",\"env\":[\"A=1\"],\"items\":[{\"text\":\"y\"}]}", 5, 1, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA a = { .max = 1 << 20 };
		struct args args;
		struct err e;
		assert_int_equal(bind(rows[i].json, &a, &args, &e), 0);
		assert_true(args.count == rows[i].count);
		assert_true(args.mode == rows[i].mode);
		assert_true(args.on == rows[i].on);
	}
}

static void test_refused(void **state)
{
	/* the object, and what the message must name */
	static const char *const rows[][2] = {
		{ "{}", "text is missing (a string)" },
		{ "{\"text\":null}", "text is missing" },
		{ "{\"text\":1}", "text must be a string, not 1" },
		{ "{\"text\":\"a\\u0000\"}", "text must not contain a NUL byte" },
		{ "{\"text\":\"\",\"path\":5}", "path must be a non-empty string, not 5" },
		{ "{\"text\":\"\",\"path\":[]}", "path must be a non-empty string, not an array" },
		{ "{\"text\":\"\",\"count\":0}", "count must be an integer from 1 to 10, not 0" },
		{ "{\"text\":\"\",\"count\":11}", "count must be" },
		{ "{\"text\":\"\",\"count\":1.5}", "count must be" },
		{ "{\"text\":\"\",\"count\":86400001}", "from 1 to 10, not 86400001" },
		{ "{\"text\":\"\",\"count\":0.1}", "from 1 to 10, not 0.1" },
		{ "{\"text\":\"\",\"count\":\"x\"}", "not \"x\"" },
		{ "{\"text\":\"\",\"count\":\"0x2\"}", "not \"0x2\"" },
		{ "{\"text\":\"\",\"count\":\"nan\"}", "not \"nan\"" },
		{ "{\"text\":\"\",\"count\":\"1.5\"}", "not \"1.5\"" },
		{ "{\"text\":\"\",\"count\":true}", "not a boolean" },
		{ "{\"text\":\"\",\"number\":101}", "number must be a number" },
		{ "{\"text\":\"\",\"mode\":\"three\"}", "mode must be one of one, two" },
		{ "{\"text\":\"\",\"on\":1}", "on must be true or false" },
		{ "{\"text\":\"\",\"names\":[1]}", "names must be an array of strings" },
		{ "{\"text\":\"\",\"names\":{}}", "names must be an array of strings" },
		{ "{\"text\":\"\",\"env\":{\"A\":1}}", "env must be" },
		{ "{\"text\":\"\",\"items\":[1]}", "items must be an array of objects" },
		{ "{\"text\":\"\",\"items\":[{\"text\":\"\"},{}]}", "items[1].text is missing" },
		{ "{\"text\":\"\",\"items\":[{\"text\":\"\",\"all\":2}]}", "items[0].all must be" },
		{ "{\"text\":\"\",\"txt\":1}", "txt is not an argument (there are text, path" },
		{ "{\"count\":0,\"on\":5}", "; on must be" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA a = { .max = 1 << 20 };
		struct args args;
		struct err e;
		assert_int_equal(bind(rows[i][0], &a, &args, &e), -1);
		assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
		if (!strstr(e.msg, rows[i][1]))
			fail_msg("%s: %s does not say %s", rows[i][0], e.msg, rows[i][1]);
	}
}

static void test_items(void **state)
{
	AUTO_ARENA a = { .max = 1 << 20 };
	struct args args;
	struct item item = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(bind("{\"text\":\"\",\"items\":[{\"text\":\"x\",\"all\":\"true\"}]}", &a,
			      &args, &e),
			 0);
	tool_bind_item(item_table, args.items->first, &item);
	assert_true(str_eq(item.text, STR("x")));
	assert_true(item.all);
}

/* A list of wrong items fills the message and no more. */
static void test_many_faults(void **state)
{
	AUTO_ARENA a = { .max = 1 << 24 };
	AUTO_BUF text = { .max = 1 << 24 };
	struct args args;
	struct err e;

	(void)state;
	buf_add(&text, STR("{\"items\":[{}"));
	for (int i = 0; i < 10000; i++)
		buf_add(&text, STR(",{\"a\":1}"));
	buf_add(&text, STR("]}"));
	buf_addc(&text, '\0');
	assert_int_equal(bind(text.p, &a, &args, &e), -1);
	assert_non_null(strstr(e.msg, "text is missing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_many_faults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
