/* SPDX-License-Identifier: MIT */
/* toml: one value changes, every other byte stays; a new one goes where its table is. */

#include "unit.h"

#include "base/arena.h"
#include "base/own.h"
#include "setup/conf.h"

struct toml_case {
	const char *text, *keys, *value, *want; /* value NULL: removed; want NULL: an error */
};

static struct key_path toml_keys(const char *dotted)
{
	struct key_path k = { .n = 0 };
	struct str rest = str_of(dotted);

	while (rest.n && k.n < KEY_PATH_MAX)
		(void)str_cut(rest, '.', &k.key[k.n++], &rest);
	return k;
}

static const struct toml_case cases[] = {
	{ "", "a", "1", "a = 1\n" },
	{ "", "t.a", "1", "[t]\na = 1\n" },
	{ "x = 2\n", "a", "1", "x = 2\na = 1\n" },
	{ "x = 2", "a", "1", "x = 2\na = 1\n" },
	{ "x = 2 # two\n\n[t]\ny = 1\n", "a", "1", "x = 2 # two\na = 1\n\n[t]\ny = 1\n" },
	{ "# head\n[t]\ny = 1\n", "a", "1", "a = 1\n\n# head\n[t]\ny = 1\n" },
	{ "[t]\ny = 1 # one\n\n[u]\nz = 1\n", "t.a", "1",
	  "[t]\ny = 1 # one\na = 1\n\n[u]\nz = 1\n" },
	{ "[t]\r\ny = 1\r\n", "t.a", "1", "[t]\r\ny = 1\r\na = 1\r\n" },
	{ "[t]\n[u]\n", "t.a", "1", "[t]\na = 1\n[u]\n" },
	{ "[t]\na = 2 # why\n", "t.a", "1", "[t]\na = 1 # why\n" },
	{ "t.a = 2\n", "t.a", "1", "t.a = 1\n" },
	{ "t.b = 2\n[u]\nx=1\n", "t.a", "1", "t.b = 2\nt.a = 1\n[u]\nx=1\n" },
	{ "[m]\ns.b = 2\n", "m.s.a", "1", "[m]\ns.b = 2\ns.a = 1\n" },
	{ "t = { b = 2 }\n", "t.a", "1", "t = { b = 2, a = 1 }\n" },
	{ "t = {b=2}\n", "t.a", "1", "t = {b=2, a = 1}\n" },
	{ "t = {b = \"\"\"\n\"\"\", c = 3}\n", "t.a", "1",
	  "t = {b = \"\"\"\n\"\"\", c = 3, a = 1}\n" },
	{ "m = { s.b = 2 }\n", "m.s.a", "1", "m = { s.b = 2, s.a = 1 }\n" },
	{ "t = {}\n", "t.a", "1", "t = { a = 1 }\n" },
	{ "m = { s = { b = 2 } }\n", "m.s.a", "1", "m = { s = { b = 2, a = 1 } }\n" },
	{ "m = { s = { a = 2 } }\n", "m.s.a", "1", "m = { s = { a = 1 } }\n" },
	{ "m = { x = 1 }\n", "m.s.a", "1", "m = { x = 1, s.a = 1 }\n" },
	{ "[m.s]\nb = 1\n", "m.s.a", "1", "[m.s]\nb = 1\na = 1\n" },
	{ "[m.\"s\"]\nb = 1\n", "m.s.a", "1", "[m.\"s\"]\nb = 1\na = 1\n" },
	{ "[m]\nx = 1\n", "m.s.a", "1", "[m]\nx = 1\n\n[m.s]\na = 1\n" },
	{ "[m.s.env]\nx = 1\n", "m.s.a", "1", "[m.s.env]\nx = 1\n\n[m.s]\na = 1\n" },
	{ "[m]\ns.b = 2\n[m.s.env]\nx = 1\n", "m.s.a", "1",
	  "[m]\ns.b = 2\ns.a = 1\n[m.s.env]\nx = 1\n" },
	{ "[[m]]\na = 2\n[m.s]\na = 3\n", "m.s.a", "1", NULL },
	{ "[[m]]\na = 2\n", "m.s.a", "1", NULL },
	{ "m = { # one\n}\n", "m.a", "1", NULL },
	{ "[[m.s]]\na = 2\n", "m.s.a", "1", NULL },
	{ "[m]\ns.a.b = 2\n", "m.s.a", "1", NULL },
	{ "m = { s.a.b = 2 }\n", "m.s.a", "1", NULL },
	{ "s = \"\"\"\n[t]\na = 2\n\"\"\"\"\n[t]\n", "t.a", "1",
	  "s = \"\"\"\n[t]\na = 2\n\"\"\"\"\n[t]\na = 1\n" },
	{ "l = [ # one\n  \"a\", # two\n  [1, 2],\n]\n[t]\na = 'x'\n", "t.a", "1",
	  "l = [ # one\n  \"a\", # two\n  [1, 2],\n]\n[t]\na = 1\n" },
	{ "d = 1979-05-27 07:32:00Z # date\n", "d", "1", "d = 1 # date\n" },
	{ "[projects.\"/home/x.y\"]\nt = 1\n", "t.a", "1",
	  "[projects.\"/home/x.y\"]\nt = 1\n\n[t]\na = 1\n" },
	{ "", "projects./home/x y.t", "1", "[projects.\"/home/x y\"]\nt = 1\n" },
	{ "[[t]]\n[tt]\na = 2\n", "tt.a", "1", "[[t]]\n[tt]\na = 1\n" },
	{ "t = 3\n", "t.a", "1", NULL },
	{ "[t]\n", "t", "1", NULL },
	{ "[t\n", "t.a", "1", NULL },
	{ "a 1\n", "t.a", "1", NULL },
	{ "a =\n", "t.a", "1", NULL },
	{ "= 1\n", "t.a", "1", NULL },
	{ "a = \"x\n", "t.a", "1", NULL },
	{ "a = [1\n", "t.a", "1", NULL },
	{ "a = {b = 1\n", "t.a", "1", NULL },
	{ "a = \"x\" y\n", "t.a", "1", NULL },
	{ "a = \"\\", "t.a", "1", NULL },
	{ "{}\n", "t.a", "1", NULL },
	{ "[t]\na = 1\nb = 2\n", "t.a", NULL, "[t]\nb = 2\n" },
	{ "t = { a = 1, b = 2 }\n", "t.a", NULL, "t = { b = 2 }\n" },
	{ "t = { a = 1 }\n", "t.a", NULL, "t = {}\n" },
	{ "a = 1\n\n[t]\nb = 2\n", "a", NULL, "[t]\nb = 2\n" },
	{ "\"a\\u0000b\" = 2\n", "a", "1", NULL },
	{ "\"\\U00000061\" = 2\n", "a", "1", NULL },
	{ "t = { b = 2, a = 1 }\n", "t.a", NULL, "t = { b = 2 }\n" },
	{ "x = 1\n\n[t]\n\n[u]\ny = 1\n", "t", NULL, "x = 1\n\n[u]\ny = 1\n" },
	{ "[t]\nb = 2\n", "t", NULL, "[t]\nb = 2\n" },
	{ "[t]\nb = 2\n", "t.a", NULL, "[t]\nb = 2\n" },
};

