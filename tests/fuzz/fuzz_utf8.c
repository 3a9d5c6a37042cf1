/* SPDX-License-Identifier: MIT */
/* fuzz_utf8: utf8 agrees with a naive decoder, and what jw escapes reads back. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/jw.h"
#include "base/utf8.h"
#include "../unit/utf8_naive.h"

enum { ROOM = 4 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
	if (!holds)
		abort();
}

/* The bytes with U+FFFD in the place of what is ill-formed. */
static void replace(struct str s, struct buf *out)
{
	while (s.n) {
		const size_t n = naive_character(s);
		size_t bad;
		demand(utf8_next(s, &bad) == n);
		demand(n > 0 || bad == naive_bad(s));
		buf_add(out, n ? str_upto(s, n) : STR(UTF8_REPLACEMENT));
		s = str_from(s, n ? n : bad);
	}
}

static void check_whole(struct str s)
{
	const size_t whole = utf8_whole(s);

	demand(whole <= s.n && s.n - whole <= 3);
	demand(whole == s.n || naive_begins(str_from(s, whole)));
	for (size_t back = 1; whole == s.n && back <= 3 && back <= s.n; back++)
		demand(!naive_begins(str_from(s, s.n - back)));
}

/* Escaped in a buf of exactly its length, the text is valid UTF-8 and reads back as `want`. */
static void check_escape(struct str s, struct str want)
{
	AUTO_BUF b = { .max = ROOM };
	AUTO_ARENA a = { .max = ROOM };
	struct jw w = jw_to(&b);
	const struct json *v;
	struct err e;

	jw_str(&w, NULL, s);
	demand(!b.failed && utf8_valid(buf_str(&b)));
	demand(json_parse(buf_str(&b), &a, &v, &e) == 0);
	demand(v->type == JSON_STRING && str_eq(v->string, want));

	AUTO_BUF exact = { .max = b.n - 2 };
	jw_escape(&exact, s);
	demand(!exact.failed && str_eq(buf_str(&exact), (struct str){ b.p + 1, b.n - 2 }));
	if (b.n == 2)
		return;
	AUTO_BUF less = { .max = b.n - 3 };
	jw_escape(&less, s);
	demand(less.failed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF replaced = { .max = ROOM };
	/* A copy of its own size, so that the sanitizer sees a byte read too far. */
	char *text = malloc(size ? size : 1);
	const struct str s = { text, size };
	size_t ascii = 0;

	demand(text != NULL);
	if (size)
		memcpy(text, data, size);
	replace(s, &replaced);
	while (ascii < size && data[ascii] < 0x80)
		ascii++;
	demand(utf8_ascii(s) == ascii);
	demand(utf8_replaced_length(s) == replaced.n);
	demand(utf8_valid(s) == str_eq(s, buf_str(&replaced)));
	demand(utf8_valid(buf_str(&replaced)));
	check_whole(s);
	check_escape(s, buf_str(&replaced));
	free(text);
	return 0;
}
