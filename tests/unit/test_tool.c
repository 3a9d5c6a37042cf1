/* SPDX-License-Identifier: MIT */
/* The registry, the two kinds of binding, and what calls have in common. */

#include "unit.h"

#include <ctype.h>

#include "tools/schema.h"
#include "results/way.h"
#include "tools/tool.h"
#include "workspace/text.h"

struct args {
	struct str path, text;
	int64_t count;
	double ratio;
	bool deep;
	const struct json *list;
};

static const struct arg table[] = {
	A_STR(struct args, path, "path", REQUIRED | NONBLANK, ""),
	A_STR(struct args, text, "text", NO_NUL, ""),
	A_INT(struct args, count, "count", 7, 1, 100, ""),
	A_NUM(struct args, ratio, "ratio", 2, 0, 10, ""),
	A_BOOL(struct args, deep, "deep", true, ""),
	A_JSON(struct args, list, "list", 0, ""),
	A_END,
};

static int run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	(void)c, (void)args;
	return err_set(e, ERR_EXECUTION_ERROR, "it ran");
}

static const struct tool wire = { .name = "wire",
				  .about = "",
				  .args = table,
				  .args_size = sizeof(struct args),
				  .flags = TOOL_WIRE,
				  .run = run };
static const struct tool model = { .name = "model",
				   .about = "",
				   .args = table,
				   .args_size = sizeof(struct args),
				   .flags = TOOL_MODEL,
				   .run = run };

static int bind(const struct tool *t, const char *text, struct args *args, struct arena *a,
		struct err *e)
{
	const struct json *object;

	*args = (struct args){ 0 };
	assert_int_equal(json_parse(str_of(text), a, &object, e), 0);
	return tool_bind(t, object, args, e);
}

static const struct {
	const char *text;
	bool wire, model; /* which of them accept it */
	int64_t count;
	double ratio;
	bool deep;
} numbers[] = {
	{ "{\"path\":\"p\"}", true, true, 7, 2, true },
	{ "{\"path\":\"p\",\"count\":9,\"ratio\":0.5,\"deep\":false}", true, true, 9, 0.5, false },
	{ "{\"path\":\"p\",\"sessionId\":\"s\"}", true, true, 7, 2, true },
	{ "{\"path\":\"p\",\"other\":1}", true, false, 7, 2, true },
	{ "{\"path\":\"p\",\"count\":null,\"ratio\":null,\"deep\":null,\"list\":null}", true, true,
	  7, 2, true },
	/* Models quote numbers; on the wire a wrong optional value counts as absent. */
	{ "{\"path\":\"p\",\"count\":\"9\"}", true, true, -1, 2, true },
	{ "{\"path\":\"p\",\"deep\":\"false\"}", true, true, 7, 2, -1 },
	{ "{\"path\":\"p\",\"count\":\"many\"}", true, false, 7, 2, true },
	{ "{\"path\":\"p\",\"count\":2.5}", true, false, 2, 2, true },
	{ "{\"path\":\"p\",\"count\":1e300}", true, false, INT64_MAX, 2, true },
	{ "{\"path\":\"p\",\"count\":-1e300}", true, false, INT64_MIN, 2, true },
	{ "{\"path\":\"p\",\"count\":0}", true, false, 0, 2, true },
	{ "{\"path\":\"p\",\"count\":101}", true, false, 101, 2, true },
	{ "{\"path\":\"p\",\"ratio\":11}", true, false, 7, 2, true },
	{ "{\"path\":\"p\",\"deep\":1}", true, false, 7, 2, true },
	{ "{\"path\":\"p\",\"list\":5}", true, false, 7, 2, true },
	{ "{\"path\":\"p\",\"text\":\"a\\u0000\"}", true, false, 7, 2, true },
	{ "{}", false, false, 0, 0, false },
	{ "{\"path\":5}", false, false, 0, 0, false },
	{ "{\"path\":\" \\t\"}", false, false, 0, 0, false },
	{ "{\"path\":null}", false, false, 0, 0, false },
};