static void changes_only_what_is_asked(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF out = { .max = 4096 };
		struct err e = { .code = ERR_NONE };
		struct key_path at = toml_keys(cases[i].keys);
		const struct str text = guarded(str_of(cases[i].text));
		const int status = cases[i].value ? conf_set(CONF_TOML, text, &at,
							     str_of(cases[i].value), &out, &e)
						  : conf_remove(CONF_TOML, text, &at, &out, &e);

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

static void finds_values_and_names(void **state)
{
	const struct str text =
		STR("m.one = 1\n[m.two]\na = \"x\"\n[m.two.b]\n[m.\"th ree\"]\n[[q]]\na = 1\n");
	static const char *const want[] = { "one", "two", "th ree" };
	AUTO_ARENA memory = { .max = 4096 };
	struct key_path at = toml_keys("m.two.a"), m = toml_keys("m"), q = toml_keys("q.a");
	struct str found, name;
	struct err e;

	(void)state;
	assert_int_equal(conf_find(CONF_TOML, text, &at, &found, &e), 0);
	assert_str(found, "\"x\"");
	at = toml_keys("m.two");
	assert_int_equal(conf_find(CONF_TOML, text, &at, &found, &e), 0);
	assert_true(found.p && !found.n);
	assert_int_equal(conf_find(CONF_TOML, text, &q, &found, &e), 0);
	assert_null(found.p);
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_true(conf_child(CONF_TOML, text, &m, i, &memory, &name, &found));
		assert_str(name, want[i]);
	}
	assert_false(conf_child(CONF_TOML, text, &m, ARRAY_LEN(want), &memory, &name, &found));
	assert_int_equal(conf_find(CONF_TOML, STR("a = 1\nb\n"), &at, &found, &e), -1);
	assert_string_equal(e.msg, "line 2: an equals sign is missing");
}

static void says_when_there_is_no_room(void **state)
{
	const struct key_path at = toml_keys("a");
	struct buf out = { .max = 4 };
	struct err e;

	(void)state;
	assert_int_equal(conf_set(CONF_TOML, STR("bcdef = 1\n"), &at, STR("1"), &out, &e), -1);
	assert_int_equal(e.code, ERR_FILE_TOO_LARGE);
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_only_what_is_asked),
		cmocka_unit_test(finds_values_and_names),
		cmocka_unit_test(says_when_there_is_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
