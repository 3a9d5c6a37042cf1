/* SPDX-License-Identifier: MIT */
/* Streams: the first bytes say where to cut. The rest, cut there, must give the same result as the
 * whole, and a piece of whole characters must never come out with a broken one. */

#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "scrub/scrub.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct scrub *rules(void)
{
	static struct scrub *made;
	static const struct str secrets[] = { { "letmein2", 8 },
					      { "letmein-letmeout", 16 },
					      { "op sesame/?\xc3\xa9", 13 } };
	const struct scrub_options o = { .secrets = secrets,
					 .secret_count = 3,
					 .patterns = STR("acme: acme_[a-z]{4,8}\n"
							 "dash: ---[0-9-]{2,}\n") };
	struct err e;

	if (!made && scrub_new(&o, &made, &e) < 0)
		abort();
	return made;
}

static void must(bool right)
{
	if (!right)
		abort();
}

/* The operator's patterns are a language of their own. */
static void parse(struct str text)
{
	const struct scrub_options o = { .patterns = text };
	struct scrub *r = NULL;
	struct err e = { 0 };

	must(scrub_new(&o, &r, &e) == 0 || e.code != ERR_NONE);
	scrub_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { CUTS = 4 };
	AUTO_BUF aside = { .max = 1 << 20 };
	AUTO_BUF out = { .max = 1 << 20 };
	CLEANUP(scrubber_done) struct scrubber s = { .rules = rules() };

	if (size < CUTS || size > 1 << 16)
		return 0;
	const struct str text = { (const char *)data + CUTS, size - CUTS };
	const struct str whole = scrub_text(rules(), NULL, text, &aside);
	struct str rest = text;
	const bool valid = utf8_valid(text);

	for (size_t i = 0; rest.n; i++) {
		/* Short and long pieces in turn, never empty. */
		const struct str piece =
			str_upto(rest, 1 + data[i % CUTS] * (i % 7 == 6 ? 19u : 1u));
		const size_t before = out.n;
		scrubber_feed(&s, piece, &out);
		must(!valid || utf8_valid(str_from(buf_str(&out), before)));
		rest = str_from(rest, piece.n);
	}
	scrubber_end(&s, &out);
	must(!aside.failed && !out.failed && str_eq(whole, buf_str(&out)));
	must(!valid || utf8_valid(whole));
	(void)scrub_mark_added(whole, text);
	if (size < 256)
		parse(text);
	return 0;
}
