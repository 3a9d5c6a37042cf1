/* SPDX-License-Identifier: MIT */
/* Settings: defaults, environment, flags, and what is wrong with them in one sentence. */

#include "scratch.h"

#include "config/config.h"
#include "base/log.h"

/* Read settings from "NAME=value" and "--flag" words; nothing else is in the environment. */
static int read_settings(const char *const *words, struct config *c, struct err *e)
{
	static char room[16][512]; /* the config points there */
	char *argv[ARRAY_LEN(room) + 1];
	int argc = 0;

	/* The runner's own wish about the form of results must survive. */
	const char *form = getenv("CMOCKA_MESSAGE_OUTPUT");
	char kept[32] = "";
	if (form)
		(void)snprintf(kept, sizeof kept, "%s", form);
	assert_int_equal(clearenv(), 0);
	if (*kept)
		assert_int_equal(setenv("CMOCKA_MESSAGE_OUTPUT", kept, 1), 0);
	for (size_t i = 0; *words; words++, i++) {
		assert_true(i < ARRAY_LEN(room));
		char *copy = room[i];
		(void)snprintf(copy, sizeof room[i], "%s", *words);
		if (copy[0] == '-' || !strchr(copy, '=') || argc > 0)
			argv[argc++] = copy;
		else
			assert_int_equal(putenv(copy), 0);
	}
	argv[argc] = NULL;
	return config_read(argc, argv, c, e);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void defaults(void **state)
{
	AUTO_CONFIG c = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(read_settings((const char *const[]){ NULL }, &c, &e), 0);
	char here[PATH_MAX];
	assert_non_null(getcwd(here, sizeof here));
	const bool fixed = access("/workspace", F_OK) == 0 || strcmp(here, "/") == 0;
	assert_string_equal(c.workspace, fixed ? "/workspace" : here);
	assert_string_equal(c.socket, "/var/run/sidecar/sidecar.sock");
	assert_int_equal(c.socket_mode, 0660);
	assert_null(c.tcp_host);
	assert_null(c.token);
	assert_false(c.require_auth || c.allow_outside || c.read_only || c.fsync);
	assert_int_equal(c.absolute_paths, CONFIG_PATHS_AUTO);
	assert_int_equal(c.openat2, 1);
	assert_int_equal(c.log, CONFIG_LOG_AUTO);
	assert_int_equal(c.log_level, LOG_INFO);
}

static void a_private_server_listens_as_flags_say(void **state)
{
	AUTO_CONFIG c = { 0 }, other = { 0 };
	char socket[] = "--socket=/flag.sock", *none[] = { NULL }, *flags[] = { socket, NULL };
	struct err e;

	(void)state;
	/* This sets the environment. */
	assert_int_equal(
		read_settings(WORDS("SOCKET_PATH=/env.sock", "TCP_HOST=0.0.0.0", "TCP_PORT=1",
				    "SIDECAR_AUTH_TOKEN=secret", "SIDECAR_REQUIRE_AUTH=1",
				    "SIDECAR_GRACE_SECONDS=77", "SIDECAR_READ_ONLY=1"),
			      &other, &e),
		0);
	assert_int_equal(config_read_private(0, none, &c, &e), 0);
	assert_true(c.private && c.read_only);
	assert_null(c.socket);
	assert_null(c.tcp_host);
	assert_null(c.token);
	assert_false(c.require_auth);
	assert_int_equal(c.tcp_port, -1);
	assert_int_equal(c.grace_seconds, 10);
	config_done(&c);
	assert_int_equal(config_read_private(1, flags, &c, &e), 0);
	assert_string_equal(c.socket, "/flag.sock");
}

static void a_flag_wins_over_the_environment(void **state)
{
	AUTO_CONFIG c = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(
		read_settings(WORDS("WORKSPACE_ROOT=/env", "SOCKET_PATH=/env.sock",
				    "SIDECAR_READ_ONLY=1", "SIDECAR_SOCKET_MODE=600", "--workspace",
				    "/flag", "--socket=/flag.sock", "--read-only=no"),
			      &c, &e),
		0);
	assert_string_equal(c.workspace, "/flag");
	assert_string_equal(c.socket, "/flag.sock");
	assert_int_equal(c.socket_mode, 0600);
	assert_false(c.read_only);
}

static const struct {
	const char *word;
	bool on;
} switches[] = {
	{ "SIDECAR_READ_ONLY=1", true },    { "SIDECAR_READ_ONLY=true", true },
	{ "SIDECAR_READ_ONLY=TRUE", true }, { "SIDECAR_READ_ONLY= yes ", true },
	{ "SIDECAR_READ_ONLY=On", true },   { "SIDECAR_READ_ONLY=0", false },
	{ "SIDECAR_READ_ONLY=No", false },  { "SIDECAR_READ_ONLY= off ", false },
	{ "SIDECAR_READ_ONLY=", false },    { "--read-only", true },
	{ "--read-only=1", true },	    { "--read-only=", false },
};

static void switches_are_on_for_few_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(switches); i++) {
		AUTO_CONFIG c = { 0 };
		struct err e;
		assert_int_equal(read_settings(WORDS(switches[i].word), &c, &e), 0);
		if (c.read_only != switches[i].on)
			fail_msg("%s", switches[i].word);
	}
}