static void check(const struct tool *t, size_t i, bool takes, bool coerced)
{
	AUTO_ARENA a = { .max = 1 << 20 };
	struct args args;
	struct err e;

	const int rc = bind(t, numbers[i].text, &args, &a, &e);
	if ((rc == 0) != takes)
		fail_msg("%s: %s %s", t->name, numbers[i].text, rc ? e.msg : "was taken");
	if (!takes)
		assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
	if (rc)
		return;
	/* -1: the quoted value where quotes are read, else the default. */
	const bool quoted_count = numbers[i].count == -1;
	const bool quoted_deep = strstr(numbers[i].text, "\"false\"");
	assert_int_equal(args.count, quoted_count ? (coerced ? 9 : 7) : numbers[i].count);
	assert_int_equal(args.deep, quoted_deep ? !coerced : numbers[i].deep);
	assert_true(args.ratio > numbers[i].ratio - 1e-9 && args.ratio < numbers[i].ratio + 1e-9);
	assert_str(args.path, "p");
}

static void both_kinds_bind_by_their_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		check(&wire, i, numbers[i].wire, false);
		check(&model, i, numbers[i].model, true);
	}
}

static void old_clients_get_the_sentences_they_know(void **state)
{
	AUTO_ARENA a = { .max = 1 << 20 };
	struct args args;
	struct err e;

	(void)state;
	assert_int_equal(bind(&wire, "{\"count\":1}", &args, &a, &e), -1);
	assert_string_equal(e.msg, "Missing or invalid path");
}

static void a_model_is_told_everything_at_once(void **state)
{
	AUTO_ARENA a = { .max = 1 << 20 };
	struct args args;
	struct err e;

	(void)state;
	assert_int_equal(bind(&model, "{\"count\":\"x\",\"deep\":7,\"depth\":1,\"ratio\":99}",
			      &args, &a, &e),
			 -1);
	for (const char *const *word =
		     (const char *const[]){ "path is missing", "count must be an integer",
					    "from 1 to 100", "\"x\"", "deep must be", "not 99",
					    "depth is not an argument", "path, text, count", NULL };
	     *word; word++)
		if (!strstr(e.msg, *word))
			fail_msg("%s is not in: %s", *word, e.msg);
}

