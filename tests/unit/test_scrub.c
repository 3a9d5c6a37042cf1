/* SPDX-License-Identifier: MIT */
/*
 * scrub: what is found and what is not, and that cutting a stream changes nothing.
 *
 * No text here is a secret. In the tables %a20 stands for 20 made-up letters and digits, %u for
 * capitals and digits, %x for hexadecimal digits, %b for base64, %w for small letters; %% is a
 * percent sign. So that no scanner takes them for real ones, they are put together at run
 * time.
 */
#include "unit.h"
#include "utf8_splits.h"

#include <stdlib.h>

#include "base/own.h"
#include "base/utf8.h"
#include "scrub/limits.h"
#include "scrub/scrub.h"
#include "scrub_cases.h"

static struct scrub *rules_with(const struct scrub_options *o)
{
	struct scrub *r = NULL;
	struct err e = { 0 };

	if (scrub_new(o, &r, &e) < 0)
		fail_msg("%s", e.msg);
	return r;
}

static void expand(struct buf *to, const char *text)
{
	static const struct {
		char sort;
		const char *from;
	} sorts[] = {
		{ 'a', "Fake0Key7oNly4TestS2Abc9Xyz1Q" },
		{ 'u', "FAKE7KEY2ONLY4TEST" },
		{ 'x', "0fa4e5b7c9d1" },
		{ 'b', "Fake7/Key+Only4TestS2Abc9" },
		{ 'w', "fakekeyonlytest" },
	};

	for (; *text; text++) {
		if (*text != '%' || text[1] == '%') {
			text += *text == '%';
			buf_addc(to, *text);
			continue;
		}
		const char sort = text[1];
		char *end;
		const size_t n = strtoul(text + 2, &end, 10);
		for (size_t k = 0; k < sizeof sorts / sizeof sorts[0]; k++)
			for (size_t i = 0; i < n && sorts[k].sort == sort; i++)
				buf_addc(to, sorts[k].from[i % strlen(sorts[k].from)]);
		text = end - 1;
	}
}

static void stream(const struct scrub *r, struct str text, const size_t *cuts, size_t n,
		   struct buf *out)
{
	CLEANUP(scrubber_done) struct scrubber s = { .rules = r };
	size_t from = 0;

	for (size_t i = 0; i <= n; i++) {
		const size_t to = i < n ? cuts[i] : text.n;
		const struct str piece = guarded((struct str){ text.p + from, to - from });
		scrubber_feed(&s, piece, out);
		guarded_free(piece);
		from = to;
	}
	scrubber_end(&s, out);
	assert_false(out->failed);
}

/* Whole, cut once at every place, and in single bytes: always the same. */
static void check(const struct scrub *r, struct str text, struct str want)
{
	AUTO_BUF aside = { .max = 1 << 20 };
	AUTO_BUF out = { .max = 1 << 20 };
	AUTO_BUF single = { .max = 1 << 20 };
	CLEANUP(scrubber_done) struct scrubber s = { .rules = r };
	const struct str whole = guarded(text);
	const struct str got = scrub_text(r, NULL, whole, &aside);

	if (!str_eq(got, want))
		fail_msg("\"%.*s\" became\n\"%.*s\", not\n\"%.*s\"", STR_FMT(text), STR_FMT(got),
			 STR_FMT(want));
	if (str_eq(text, want))
		assert_ptr_equal(got.p, whole.p);
	guarded_free(whole);
	for (size_t cut = 0; cut <= text.n; cut++) {
		buf_reset(&out, out.max);
		stream(r, text, &cut, 1, &out);
		if (!str_eq(buf_str(&out), want))
			fail_msg("cut at %zu: \"%.*s\" became\n\"%.*s\"", cut, STR_FMT(text),
				 STR_FMT(buf_str(&out)));
	}
	for (size_t i = 0; i < text.n; i++)
		scrubber_feed(&s, (struct str){ text.p + i, 1 }, &single);
	scrubber_end(&s, &single);
	if (!str_eq(buf_str(&single), want))
		fail_msg("in bytes: \"%.*s\" became\n\"%.*s\"", STR_FMT(text),
			 STR_FMT(buf_str(&single)));
}

