/* SPDX-License-Identifier: MIT */
/* Output of a command: the first bytes say where to cut. Cuts change nothing, and what is UTF-8 is
 * shown as the model shows it. */

#include <stdint.h>
#include <stdlib.h>

#include "base/own.h"
#include "screen_model.h"
#include "tools/screen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
	if (!right)
		abort();
}

/* The model holds a limited number of marks for a character. */
static bool has_many_marks(struct str text)
{
	size_t run = 0, bad;

	for (; text.n; text = str_from(text, utf8_next(text, &bad))) {
		const uint32_t c = utf8_decode(text.p, utf8_next(text, &bad));
		run = c >= 0x300 && width_of(c) == 0 ? run + 1 : run;
	}
	return run >= MODEL_TEXT / 4 - 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { CUTS = 4 };
	AUTO_BUF aside = { .max = 1 << 20 }, whole = { .max = 1 << 20 };
	AUTO_BUF out = { .max = 1 << 20 }, want = { .max = 1 << 20 };
	CLEANUP(screen_done) struct screen once = { 0 }, s = { 0 };

	if (size < CUTS || size > 4096)
		return 0;
	const struct str text = { (const char *)data + CUTS, size - CUTS };
	buf_add(&whole, screen_feed(&once, text, &aside));
	buf_add(&whole, screen_end(&once, &aside));
	must(!aside.failed && !whole.failed);

	struct str rest = text;
	for (size_t i = 0; rest.n; i++) {
		const struct str piece = str_upto(rest, 1 + data[i % CUTS] % 32);
		buf_add(&out, screen_feed(&s, piece, &aside));
		rest = str_from(rest, piece.n);
	}
	buf_add(&out, screen_end(&s, &aside));
	must(!aside.failed && str_eq(buf_str(&whole), buf_str(&out)));
	must(screen_binary(&once) == screen_binary(&s));

	if (!utf8_valid(text) || has_many_marks(text))
		return 0;
	model_show(text, &want);
	must(str_eq(buf_str(&whole), buf_str(&want)));
	return 0;
}