/* Being off is the safe side of this one, and that any other word leaves it off is its contract. */
static void only_a_clear_word_lets_paths_out(void **state)
{
	(void)state;
	static const char *const words[] = { "on", "truee", "2", "enabled", "" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		char word[64];
		AUTO_CONFIG c = { 0 };
		struct err e;
		(void)snprintf(word, sizeof word, "SIDECAR_ALLOW_OUTSIDE_WORKSPACE_ROOT=%s",
			       words[i]);
		assert_int_equal(read_settings(WORDS(word), &c, &e), 0);
		assert_false(c.allow_outside);
	}
}

static const struct {
	const char *const *words;
	const char *says[3];
} wrong[] = {
	{ WORDS("TCP_HOST=127.0.0.1"), { "TCP_PORT is missing" } },
	{ WORDS("TCP_PORT=80"), { "TCP_HOST is missing" } },
	{ WORDS("TCP_HOST=127.0.0.1", "TCP_PORT=x"), { "TCP_PORT", "x" } },
	{ WORDS("TCP_HOST=127.0.0.1", "TCP_PORT=65536"), { "TCP_PORT", "65535" } },
	{ WORDS("TCP_HOST=0.0.0.0", "TCP_PORT=80"), { "0.0.0.0", "SIDECAR_AUTH_TOKEN" } },
	{ WORDS("TCP_HOST=example", "TCP_PORT=80"), { "example" } },
	{ WORDS("SIDECAR_REQUIRE_AUTH=1"), { "SIDECAR_AUTH_TOKEN" } },
	{ WORDS("--require-auth"), { "SIDECAR_AUTH_TOKEN" } },
	{ WORDS("--tcp", "0.0.0.0:80"), { "0.0.0.0" } },
	{ WORDS("--tcp", "127.0.0.1"), { "--tcp", "HOST:PORT" } },
	{ WORDS("--tcp", "127.0.0.1:99999"), { "--tcp" } },
	{ WORDS("--tcp=:1"), { "--tcp" } },
	{ WORDS("--tcp"), { "--tcp needs a value" } },
	{ WORDS("--socket"), { "--socket needs a value" } },
	{ WORDS("--nope"), { "--nope" } },
	{ WORDS("--nope=1"), { "--nope" } },
	{ WORDS("--"), { "Unknown flag" } },
	{ WORDS("-x"), { "-x" } },
	{ WORDS("stray"), { "stray" } },
	{ WORDS("--socket-mode", "888"), { "--socket-mode", "888" } },
	{ WORDS("SIDECAR_SOCKET_MODE=1777"), { "SIDECAR_SOCKET_MODE", "777" } },
	{ WORDS("--grace=-1"), { "--grace" } },
	{ WORDS("--log=xml"), { "--log", "auto, text, json", "xml" } },
	{ WORDS("--openat2", "maybe"), { "--openat2", "off, auto" } },
	{ WORDS("SIDECAR_READ_ONLY=onn"), { "SIDECAR_READ_ONLY must be true or false", "onn" } },
	{ WORDS("SIDECAR_REQUIRE_AUTH=truee"), { "SIDECAR_REQUIRE_AUTH", "truee" } },
	{ WORDS("--read-only=2"), { "--read-only", "2" } },
	{ WORDS("--token-file", "/nonexistent/token"), { "/nonexistent/token" } },
};

static void what_is_wrong_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		AUTO_CONFIG c = { 0 };
		struct err e;
		if (read_settings(wrong[i].words, &c, &e) == 0)
			fail_msg("%s was taken", wrong[i].words[0]);
		for (size_t j = 0; j < 3 && wrong[i].says[j]; j++)
			if (!strstr(e.msg, wrong[i].says[j]))
				fail_msg("\"%s\" is not in: %s", wrong[i].says[j], e.msg);
		assert_null(strchr(e.msg, '\n'));
	}
}