static void secrets_are_replaced(void **unused)
{
	const struct scrub_options o = { 0 };
	struct scrub *r = rules_with(&o);

	(void)unused;
	for (size_t i = 0; i < sizeof secret_cases / sizeof secret_cases[0]; i++) {
		AUTO_BUF text = { .max = 1 << 16 };
		AUTO_BUF want = { .max = 1 << 16 };
		expand(&text, secret_cases[i].before);
		buf_add(&want, buf_str(&text));
		buf_addf(&want, "[REDACTED:%s]", scrub_kind_name(secret_cases[i].kind));
		expand(&text, secret_cases[i].secret);
		expand(&text, secret_cases[i].after);
		expand(&want, secret_cases[i].after);
		check(r, buf_str(&text), buf_str(&want));
	}
	scrub_free(r);
}

/* Cut in two at any place, neither part shows more than the whole does. */
static void a_cut_shows_no_half_of_a_secret(void **unused)
{
	const struct scrub_options o = { 0 };
	struct scrub *r = rules_with(&o);

	(void)unused;
	for (size_t i = 0; i < sizeof secret_cases / sizeof secret_cases[0]; i++) {
		AUTO_BUF text = { .max = 1 << 16 }, aside = { .max = 1 << 16 };
		expand(&text, secret_cases[i].before);
		const size_t start = text.n;
		expand(&text, secret_cases[i].secret);
		const size_t end = text.n;
		expand(&text, secret_cases[i].after);
		const struct str whole = buf_str(&text);
		for (size_t at = 0; at <= whole.n; at++) {
			const struct scrub_cut cut = scrub_cut(r, whole, at);
			assert_true(cut.from <= at && at <= cut.to && cut.to <= whole.n);
			const bool inside = at > start && at < end;
			const struct str tail = str_from(whole, cut.to);
			/* A second part with the whole secret must recognise it on its own. */
			if ((inside && (cut.from > start || cut.to < end)) ||
			    (cut.to <= start && scrub_text(r, NULL, tail, &aside).p == tail.p))
				fail_msg("\"%.*s\" cut at %zu shows \"%.*s\" and \"%.*s\"",
					 STR_FMT(whole), at, STR_FMT(str_upto(whole, cut.from)),
					 STR_FMT(tail));
		}
	}
	scrub_free(r);
}

static void other_text_passes(void **unused)
{
	const struct scrub_options o = { 0 };
	struct scrub *r = rules_with(&o);

	(void)unused;
	for (size_t i = 0; i < sizeof plain_cases / sizeof plain_cases[0]; i++) {
		AUTO_BUF text = { .max = 1 << 16 };
		expand(&text, plain_cases[i].text);
		check(r, buf_str(&text), buf_str(&text));
	}
	scrub_free(r);
}

static void every_kind_has_ten_cases_of_each(void **unused)
{
	unsigned yes[SCRUB_KIND_COUNT] = { 0 }, no[SCRUB_KIND_COUNT] = { 0 };

	(void)unused;
	for (size_t i = 0; i < sizeof secret_cases / sizeof secret_cases[0]; i++)
		yes[secret_cases[i].kind]++;
	for (size_t i = 0; i < sizeof plain_cases / sizeof plain_cases[0]; i++)
		no[plain_cases[i].kind]++;
	for (unsigned k = 0; k < SCRUB_CONFIGURED; k++)
		if (yes[k] < 10 || no[k] < 10)
			fail_msg("%s: %u and %u", scrub_kind_name(k), yes[k], no[k]);
}

