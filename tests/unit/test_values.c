/* SPDX-License-Identifier: MIT */
/* values: what is packed is shown as it would have been written, and neither has a secret. */

#include "unit.h"

#include "base/arena.h"
#include "base/own.h"
#include "service/limits.h"
#include "service/values.h"

#define TOKEN                                                                                      \
	"ghp_"                                                                                     \
	"a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2"

static struct scrub *secrets;

/* Show what was kept, which must be as long as it says. */
static void show(struct str kept, struct str clean, struct buf *out)
{
	const struct str copy = guarded(kept);
	struct jw w = jw_to(out);

	values_show(&w, NULL, copy, clean);
	assert_false(out->failed);
	guarded_free(copy);
}

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
	const char *text;
	bool packed;
} cases[] = {
	{ "{}", true },
	{ "{\"path\":\"f\"}", true },
	{ "{\"path\":\"\"}", true },
	{ "{\"path\":\"f\",\"path\":\"g\"}", true },
	{ "{\"path\":\"a\\\"b\\\\c\\n\\u0000\\u00e4\"}", true },
	{ "{\"\":\"x\",\"q\\\"\\u00e4\":\"y\",\"a\\u0000b\":1}", true },
	{ "{\"path\":\"f\",\"offset\":-9223372036854775808,\"limit\":9223372036854775807}", true },
	{ "{\"ignoreCase\":true,\"whole\":false,\"n\":1e3,\"command\":\"ls -l\"}", true },
	{ "{\"path\":\"f\",\"content\":\"" TOKEN "\",\"n\":1}", true },
	{ "{\"n\":1.5}", false },
	{ "{\"path\":\"f\",\"n\":null}", false },
	{ "{\"path\":\"f\",\"list\":[1,\"" TOKEN "\",{}]}", false },
	{ "[]", false },
	{ "\"text\"", false },
};

static void a_packed_object_is_shown_as_it_would_be_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA a = { .max = 1 << 20 };
		AUTO_BUF large = { .max = LIMIT_EVENT_ARGUMENTS }, out = { .max = 1 << 16 };
		char room[VALUES_PACKED], other[512];
		struct buf small = buf_over(other, sizeof other);
		struct str clean, packed;
		const struct json *v = parse(cases[i].text, &a, &clean);
		const struct str written = values_write(secrets, v, clean, &small, &large);

		assert_true(str_find(written, STR("a1B2")) < 0);
		assert_int_equal(values_pack(secrets, v, clean, room, &packed), cases[i].packed);
		show(cases[i].packed ? packed : written, clean, &out);
		assert_true(str_eq(buf_str(&out), written));
		if (cases[i].packed)
			assert_true(str_find(packed, STR("a1B2")) < 0);
	}
}

/* An object with one member whose name and text are that long. */
static bool packs(size_t name, size_t text)
{
	static char bytes[2048];
	char room[VALUES_PACKED];
	struct json member = { .type = JSON_STRING,
			       .name = { bytes, name },
			       .string = { bytes, text } };
	const struct json object = { .type = JSON_OBJECT, .first = &member };
	struct str packed;

	memset(bytes, 'n', sizeof bytes);
	return values_pack(secrets, &object, STR(""), room, &packed);
}

static void only_what_fits_is_packed(void **state)
{
	(void)state;
	assert_true(packs(255, 200));
	assert_false(packs(256, 1));
	assert_true(packs(3, VALUES_PACKED - 1 - 4 - 3));
	assert_false(packs(3, VALUES_PACKED - 1 - 4 - 2));
	assert_false(packs(3, 2000));
}

static void nothing_is_null(void **state)
{
	AUTO_BUF out = { .max = 100 };
	struct jw w = jw_to(&out);

	(void)state;
	values_show(&w, NULL, STR(""), STR(""));
	assert_str(buf_str(&out), "null");
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
		cmocka_unit_test(a_packed_object_is_shown_as_it_would_be_written),
		cmocka_unit_test(only_what_fits_is_packed),
		cmocka_unit_test(nothing_is_null),
	};

	return cmocka_run_group_tests(tests, make_secrets, free_secrets);
}