static void many_faults_are_an_error_of_bounded_length(void **state)
{
	AUTO_ARENA a = { .max = 1 << 20 };
	AUTO_BUF text = { .max = 64 << 10 };
	struct args args;
	struct err e;

	(void)state;
	buf_addc(&text, '{');
	for (int i = 0; i < 500; i++)
		buf_addf(&text, "\"unknown%d\":1,", i);
	buf_add(&text, STR("\"path\":\"p\"}"));
	buf_addc(&text, '\0');
	assert_int_equal(bind(&model, text.p, &args, &a, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
	assert_non_null(strstr(e.msg, "unknown0"));
}

static void names_are_found_by_kind(void **state)
{
	(void)state;
	assert_non_null(tool_by_name(STR("read"), TOOL_WIRE));
	assert_null(tool_by_name(STR("read"), TOOL_MODEL));
	assert_null(tool_by_name(STR("READ"), TOOL_WIRE));
	assert_null(tool_by_name(STR(""), TOOL_WIRE));
	for (size_t i = 0; tool_at(i); i++) {
		const struct tool *t = tool_at(i);
		assert_ptr_equal(tool_by_name(str_of(t->name), t->flags), t);
		assert_true(t->about[0] && t->run && t->args);
		for (const struct arg *arg = t->args; arg->name; arg++)
			assert_true(arg->about[0] && arg->offset < t->args_size);
	}
}

static void a_call_without_memory_is_refused(void **state)
{
	struct arena none = { .max = 0 };
	struct call c = { .arena = &none };
	const struct json object = { .type = JSON_OBJECT };
	struct err e;

	(void)state;
	assert_int_equal(tool_call(&wire, &c, &object, NULL, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
	c.shared = &(const struct call_shared){ .read_only = true };
	assert_int_equal(call_may_change(&c, &e), -1);
	assert_int_equal(e.code, ERR_READ_ONLY);
}

static void a_cut_text_is_described_as_the_wire_demands(void **state)
{
	static char line[60000];
	AUTO_BUF b = { .max = 4096 };
	struct jw w = jw_to(&b);
	const struct way way = { .members = &w };
	struct text t;

	(void)state;
	memset(line, 'x', sizeof line);
	jw_object(&w, NULL);
	text_cut_head(STR("src/main.c\nsrc/util.c"), 1, 51200, &t);
	way_write_truncation(&way, &t, 1, 51200);
	text_cut_head((struct str){ line, sizeof line }, 2000, 51200, &t);
	way_write_truncation(&way, &t, 2000, 51200);
	jw_end(&w);
	assert_str(buf_str(&b),
		   "{\"truncation\":{\"content\":\"src/main.c\",\"truncated\":true,"
		   "\"truncatedBy\":\"lines\",\"totalLines\":2,\"totalBytes\":21,"
		   "\"outputLines\":1,\"outputBytes\":10,\"lastLinePartial\":false,"
		   "\"firstLineExceedsLimit\":false,\"maxLines\":1,\"maxBytes\":51200},"
		   "\"truncation\":{\"content\":\"\",\"truncated\":true,\"truncatedBy\":\"bytes\","
		   "\"totalLines\":1,\"totalBytes\":60000,\"outputLines\":0,"
		   "\"outputBytes\":0,\"lastLinePartial\":false,"
		   "\"firstLineExceedsLimit\":true,\"maxLines\":2000,\"maxBytes\":51200}}");
}

static void check_name(const char *name)
{
	assert_true(strlen(name) <= 64);
	assert_true(isalpha((unsigned char)*name));
	for (const char *c = name; *c; c++)
		assert_true(isalnum((unsigned char)*c) || *c == '_');
}

static void check_fields(const struct field *f)
{
	assert_non_null(f);
	for (; f->name; f++) {
		check_name(f->name);
		assert_non_null(f->about);
		if (f->type == FIELD_OBJECT)
			check_fields(f->of);
	}
}

static void every_tool_is_complete(void **state)
{
	size_t core = 0, models = 0;

	(void)state;
	for (size_t i = 0; tool_at(i); i++) {
		const struct tool *t = tool_at(i);
		check_name(t->name);
		assert_non_null(t->about);
		assert_non_null(t->run);
		const unsigned kinds = TOOL_WIRE | TOOL_ROUTE | TOOL_NATIVE;
		assert_true(!(t->flags & kinds) != !(t->flags & TOOL_MODEL));
		if (!(t->flags & TOOL_MODEL))
			continue;
		models++;
		core += (t->flags & TOOL_CORE) != 0;
		assert_non_null(t->title);
		check_fields(t->fields);
		assert_false(t->flags & TOOL_READ_ONLY && t->flags & TOOL_DESTRUCTIVE);
		for (const struct arg *a = t->args; a->name; a++) {
			check_name(a->name);
			assert_false(a->flags & REQUIRED && a->flags & RARE);
			assert_true(a->type != ARG_JSON); /* it would not say what it contains */
		}
		assert_ptr_equal(tool_by_name(str_of(t->name), TOOL_MODEL), t);
		assert_null(tool_by_name(str_of(t->name), TOOL_WIRE));
	}
	assert_int_equal(core, 5);
	assert_true(models > core);
}

static void the_core_set_is_small(void **state)
{
	AUTO_BUF out = { .max = 1 << 20 };
	struct jw w = jw_to(&out);

	(void)state;
	schema_write(&w, NULL,
		     &(struct schema_offer){ .set = TOOL_CORE, .times = run_times_model });
	assert_false(out.failed);
	assert_true(out.n < 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cut_text_is_described_as_the_wire_demands),
		cmocka_unit_test(both_kinds_bind_by_their_rules),
		cmocka_unit_test(old_clients_get_the_sentences_they_know),
		cmocka_unit_test(a_model_is_told_everything_at_once),
		cmocka_unit_test(many_faults_are_an_error_of_bounded_length),
		cmocka_unit_test(names_are_found_by_kind),
		cmocka_unit_test(a_call_without_memory_is_refused),
		cmocka_unit_test(every_tool_is_complete),
		cmocka_unit_test(the_core_set_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