static void finds_are_counted_by_kind(void **unused)
{
	const struct scrub_options o = { 0 };
	struct scrub *r = rules_with(&o);
	struct scrub_counts counts = { 0 };
	AUTO_BUF text = { .max = 1 << 16 };
	AUTO_BUF aside = { .max = 1 << 16 };

	(void)unused;
	expand(&text, "gh"
		      "p_%a36 gh"
		      "o_%a36 AK"
		      "IA%u16 x");
	(void)scrub_text(r, &counts, buf_str(&text), &aside);
	(void)scrub_text(r, NULL, buf_str(&text), &aside);
	assert_int_equal(counts.of[SCRUB_GITHUB], 2);
	assert_int_equal(counts.of[SCRUB_AWS_KEY], 1);
	assert_int_equal(counts.of[SCRUB_JWT], 0);
	scrub_free(r);
}

static void what_is_decided_goes_out_at_once(void **unused)
{
	const struct scrub_options o = { 0 };
	struct scrub *r = rules_with(&o);
	CLEANUP(scrubber_done) struct scrubber s = { .rules = r };
	AUTO_BUF out = { .max = 1 << 16 };
	AUTO_BUF key = { .max = 1 << 16 };

	(void)unused;
	scrubber_feed(&s, STR("Continue? "), &out);
	assert_str(buf_str(&out), "Continue? ");
	scrubber_feed(&s, STR("gh"), &out);
	assert_str(buf_str(&out), "Continue? ");
	scrubber_feed(&s, STR("ost \xc3"), &out);
	assert_str(buf_str(&out), "Continue? ghost ");
	scrubber_feed(&s, STR("\xa9 "), &out);
	assert_str(buf_str(&out), "Continue? ghost \xc3\xa9 ");
	expand(&key, "-----BEG"
		     "IN PRIVATE KEY-----\n%b64\n%b9");
	scrubber_feed(&s, buf_str(&key), &out);
	assert_str(buf_str(&out), "Continue? ghost \xc3\xa9 [REDACTED:private-key]");
	scrubber_end(&s, &out);
	assert_str(buf_str(&out), "Continue? ghost \xc3\xa9 [REDACTED:private-key]");
	scrub_free(r);
}

/* A configured secret is bytes: it may begin inside a character of the text. */
static void a_secret_that_begins_inside_a_character_does_not_split_it(void **unused)
{
	const struct str secret = STR("\xa9swordfish-1234");
	const struct scrub_options o = { .secrets = &secret, .secret_count = 1 };
	struct scrub *r = rules_with(&o);
	CLEANUP(scrubber_done) struct scrubber s = { .rules = r };
	AUTO_BUF out = { .max = 1 << 10 };

	(void)unused;
	scrubber_feed(&s, STR("caf\xc3\xa9"), &out);
	assert_str(buf_str(&out), "caf");
	scrubber_feed(&s, STR("s"), &out);
	assert_str(buf_str(&out), "caf");
	scrubber_feed(&s, STR(" are open"), &out);
	scrubber_end(&s, &out);
	assert_str(buf_str(&out), "caf\xc3\xa9s are open");
	scrub_free(r);
}

/* Whatever comes, a stream holds back only a bounded amount. */
static void a_stream_holds_back_little(void **unused)
{
	static const char *const endless[] = {
		"eyJ",
		"://",
		"password=",
		"password     ",
		"-----BEGIN PRIVATE KEY-----\n",
		"-----BEGIN PRIVATE KEY-----\n-----END ",
		"://u:p@",
		"sk-",
		"bearer ",
		"token_",
		"token=\"",
		"authorization: basic ",
	};
	static const char fillers[] = "aZ0 \n-.=@\\\"/+:,'";
	const struct scrub_options o = { 0 };
	struct scrub *r = rules_with(&o);
	char filler[1024];

	(void)unused;
	for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
		for (size_t k = 0; k < sizeof fillers - 1; k++) {
			CLEANUP(scrubber_done) struct scrubber s = { .rules = r };
			AUTO_BUF out = { .max = 1 << 20 };
			memset(filler, fillers[k], sizeof filler);
			scrubber_feed(&s, str_of(endless[i]), &out);
			for (int n = 0; n < 32; n++)
				scrubber_feed(&s, (struct str){ filler, sizeof filler }, &out);
			assert_in_range(s.held.n, 0, 2048);
			scrubber_end(&s, &out);
			assert_false(out.failed);
		}
	}
	scrub_free(r);
}

