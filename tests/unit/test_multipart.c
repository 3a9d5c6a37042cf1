/* SPDX-License-Identifier: MIT */
/* multipart: delimiters where they may be and where they only seem to be, names, bad forms. */

#include "unit.h"

#include "base/buf.h"
#include "base/own.h"
#include "net/limits.h"
#include "net/multipart.h"

#define TYPE "multipart/form-data; boundary=xyz"
#define HEAD "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"

static void a_file_is_found(void **state)
{
	static const struct {
		const char *type, *body, *content;
	} cases[] = {
		{ TYPE, "--xyz\r\n" HEAD "hello\r\n--xyz--\r\n", "hello" },
		{ TYPE, "--xyz\r\n" HEAD "hello\r\n--xyz--", "hello" },
		{ TYPE, "before\r\n--xyz \t\r\n" HEAD "a\r\n--xyz--\r\nbehind", "a" },
		{ TYPE, "--xyz\r\n" HEAD "\r\n--xyz--", "" },
		{ TYPE, "--xyz\r\n" HEAD "x--xyz\r\n--xyzz\r\n--xyz", NULL },
		{ TYPE, "--xyz\r\n" HEAD "x--xyz\r\n--xyzz\r\n--xyz--", "x--xyz\r\n--xyzz" },
		{ "Multipart/Form-Data; charset=x; Boundary=\"x y\"",
		  "--x y\r\n" HEAD "a\r\n--x y--", "a" },
		{ TYPE, "--xyz\r\nX: y\r\n" HEAD "\r\n\r\n\r\n--xyz--", "\r\n\r\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct str body = guarded(str_of(cases[i].body));
		const struct str type = guarded(str_of(cases[i].type));
		struct multipart_part part;
		struct http_refusal why;
		struct multipart m;
		assert_int_equal(multipart_begin(&m, type, body, &why), 0);
		const int rc = multipart_next(&m, &part, &why);
		assert_int_equal(rc, cases[i].content ? 1 : -1);
		if (rc > 0) {
			assert_str(part.name, "file");
			assert_str(part.filename, "a.txt");
			assert_str(part.content, cases[i].content);
			assert_int_equal(multipart_next(&m, &part, &why), 0);
		}
		guarded_free(body);
		guarded_free(type);
	}
}

static void what_is_no_form_is_refused(void **state)
{
	static const struct {
		const char *type, *body;
	} cases[] = {
		{ "", "" },
		{ "text/plain; boundary=xyz", "--xyz\r\n" HEAD "\r\n--xyz--" },
		{ "multipart/form-data", "--xyz--" },
		{ "multipart/form-data; boundary=", "----" },
		{ "multipart/form-data; boundary=\"xyz", "--xyz--" },
		{ TYPE, "" },
		{ TYPE, "--xyz" },
		{ TYPE, "x--xyz\r\n" },
		{ TYPE, "--xyz\r\n\r\n\r\n--xyz--" },
		{ TYPE, "--xyz\r\nContent-Disposition: form-data\r\n\r\n\r\n--xyz--" },
		{ TYPE, "--xyz\r\nno header\r\n\r\n\r\n--xyz--" },
		{ TYPE, "--xyz\r\n" HEAD "no end" },
		{ TYPE, "--xyz\r\n" HEAD "\n--xyz--" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct str body = guarded(str_of(cases[i].body));
		struct http_refusal why = { 0 };
		struct multipart_part part;
		struct multipart m;
		assert_true(multipart_begin(&m, str_of(cases[i].type), body, &why) < 0 ||
			    multipart_next(&m, &part, &why) < 0);
		assert_int_equal(why.status, 400);
		guarded_free(body);
	}
}

static void parts_are_counted(void **state)
{
	struct multipart_part part;
	struct http_refusal why;
	struct multipart m;
	AUTO_BUF body = { .max = 64 << 10 };
	int n = 0, rc;

	(void)state;
	for (int i = 0; i <= LIMIT_MULTIPART_PARTS; i++)
		buf_add(&body, STR("--xyz\r\n" HEAD "\r\n"));
	buf_add(&body, STR("--xyz--"));
	assert_int_equal(multipart_begin(&m, STR(TYPE), buf_str(&body), &why), 0);
	while ((rc = multipart_next(&m, &part, &why)) > 0)
		n++;
	assert_int_equal(n, LIMIT_MULTIPART_PARTS);
	assert_int_equal(rc, -1);
}

static void escapes_of_names_are_undone(void **state)
{
	char out[32];
	const struct str raw = STR("a%22b\\\"c\\\\d%2");

	(void)state;
	assert_str((struct str){ out, multipart_unescape(raw, out) }, "a\"b\"c\\d%2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_found),
		cmocka_unit_test(what_is_no_form_is_refused),
		cmocka_unit_test(parts_are_counted),
		cmocka_unit_test(escapes_of_names_are_undone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
