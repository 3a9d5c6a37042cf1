/* SPDX-License-Identifier: MIT */
/* What models call arguments elsewhere, for each tool by the names of its own. */

#include "unit.h"

#include "base/own.h"
#include "json_tree.h"
#include "tools/aliases.h"
#include "tools/tool.h"

static const struct row {
	const char *tool, *given, *meant; /* NULL: the same */
} rows[] = {
	{ "read_file", "{\"path\":\"a\"}", NULL },
	{ "read_file", "{\"file_path\":\"a\"}", "{\"path\":\"a\"}" },
	{ "read_file", "{\"filePath\":\"a\",\"offset\":3,\"limit\":2}",
	  "{\"path\":\"a\",\"start_line\":3,\"end_line\":4}" },
	{ "read_file", "{\"path\":\"a\",\"offset\":0,\"limit\":10}",
	  "{\"path\":\"a\",\"start_line\":1,\"end_line\":10}" },
	{ "read_file", "{\"path\":\"a\",\"limit\":\"5\"}", "{\"path\":\"a\",\"end_line\":5}" },
	{ "read_file", "{\"path\":\"a\",\"limit\":9223372036854775807,\"offset\":2}",
	  "{\"path\":\"a\",\"end_line\":9223372036854775807,\"start_line\":2}" },
	/* Both names: one of them is refused. */
	{ "read_file", "{\"path\":\"a\",\"file_path\":\"b\"}", NULL },
	{ "read_file", "{\"path\":\"a\",\"start_line\":2,\"limit\":3}",
	  "{\"path\":\"a\",\"start_line\":2,\"end_line\":4}" },
	{ "write_file", "{\"file_path\":\"a\",\"content\":\"x\"}",
	  "{\"path\":\"a\",\"content\":\"x\"}" },
	{ "edit_file", "{\"file_path\":\"a\",\"old_string\":\"x\",\"new_string\":\"y\"}",
	  "{\"path\":\"a\",\"old_text\":\"x\",\"new_text\":\"y\"}" },
	{ "multi_edit",
	  "{\"file_path\":\"a\",\"edits\":[{\"old_string\":\"x\",\"new_string\":\"y\"},1]}",
	  "{\"path\":\"a\",\"edits\":[{\"old_text\":\"x\",\"new_text\":\"y\"},1]}" },
	{ "multi_edit", "{\"path\":\"a\",\"edits\":[{\"old_text\":\"x\",\"new_str\":\"y\"}]}",
	  "{\"path\":\"a\",\"edits\":[{\"old_text\":\"x\",\"new_text\":\"y\"}]}" },
	{ "run_command", "{\"cmd\":\"ls\",\"timeout\":30,\"description\":\"List\"}",
	  "{\"command\":\"ls\",\"timeout_ms\":30000}" },
	{ "run_command", "{\"command\":\"ls\",\"timeout\":120000,\"workdir\":\"d\"}",
	  "{\"command\":\"ls\",\"timeout_ms\":120000,\"cwd\":\"d\"}" },
	{ "run_command", "{\"command\":\"ls\",\"timeout\":\"2\",\"directory\":\"d\"}",
	  "{\"command\":\"ls\",\"timeout_ms\":2000,\"cwd\":\"d\"}" },
	{ "run_command", "{\"command\":\"ls\",\"timeout\":-1}",
	  "{\"command\":\"ls\",\"timeout_ms\":-1}" },
	{ "search_files", "{\"query\":\"x\",\"glob\":\"*.c\"}",
	  "{\"pattern\":\"x\",\"file_pattern\":\"*.c\"}" },
	/* A name that the tool has itself is never taken for another. */
	{ "find_files", "{\"pattern\":\"*.c\",\"limit\":5}", NULL },
	{ "list_directory", "{\"path\":\".\",\"description\":\"x\"}", NULL },
	{ "read_file", "{}", NULL },
};

static void rows_hold(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { .max = 1 << 20 };
		AUTO_BUF out = { .max = 4096 };
		struct jw w = jw_to(&out);
		struct err e;
		const struct json *given;
		const struct tool *t = tool_by_name(str_of(rows[i].tool), TOOL_MODEL);
		assert_non_null(t);
		assert_int_equal(json_parse(str_of(rows[i].given), &arena, &given, &e), 0);
		const struct json *meant = aliases_resolve(t->args, given, &arena);
		if (!rows[i].meant) {
			assert_ptr_equal(meant, given);
			continue;
		}
		json_tree_write(&w, NULL, meant);
		buf_addc(&out, '\0');
		assert_string_equal(out.p, rows[i].meant);
	}
}

/* Without memory the arguments are what they were. */
static void no_memory(void **state)
{
	AUTO_ARENA arena = { .max = 1 << 20 }, none = { .max = 0 };
	const struct json *given;
	struct err e;

	(void)state;
	assert_int_equal(json_parse(STR("{\"cmd\":\"ls\"}"), &arena, &given, &e), 0);
	const struct tool *t = tool_by_name(STR("run_command"), TOOL_MODEL);
	assert_ptr_equal(aliases_resolve(t->args, given, &none), given);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_hold),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