/* Bytes of broken characters, of which there may be any number, are not held back. */
static void broken_characters_are_not_held_back(void **unused)
{
	static const char *const starts[] = { "eyJ", "password=", "sk-", "token_", "://u:p" };
	const struct scrub_options o = { 0 };
	struct scrub *r = rules_with(&o);
	char filler[1024];

	(void)unused;
	memset(filler, 0x80, sizeof filler);
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		CLEANUP(scrubber_done) struct scrubber s = { .rules = r };
		AUTO_BUF text = { .max = 1 << 20 };
		AUTO_BUF out = { .max = 1 << 20 };
		for (int n = 0; n < 64; n++)
			buf_add(&text, (struct str){ filler, sizeof filler });
		buf_add(&text, str_of(starts[i]));
		scrubber_feed(&s, buf_str(&text), &out);
		assert_in_range(s.held.n, 0, 2048);
		scrubber_end(&s, &out);
		assert_false(out.failed);
		assert_true(str_eq(buf_str(&out), buf_str(&text)));
	}
	scrub_free(r);
}

/* However a stream is split, each part it lets out is whole: alone or after what may be a secret.
 */
static void characters_are_let_out_whole(void **unused)
{
	static const char *const starts[] = {
		"", "x ", "eyJ", "password=", "token: \"", "sk-ant-"
	};
	const struct scrub_options o = { 0 };
	struct scrub *r = rules_with(&o);

	(void)unused;
	for (size_t i = 0; i < sizeof split_texts / sizeof split_texts[0]; i++) {
		const struct str text = split_texts[i];
		for (unsigned k = 0; k < ARRAY_LEN(starts) * split_ways(text); k++) {
			CLEANUP(scrubber_done) struct scrubber s = { .rules = r };
			AUTO_BUF out = { .max = 1 << 10 };
			AUTO_BUF seen = { .max = 1 << 10 };
			AUTO_BUF all = { .max = 1 << 10 };
			const unsigned way = k / ARRAY_LEN(starts);
			buf_add(&all, str_of(starts[k % ARRAY_LEN(starts)]));
			scrubber_feed(&s, buf_str(&all), &out);
			for (struct str rest = text; rest.n;) {
				scrubber_feed(&s, split_next(text, &rest, way), &out);
				split_show(&seen, buf_str(&out));
				buf_reset(&out, SIZE_MAX);
			}
			scrubber_end(&s, &out);
			split_show(&seen, buf_str(&out));
			buf_add(&all, text);
			assert_seen_whole(&seen, buf_str(&all), way);
		}
	}
	scrub_free(r);
}

/* What is decided of a long text ends with a whole character, whatever it ends in. */
static void what_is_decided_ends_with_a_whole_character(void **unused)
{
	static const char *const starts[] = { "",
					      "eyJ",
					      "password=",
					      "token=\"",
					      "://u:p@",
					      "bearer ",
					      "-----BEGIN PRIVATE KEY-----\n",
					      "AKIAIOSFODNN7EXAMPL3" };
	static const char *const fillers[] = {
		"a", "-", "\n", " ", "\xc3\xa9", "\xf0\x9f\x99\x82"
	};
	static const size_t lengths[] = { 0, 1, 100, 8000, 33000, 66000 };
	const struct scrub_options o = { 0 };
	struct scrub *r = rules_with(&o);

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(starts) * ARRAY_LEN(fillers) * ARRAY_LEN(lengths); i++) {
		const char *filler = fillers[i % ARRAY_LEN(fillers)];
		const size_t length = lengths[i / ARRAY_LEN(fillers) % ARRAY_LEN(lengths)];
		AUTO_BUF text = { .max = 1 << 20 };
		buf_add(&text, str_of(starts[i / ARRAY_LEN(fillers) / ARRAY_LEN(lengths)]));
		while (text.n < length)
			buf_add(&text, str_of(filler));
		for (size_t n = 0; n < 3; n++) {
			buf_addc(&text, "\xf0\x9f\x99"[n]);
			const struct str all = buf_str(&text);
			const struct str part = str_upto(all, scrub_decided(r, all));
			assert_int_equal(utf8_whole(part), part.n);
			assert_in_range(part.n, 0, all.n - n - 1);
		}
	}
	scrub_free(r);
}

