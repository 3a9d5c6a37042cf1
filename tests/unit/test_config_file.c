/* SPDX-License-Identifier: MIT */
/* Settings from files: what they may say, what is wrong with them in one sentence, and what wins.
 */

#include "scratch.h"

#include "base/limits.h"
#include "base/log.h"
#include "config/config.h"

/* Where $XDG_CONFIG_HOME points to; the environment is otherwise empty. */
static struct scratch begin(void)
{
	const char *form = getenv("CMOCKA_MESSAGE_OUTPUT");
	struct scratch s = scratch_new();
	char kept[32] = "";

	if (form)
		(void)snprintf(kept, sizeof kept, "%s", form);
	assert_int_equal(clearenv(), 0);
	if (*kept)
		assert_int_equal(setenv("CMOCKA_MESSAGE_OUTPUT", kept, 1), 0);
	assert_int_equal(setenv("XDG_CONFIG_HOME", s.path, 1), 0);
	assert_int_equal(mkdir(in(&s, "sidecar"), 0755), 0);
	return s;
}

static void put_file(const struct scratch *s, const char *content, size_t n, mode_t mode)
{
	const char *path = in(s, "sidecar/config.json");

	(void)unlink(path);
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, n), n);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

static const struct {
	const char *text;
	int64_t grace;
	const char *error; /* after the file's name; NULL: none */
} texts[] = {
	/* what a file may look like */
	{ "{\"grace\":5}", 5, NULL },
	{ "{\"grace\":5}\n", 5, NULL },
	{ "{\r\n\t\"grace\": 5\r\n}\r\n", 5, NULL },
	{ "{}", 10, NULL },
	{ " \n{ } \n", 10, NULL },
	{ "{\"gr\\u0061ce\":5}", 5, NULL },
	{ "{\"grace\":5e0}", 5, NULL },
	/* where the mistake is */
	{ "", 0, ", line 1: the text ends too early" },
	{ "{\"grace\":5", 0, ", line 1: expected ',' or '}'" },
	{ "{\n\"log\": \"text\",\n\"grace\" 5}", 0, ", line 3: expected ':'" },
	{ "{\r\n\"log\": \"text\",\r\n\"grace\" 5}", 0, ", line 3: expected ':'" },
	{ "{\"grace\":5,}", 0, ", line 1: expected a member name in quotes" },
	{ "{\n}\n{}", 0, ", line 3: unexpected text after the value" },
	{ "\xef\xbb\xbf{}", 0, ", line 1: expected a value" },
	{ "{\n// none\n}", 0, ", line 2: expected a member name in quotes" },
	/* what it must be */
	{ "[]", 0, " must hold an object, not an array" },
	{ "5", 0, " must hold an object, not a number" },
	{ "{\"grase\":5}", 0, ": there is no setting \"grase\"; did you mean \"grace\"?" },
	{ "{\"Grace\":5}", 0, ": there is no setting \"Grace\"; did you mean \"grace\"?" },
	{ "{\"xyzzyxyzzy\":5}", 0, ": there is no setting \"xyzzyxyzzy\"" },
	{ "{\"SIDECAR_GRACE_SECONDS\":5}", 0, ": there is no setting \"SIDECAR_GRACE_SECONDS\"" },
	{ "{\"grace\":5,\"grace\":5}", 0, ": \"grace\" is set twice" },
	{ "{\"grace\":\"5\"}", 0, ": \"grace\" must be a whole number, not a string" },
	{ "{\"grace\":5.5}", 0, ": \"grace\" must be a whole number, not one with a fraction" },
	{ "{\"grace\":null}", 0, ": \"grace\" must be a whole number, not null" },
	{ "{\"grace\":-1}", 0, ": \"grace\" must be a number from 0 to 3600, not \"-1\"" },
	{ "{\"grace\":3601}", 0, ": \"grace\" must be a number from 0 to 3600, not \"3601\"" },
	{ "{\"read-only\":1}", 0, ": \"read-only\" must be true or false, not a number" },
	{ "{\"read-only\":\"true\"}", 0, ": \"read-only\" must be true or false, not a string" },
	{ "{\"workspace\":7}", 0, ": \"workspace\" must be a string, not a number" },
	{ "{\"workspace\":\"/a\\u0000b\"}", 0, ": \"workspace\" must not hold NUL bytes" },
	{ "{\"sandbox\":\"hard\"}", 0,
	  ": \"sandbox\" must be one of off, workspace, strict, auto, not \"hard\"" },
	{ "{\"socket-mode\":\"888\"}", 0,
	  ": \"socket-mode\" must be an octal mode up to 777, not \"888\"" },
	{ "{\"tcp\":\"8080\"}", 0, ": \"tcp\" must be HOST:PORT, not \"8080\"" },
	{ "{\"tcp\":8080}", 0, ": \"tcp\" must be a string, not a number" },
};

