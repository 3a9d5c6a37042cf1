/* SPDX-License-Identifier: MIT */
/* account: what is packed is shown as it would have been written, and neither has a secret. */

#include "unit.h"

#include "base/arena.h"
#include "base/own.h"
#include "service/limits.h"
#include "service/account.h"

#define TOKEN                                                                                      \
	"ghp_"                                                                                     \
	"a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2"

static struct scrub *secrets;

/* Parse it. *clean becomes the text of the member "path", if there is one. */
static const struct json *parse(const char *text, struct arena *a, struct str *clean)
{
	const struct json *v;
	struct err e;

	assert_int_equal(json_parse(str_of(text), a, &v, &e), 0);
	*clean = json_text(v, STR("path"));
	return v;
}

static const struct {
	const char *text, *written; /* NULL: as it is */
} cases[] = {
	{ "{}", NULL },
	{ "{\"path\":\"f\"}", NULL },
	{ "{\"path\":\"f\",\"path\":\"g\"}", NULL },
	{ "{\"path\":\"a\\\"b\\\\c\\n\\u0000\"}", NULL },
	{ "{\"path\":\"f\",\"offset\":-9223372036854775808,\"limit\":9223372036854775807}", NULL },
	{ "{\"ignoreCase\":true,\"whole\":false,\"n\":null,\"f\":1.5}", NULL },
	{ "{\"path\":\"f\",\"content\":\"" TOKEN "\",\"n\":1}",
	  "{\"path\":\"f\",\"content\":\"[REDACTED:github-token]\",\"n\":1}" },
	{ "{\"list\":[1,\"" TOKEN "\",{}]}", "{\"list\":[1,\"[REDACTED:github-token]\",{}]}" },
	{ "[]", NULL },
	{ "\"text\"", NULL },
};

static void values_are_written_without_secrets(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA a = { .max = 1 << 20 };
		AUTO_BUF large = { .max = LIMIT_EVENT_ARGUMENTS };
		char room[512];
		struct buf small = buf_over(room, sizeof room);
		struct str clean;
		const struct json *v = parse(cases[i].text, &a, &clean);
		const struct str written = account_arguments(secrets, v, clean, &small, &large);

		assert_true(str_find(written, STR("a1B2")) < 0);
		assert_str(written, cases[i].written ? cases[i].written : cases[i].text);
	}
}

static void a_dry_run_is_called_that(void **state)
{
	static const char *const subjects[][2] = {
		{ "{\"id\":2,\"dryRun\":true}", "2 (dry run)" },
		{ "{\"path\":\"f\",\"dry_run\":true}", "f (dry run)" },
		{ "{\"session\":\"s\",\"dryRun\":true}", "(dry run)" },
		{ "{\"id\":2,\"dryRun\":false}", "2" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
		AUTO_ARENA a = { .max = 1 << 20 };
		struct str path;
		const struct json *v = parse(subjects[i][0], &a, &path);

		assert_str(account_subject(NULL, v, &a), subjects[i][1]);
	}
}

static int make_secrets(void **state)
{
	const struct scrub_options none = { .secret_count = 0 };
	struct err e;

	(void)state;
	return scrub_new(&none, &secrets, &e);
}

static int free_secrets(void **state)
{
	(void)state;
	scrub_free(secrets);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_written_without_secrets),
		cmocka_unit_test(a_dry_run_is_called_that),
	};

	return cmocka_run_group_tests(tests, make_secrets, free_secrets);
}