static void a_key_without_end_is_swallowed_up_to_its_cap(void **unused)
{
	const struct scrub_options o = { 0 };
	struct scrub *r = rules_with(&o);
	AUTO_BUF text = { .max = 1 << 20 };
	AUTO_BUF aside = { .max = 1 << 20 };

	(void)unused;
	expand(&text, "-----BEG"
		      "IN RSA PRIVATE KEY-----\n");
	const size_t head = text.n;
	while (text.n < head + LIMIT_SCRUB_KEY_BODY)
		buf_addc(&text, 'A');
	text.n = head - 1 + LIMIT_SCRUB_KEY_BODY;
	buf_add(&text, STR("rest"));
	assert_str(scrub_text(r, NULL, buf_str(&text), &aside), "[REDACTED:private-key]rest");
	scrub_free(r);
}

/* The bytes of a secret, with every number of bytes in front of it, in base64 with jw's digits. */
static void base64_of(struct buf *to, const char *before, const char *secret, const char *after)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	AUTO_BUF raw = { .max = 1 << 16 };

	buf_addf(&raw, "%s%s%s", before, secret, after);
	while (raw.n % 3)
		buf_addc(&raw, '!');
	for (size_t i = 0; i < raw.n; i += 3) {
		const unsigned char *p = (const unsigned char *)raw.p + i;
		const unsigned g = (unsigned)p[0] << 16 | (unsigned)p[1] << 8 | p[2];
		for (int shift = 18; shift >= 0; shift -= 6)
			buf_addc(to, digits[g >> shift & 63]);
	}
}

static void configured_secrets_are_found_in_every_spelling(void **unused)
{
	static const char *const texts[][2] = {
		{ "a 'op sesame/1?' b", "a '[REDACTED:configured]' b" },
		{ "q=op%20sesame%2F1%3F&r", "q=[REDACTED:configured]&r" },
		{ "q=op%20sesame%2f1%3f&r", "q=[REDACTED:configured]&r" },
		{ "q=op+sesame%2F1%3F&r", "q=[REDACTED:configured]&r" },
		{ "op sesame/1? and op sesame/1?",
		  "[REDACTED:configured] and [REDACTED:configured]" },
		{ "op sesame/1", "op sesame/1" },
		{ "secret \"six\\\\6\\\"\"", "secret \"[REDACTED:configured]\"" },
		{ "short abc stays", "short abc stays" },
		{ "letmein2 letmein22", "[REDACTED:configured] [REDACTED:configured]" },
		{ "TOKEN=letmein22", "TOKEN=[REDACTED:configured]" },
		{ "kennw\xc3\xb6rtchen", "[REDACTED:configured]" },
		{ "kennw\xc3\xb6rt", "kennw\xc3\xb6rt" },
	};
	const struct str secrets[] = { STR("op sesame/1?"), STR("abc"),
				       STR("six\\6\""),	    STR("letmein2"),
				       STR("letmein22"),    STR("kennw\xc3\xb6rtchen") };
	const struct scrub_options o = { .secrets = secrets, .secret_count = 6 };
	struct scrub *r = rules_with(&o);
	const char *before = "xyz";

	(void)unused;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		check(r, str_of(texts[i][0]), str_of(texts[i][1]));
	for (size_t lead = 0; lead < 3; lead++) {
		AUTO_BUF text = { .max = 1 << 16 };
		AUTO_BUF aside = { .max = 1 << 16 };
		base64_of(&text, before + lead, "op sesame/1?", "tail");
		const struct str got = scrub_text(r, NULL, buf_str(&text), &aside);
		assert_true(str_find(got, STR("[REDACTED:configured]")) >= 0);
		assert_true(got.n < text.n - 16 + sizeof "[REDACTED:configured]" + 4);
	}
	scrub_free(r);
}