static void texts_become_settings_or_one_sentence(void **state)
{
	struct scratch s = begin();
	char wanted[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_CONFIG c = { 0 };
		struct err e = { .msg = "" };
		put_file(&s, texts[i].text, strlen(texts[i].text), 0644);
		const int rc = config_load(0, NULL, &c, &e);
		(void)snprintf(wanted, sizeof wanted, "%s/sidecar/config.json%s", s.path,
			       texts[i].error ? texts[i].error : "");
		assert_string_equal(texts[i].error ? e.msg : wanted, wanted);
		assert_int_equal(rc, texts[i].error ? -1 : 0);
		if (rc == 0)
			assert_int_equal(c.grace_seconds, texts[i].grace);
	}
	scratch_free(&s);
}

static void a_text_is_not_read_beyond_its_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_CONFIG c = { 0 };
		struct err e;
		const struct str text = guarded(str_of(texts[i].text));
		config_defaults(&c);
		c.files[CONFIG_USER_FILE] = "f";
		assert_int_equal(config_file_set(&c, CONFIG_USER_FILE, text, false, &e),
				 texts[i].error ? -1 : 0);
		guarded_free(text);
	}
}

static void every_setting_can_stand_in_a_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < setting_count(); i++) {
		const struct setting *row = setting_at(i);
		AUTO_CONFIG c = { 0 };
		struct err e = { .msg = "" };
		char text[128], origin[256], most[32];
		if (!row->flag)
			continue;
		(void)snprintf(most, sizeof most, "%lld", (long long)row->max);
		const char *value = row->type == SETTING_SWITCH	  ? "true"
				    : row->type == SETTING_NUMBER ? most
				    : row->type == SETTING_OCTAL  ? "\"600\""
				    : row->type == SETTING_SIZE	  ? "\"64M\""
				    : row->type == SETTING_PAIRS  ? "[\"A=1\",\"B=\"]"
								  : "\"x\"";
		if (row->type == SETTING_CHOICE)
			(void)snprintf(text, sizeof text, "{\"%s\":\"%s\"}", row->flag,
				       row->choices[1]);
		else
			(void)snprintf(text, sizeof text, "{\"%s\":%s}", row->flag, value);
		config_defaults(&c);
		c.files[CONFIG_USER_FILE] = "/home/me/config.json";
		(void)config_file_set(&c, CONFIG_USER_FILE, str_of(text), false, &e);
		assert_string_equal(e.msg, "");
		config_origin_text(&c, i, origin, sizeof origin);
		assert_string_equal(origin, "/home/me/config.json");
	}
}