static const struct {
	const char *const *words;
	const char *host;
	int64_t port;
	const char *socket;
} listeners[] = {
	{ WORDS("TCP_HOST=127.0.0.1", "TCP_PORT=80"), "127.0.0.1", 80, NULL },
	{ WORDS("--tcp", "127.0.0.1:0"), "127.0.0.1", 0, NULL },
	{ WORDS("--tcp", "[::1]:8080"), "::1", 8080, NULL },
	{ WORDS("--tcp", "localhost:1", "--socket", "/s"), "localhost", 1, "/s" },
	{ WORDS("SIDECAR_AUTH_TOKEN=t", "TCP_HOST=0.0.0.0", "TCP_PORT=80"), "0.0.0.0", 80, NULL },
	{ WORDS("TCP_HOST=10.0.0.1", "TCP_PORT=80", "--tcp=127.0.0.1:81"), "127.0.0.1", 81, NULL },
	{ WORDS("XDG_RUNTIME_DIR=relative"), NULL, -1, "/var/run/sidecar/sidecar.sock" },
};

static void listeners_follow_from_what_is_set(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(listeners); i++) {
		AUTO_CONFIG c = { 0 };
		struct err e;
		if (read_settings(listeners[i].words, &c, &e) < 0)
			fail_msg("%s", e.msg);
		assert_str(str_of(c.tcp_host), listeners[i].host ? listeners[i].host : "");
		assert_int_equal(c.tcp_port, listeners[i].port);
		assert_str(str_of(c.socket), listeners[i].socket ? listeners[i].socket : "");
	}
}

static void a_token_comes_from_a_file(void **state)
{
	struct scratch s = scratch_new();
	AUTO_CONFIG c = { 0 };
	struct err e;

	(void)state;
	put(&s, "token", "  secret\n");
	put(&s, "blank", " \n\t");
	assert_int_equal(read_settings(WORDS("--token-file", in(&s, "token")), &c, &e), 0);
	assert_string_equal(c.token, "secret");
	config_done(&c);
	assert_int_equal(read_settings(WORDS("--token-file", in(&s, "blank")), &c, &e), -1);
	assert_non_null(strstr(e.msg, "empty"));
	scratch_free(&s);
}

static void help_names_every_setting(void **state)
{
	AUTO_BUF out = { .max = 64 << 10 };

	(void)state;
	config_help(&out, true, 0);
	buf_addc(&out, '\0');
	for (const char *const *word = WORDS("--workspace DIR", "WORKSPACE_ROOT", "--tcp HOST:PORT",
					     "--log auto|text|json", "SIDECAR_AUTH_TOKEN=TOKEN",
					     "--absolute-paths shorthand|strict");
	     *word; word++)
		if (!strstr(out.p, *word))
			fail_msg("%s is not in:\n%s", *word, out.p);
	assert_null(strstr(out.p, "--auth-token"));
}

static void sentences_name_flags_unless_a_variable_was_set(void **state)
{
	static const struct {
		const char *before, *after;
	} cases[] = {
		{ "choose another SOCKET_PATH", "choose another --socket" },
		{ "TCP_HOST x, or SIDECAR_SANDBOX=off", "--tcp x, or --sandbox=off" },
		{ "SIDECAR_AUTH_TOKEN is a secret", "SIDECAR_AUTH_TOKEN is a secret" },
		{ "", "" },
		{ "SIDECAR_LOG_LEVEL: SOCKET_PATH", "SIDECAR_LOG_LEVEL: SOCKET_PATH" },
	};
	AUTO_CONFIG c = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(setenv("SIDECAR_LOG_LEVEL", "warn", 1), 0);
	assert_int_equal(config_load(0, NULL, &c, &e), 0);
	(void)unsetenv("SIDECAR_LOG_LEVEL");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		(void)err_set(&e, ERR_INVALID_ARGUMENTS, "%s", cases[i].before);
		config_name_flags(&c, &e);
		assert_string_equal(e.msg, cases[i].after);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(a_flag_wins_over_the_environment),
		cmocka_unit_test(a_private_server_listens_as_flags_say),
		cmocka_unit_test(switches_are_on_for_few_words),
		cmocka_unit_test(only_a_clear_word_lets_paths_out),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(listeners_follow_from_what_is_set),
		cmocka_unit_test(a_token_comes_from_a_file),
		cmocka_unit_test(help_names_every_setting),
		cmocka_unit_test(sentences_name_flags_unless_a_variable_was_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