static void limits_of_secrets_are_errors(void **unused)
{
	static char text[LIMIT_SCRUB_SECRET_MAX + 1];
	struct str many[LIMIT_SCRUB_SECRETS + 1];
	struct scrub_options o = { .secrets = many, .secret_count = 1 };
	struct scrub *r = NULL;
	struct err e = { 0 };

	(void)unused;
	memset(text, '"', sizeof text);
	for (size_t i = 0; i <= LIMIT_SCRUB_SECRETS; i++)
		many[i] = (struct str){ text, sizeof text };
	assert_int_equal(scrub_new(&o, &r, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
	many[0].n--;
	assert_int_equal(scrub_new(&o, &r, &e), 0);
	scrub_free(r);
	o.secret_count = LIMIT_SCRUB_SECRETS + 1;
	assert_int_equal(scrub_new(&o, &r, &e), -1);
	scrub_free(NULL);
}

static void patterns_find_what_they_say(void **unused)
{
	static const char *const texts[][2] = {
		{ "acme_0123456789abcdef.", "[REDACTED:acme-token]." },
		{ "acme_0123456789abcde.", "acme_0123456789abcde." },
		{ "acme_0123456789abcdef0.", "acme_0123456789abcdef0." },
		{ "TCK-AB-12-AB", "[REDACTED:ticket]" },
		{ "TCK-AB-12-ABAB-AB", "TCK-AB-12-ABAB-AB" },
		{ "sess[abcdefghijklmnopqrst]", "[REDACTED:session]]" },
		{ "sess[abcde]", "sess[abcde]" },
		{ "a;b]]]", "[REDACTED:odd]" },
	};
	const struct scrub_options o = {
		.patterns = STR("# ours\n"
				"acme-token: acme_[a-f0-9]{16}\n\n"
				"  ticket : TCK-[0-9A-F-]{5,8} # at most 8\n"
				"session:sess\\[[a-z]{10,}; odd: a\\;b[\\]]{1,}")
	};
	struct scrub *r = rules_with(&o);

	(void)unused;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		check(r, str_of(texts[i][0]), str_of(texts[i][1]));
	scrub_free(r);
}

static void bad_patterns_are_refused_with_a_reason(void **unused)
{
	static const char *const bad[][2] = {
		{ "_acme[a]{3}", "begin with a name" },
		{ "Name: acme_[a]{3}", "begin with a name" },
		{ ": acme_[a]{3}", "begin with a name" },
		{ "a-name-that-is-much-too-long-for-a-mark: acme_[a]{3}", "begin with a name" },
		{ "n acme_[a]{3}", "colon" },
		{ "n: ab[a]{3}", "3 to 256" },
		{ "n: abc", "class" },
		{ "n: abc;m: abc[a]{1}", "class" },
		{ "n: abc[", "not closed" },
		{ "n: abc[a", "not closed" },
		{ "n: abc[a\n]{3}", "not closed" },
		{ "n: abc[]{3}", "empty" },
		{ "n: abc[^a]{3}", "[^...]" },
		{ "n: abc[z-a]{3}", "rising" },
		{ "n: abc[\xc3\xa9]{3}", "ASCII" },
		{ "n: abc[a]", "how many" },
		{ "n: abc[a]+", "how many" },
		{ "n: abc[a]{}", "how many" },
		{ "n: abc[a]{0}", "how many" },
		{ "n: abc[a]{4,3}", "how many" },
		{ "n: abc[a]{1025}", "how many" },
		{ "n: abc[a]{99999999999}", "how many" },
		{ "n: abc[a]{3", "how many" },
		{ "n: abc[a]{3}x", "nothing may follow" },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const struct str text = guarded(str_of(bad[i][0]));
		const struct scrub_options o = { .patterns = text };
		struct scrub *r = NULL;
		struct err e = { 0 };
		assert_int_equal(scrub_new(&o, &r, &e), -1);
		if (!strstr(e.msg, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], e.msg);
		guarded_free(text);
	}
}

static void a_mark_that_was_not_there_is_seen(void **unused)
{
	static const struct {
		const char *text, *present;
		bool added;
	} cases[] = {
		{ "", "", false },
		{ "plain", "", false },
		{ "a [REDACTED:jwt] b", "", true },
		{ "a [REDACTED:jwt] b", "x [REDACTED:jwt]", false },
		{ "a [REDACTED:jwt] b [REDACTED:jwt]", "x [REDACTED:jwt]", true },
		{ "[REDACTED:secret]", "[REDACTED:jwt]", true },
		{ "[REDACTED:acme-token-2]", "", true },
		{ "", "[REDACTED:jwt]", false },
		{ "[REDACTED]", "", false },
		{ "[REDACTED:]", "", false },
		{ "[REDACTED:<kind>]", "", false },
		{ "[REDACTED:see above]", "", false },
		{ "[REDACTED:GITHUB_TOKEN]", "", true },
		{ "[REDACTED:jwt", "", false },
		{ "[REDACTED:[REDACTED:jwt]", "", true },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct str text = guarded(str_of(cases[i].text));
		if (scrub_mark_added(text, str_of(cases[i].present)) != cases[i].added)
			fail_msg("%s / %s", cases[i].text, cases[i].present);
		guarded_free(text);
	}
}

static void without_room_nothing_gets_out(void **unused)
{
	const struct scrub_options o = { 0 };
	struct scrub *r = rules_with(&o);
	AUTO_BUF text = { .max = 1 << 16 };
	AUTO_BUF aside = { .max = 8 };
	AUTO_BUF out = { .max = 8 };
	CLEANUP(scrubber_done) struct scrubber s = { .rules = r };

	(void)unused;
	expand(&text, "a long line, and gh"
		      "p_%a36");
	assert_int_equal(scrub_text(r, NULL, buf_str(&text), &aside).n, 0);
	assert_true(aside.failed);
	scrubber_feed(&s, buf_str(&text), &out);
	scrubber_end(&s, &out);
	assert_true(out.failed);
	assert_true(str_find(buf_str(&out), STR("gh"
						"p_")) < 0);
	scrub_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_are_replaced),
		cmocka_unit_test(a_cut_shows_no_half_of_a_secret),
		cmocka_unit_test(other_text_passes),
		cmocka_unit_test(every_kind_has_ten_cases_of_each),
		cmocka_unit_test(finds_are_counted_by_kind),
		cmocka_unit_test(what_is_decided_goes_out_at_once),
		cmocka_unit_test(a_secret_that_begins_inside_a_character_does_not_split_it),
		cmocka_unit_test(a_stream_holds_back_little),
		cmocka_unit_test(broken_characters_are_not_held_back),
		cmocka_unit_test(characters_are_let_out_whole),
		cmocka_unit_test(what_is_decided_ends_with_a_whole_character),
		cmocka_unit_test(a_key_without_end_is_swallowed_up_to_its_cap),
		cmocka_unit_test(configured_secrets_are_found_in_every_spelling),
		cmocka_unit_test(limits_of_secrets_are_errors),
		cmocka_unit_test(patterns_find_what_they_say),
		cmocka_unit_test(bad_patterns_are_refused_with_a_reason),
		cmocka_unit_test(a_mark_that_was_not_there_is_seen),
		cmocka_unit_test(without_room_nothing_gets_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