static void the_later_source_wins(void **state)
{
	struct scratch s = begin();
	static const char file[] = "{\"grace\":1,\"search-seconds\":1,\"max-commands\":1}";
	char *flags[] = { (char[]){ "--grace=3" }, NULL };
	AUTO_CONFIG c = { 0 };
	struct err e;

	(void)state;
	put_file(&s, file, strlen(file), 0644);
	assert_int_equal(setenv("SIDECAR_GRACE_SECONDS", "2", 1), 0);
	assert_int_equal(setenv("SIDECAR_SEARCH_SECONDS", "2", 1), 0);
	assert_int_equal(config_load(1, flags, &c, &e), 0);
	assert_int_equal(c.grace_seconds, 3);
	assert_int_equal(c.search_seconds, 2);
	assert_int_equal(c.max_commands, 1);
	assert_int_equal(c.log_level, LOG_INFO);
	static const struct {
		size_t offset;
		const char *origin;
	} rows[] = {
		{ offsetof(struct config, grace_seconds), "flag --grace" },
		{ offsetof(struct config, search_seconds), "environment SIDECAR_SEARCH_SECONDS" },
		{ offsetof(struct config, max_commands), "/sidecar/config.json" },
		{ offsetof(struct config, log_level), "default" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char origin[PATH_MAX];
		config_origin_text(&c, setting_of_member(rows[i].offset), origin, sizeof origin);
		const size_t n = strlen(origin), m = strlen(rows[i].origin);
		assert_true(n >= m);
		assert_string_equal(origin + n - m, rows[i].origin);
	}
	scratch_free(&s);
}

static void a_file_that_cannot_be_trusted_or_read_is_an_error(void **state)
{
	struct scratch s = begin();
	static char large[LIMIT_CONFIG_FILE + 2];
	static const char token[] = "{\"token\":\"correct-horse\"}";
	AUTO_CONFIG c = { 0 };
	struct err e;

	(void)state;
	memset(large, ' ', sizeof large);
	large[0] = '{', large[LIMIT_CONFIG_FILE - 1] = '}';
	put_file(&s, large, LIMIT_CONFIG_FILE, 0644);
	assert_int_equal(config_load(0, NULL, &c, &e), 0);
	config_done(&c);
	put_file(&s, large, LIMIT_CONFIG_FILE + 1, 0644);
	assert_int_equal(config_load(0, NULL, &c, &e), -1);
	assert_int_equal(e.code, ERR_FILE_TOO_LARGE);
	config_done(&c);
	put_file(&s, "{}", 2, 0646);
	assert_int_equal(config_load(0, NULL, &c, &e), -1);
	assert_int_equal(e.code, ERR_PERMISSION_DENIED);
	assert_non_null(strstr(e.msg, "chmod o-w"));
	config_done(&c);
	put_file(&s, token, strlen(token), 0644);
	assert_int_equal(config_load(0, NULL, &c, &e), -1);
	assert_non_null(strstr(e.msg, "chmod o-r"));
	assert_null(strstr(e.msg, "correct-horse"));
	config_done(&c);
	put_file(&s, token, strlen(token), 0640);
	assert_int_equal(config_load(0, NULL, &c, &e), 0);
	assert_string_equal(c.token, "correct-horse");
	config_done(&c);
	assert_int_equal(unlink(in(&s, "sidecar/config.json")), 0);
	assert_int_equal(mkdir(in(&s, "sidecar/config.json"), 0755), 0);
	assert_int_equal(config_load(0, NULL, &c, &e), -1);
	assert_non_null(strstr(e.msg, "is not a file"));
	scratch_free(&s);
}

static void a_file_without_permission_is_an_error(void **state)
{
	struct scratch s = begin();
	AUTO_CONFIG c = { 0 };
	struct err e;

	(void)state;
	put_file(&s, "{}", 2, 0000);
	leave_root();
	const int loaded = config_load(0, NULL, &c, &e);
	return_to_root();
	assert_int_equal(loaded, -1);
	assert_int_equal(e.code, ERR_PERMISSION_DENIED);
	scratch_free(&s);
}

static void no_file_is_no_error(void **state)
{
	struct scratch s = begin();
	AUTO_CONFIG c = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(config_load(0, NULL, &c, &e), 0);
	assert_false(c.was_read[CONFIG_USER_FILE]);
	scratch_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_become_settings_or_one_sentence),
		cmocka_unit_test(a_text_is_not_read_beyond_its_end),
		cmocka_unit_test(every_setting_can_stand_in_a_file),
		cmocka_unit_test(the_later_source_wins),
		cmocka_unit_test(a_file_that_cannot_be_trusted_or_read_is_an_error),
		cmocka_unit_test(a_file_without_permission_is_an_error),
		cmocka_unit_test(no_file_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
