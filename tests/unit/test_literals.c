/* SPDX-License-Identifier: MIT */
/* literals, bytesets: every kernel finds what a byte-by-byte search finds. */

#include "unit.h"

#include "base/own.h"
#include "regex/kernels.h"
#include "regex/literals.h"

enum { LONGEST = 300, NEEDLES = 64 };

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

static size_t slow_find(struct str text, struct str needle, bool nocase, size_t from)
{
	for (size_t i = from; i + needle.n <= text.n; i++)
		if (nocase ? str_eq_nocase(str_upto(str_from(text, i), needle.n), needle)
			   : memcmp(text.p + i, needle.p, needle.n) == 0)
			return i;
	return text.n;
}

/* Few different bytes, so that there are many near misses. */
static struct str random_text(char *to, size_t n, uint64_t *seed)
{
	static const char bytes[] = "aaabbAB_ \n\xc3\xa9z[{@`";

	for (size_t i = 0; i < n; i++)
		to[i] = bytes[next_random(seed) % (sizeof(bytes) - 1)];
	return (struct str){ to, n };
}

static struct str random_needle(char *to, size_t most, bool nocase, uint64_t *seed)
{
	struct str needle = random_text(to, 1 + next_random(seed) % most, seed);

	for (size_t i = 0; nocase && i < needle.n; i++)
		to[i] = str_lower(to[i]);
	return needle;
}

static void test_one_needle(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 4000; round++) {
		char bytes[LONGEST], small[16];
		const bool nocase = round % 2;
		const struct str text =
			guarded(random_text(bytes, next_random(&seed) % LONGEST, &seed));
		const struct str needle = random_needle(small, 6, nocase, &seed);
		const size_t from = next_random(&seed) % 3;
		struct literal l;

		literal_init(&l, needle, nocase);
		for (unsigned k = 0; (l.kernels = kernels_all(k)); k++)
			if (literal_find(&l, text, from) != slow_find(text, needle, nocase, from))
				fail_msg("%s: \"%.*s\"", l.kernels->name, STR_FMT(needle));
		guarded_free(text);
	}
}

static void test_each_place_and_length(void **state)
{
	static const char needle[] =
		"needle with more than two vectors of text, more than 64 bytes!!";

	(void)state;
	for (size_t n = 1; n < sizeof(needle); n++) {
		for (size_t at = 0; at < 140; at += 1 + at / 8) {
			char bytes[LONGEST];

			memset(bytes, 'e', sizeof(bytes));
			memcpy(bytes + at, needle, n);

			const struct str text = guarded((struct str){ bytes, at + n });
			struct literal l;

			literal_init(&l, (struct str){ needle, n }, false);
			for (unsigned k = 0; (l.kernels = kernels_all(k)); k++)
				assert_int_equal(literal_find(&l, text, 0), at);
			guarded_free(text);
		}
	}
}

static size_t slow_find_any(struct str text, const struct needle *needles, unsigned n)
{
	size_t first = text.n;

	for (unsigned i = 0; i < n; i++) {
		const size_t at = slow_find(text, needles[i].text, needles[i].nocase, 0);

		first = at < first ? at : first;
	}
	return first;
}

static void random_needles(struct needle *needles, char small[][16], unsigned n, unsigned round,
			   uint64_t *seed)
{
	for (unsigned i = 0; i < n; i++) {
		const bool nocase = round % 3 == 2 ? i % 2 : round % 3;

		needles[i] = (struct needle){ .text = random_needle(small[i], 8, nocase, seed),
					      .nocase = nocase };
	}
}

static void test_several_needles(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		char bytes[LONGEST], small[NEEDLES][16];
		struct needle needles[NEEDLES];
		const unsigned n = 1 + next_random(&seed) % (round % 7 ? 6 : NEEDLES);
		const struct str text =
			guarded(random_text(bytes, next_random(&seed) % LONGEST, &seed));
		struct literals l;

		random_needles(needles, small, n, round, &seed);
		assert_int_equal(literals_init(&l, needles, n), 0);

		const size_t want = slow_find_any(text, needles, n);

		for (unsigned k = 0; (l.kernels = kernels_all(k)); k++)
			if (literals_find(&l, text, 0) != want)
				fail_msg("%s: %u needles, round %u", l.kernels->name, n, round);
		literals_done(&l);
		guarded_free(text);
	}
}

/* Whether the list has this needle, after those given before it. */
static bool is_listed(const struct literals *l, unsigned k, unsigned needle)
{
	for (unsigned before = 0; k; before = k, k = l->next[k - 1]) {
		assert_true(k > before);
		if (k == needle + 1)
			return true;
	}
	return false;
}

/* No needle whose first bytes are in the text is passed over, even where the text ends in it, and a
 * needle that only certain bytes may follow is found before these. */
static void test_candidates(void **state)
{
	static const struct byteset letters = { { 0, UINT64_C(0x07fffffe07fffffe) } };
	uint64_t seed = 4;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		char bytes[LONGEST], small[NEEDLES][16];
		struct needle needles[NEEDLES];
		const unsigned n = 1 + next_random(&seed) % (round % 7 ? 6 : NEEDLES);
		const struct str text =
			guarded(random_text(bytes, next_random(&seed) % LONGEST, &seed));
		struct literals l;

		random_needles(needles, small, n, round, &seed);
		for (unsigned i = 0; i < n; i++)
			needles[i].after = round % 2 ? &letters : NULL;
		assert_int_equal(literals_init(&l, needles, n), 0);
		for (unsigned kind = 0; (l.kernels = kernels_all(kind)); kind++) {
			unsigned first = 0;
			size_t next = literals_candidate(&l, text, 0, &first);

			for (size_t at = 0; at + l.key <= text.n; at++) {
				for (unsigned i = 0; i < n; i++) {
					const struct needle *k = &needles[i];
					const struct str rest = str_from(text, at);
					const size_t most = k->text.n < rest.n ? k->text.n : rest.n;
					const bool follows =
						!k->after || rest.n <= k->text.n ||
						byteset_has(k->after, (uint8_t)rest.p[k->text.n]);

					if (!follows ||
					    slow_find(str_upto(rest, most), str_upto(k->text, most),
						      k->nocase, 0) == most)
						continue;
					if (at != next || !is_listed(&l, first, i))
						fail_msg("%s: round %u passes over %u at %zu",
							 l.kernels->name, round, i, at);
				}
				if (at == next)
					next = literals_candidate(&l, text, at + 1, &first);
			}
		}
		literals_done(&l);
		guarded_free(text);
	}
}

static struct byteset set_of(const char *members)
{
	struct byteset s = { 0 };

	for (; *members; members++)
		byteset_add(&s, (uint8_t)*members);
	return s;
}

static void test_runs_of_sets(void **state)
{
	static const char *const sets[] = {
		"a", "ab", "AB", "_ ", "zab[{", "\xc3\xa9", "@`", "a\n"
	};
	uint64_t seed = 3;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		char bytes[LONGEST];
		struct byteset run[8];
		const unsigned n = 1 + next_random(&seed) % BYTESETS_MAX;
		const struct str text =
			guarded(random_text(bytes, next_random(&seed) % LONGEST, &seed));
		struct bytesets b;

		for (unsigned i = 0; i < n; i++)
			run[i] = set_of(sets[next_random(&seed) % ARRAY_LEN(sets)]);
		bytesets_init(&b, run, n);
		b.kernels = kernels_all(0);

		const size_t want = bytesets_find(&b, text, 0);

		for (size_t i = 0; i + n <= text.n && want == text.n; i++) {
			unsigned k = 0;

			while (k < n && byteset_has(&run[k], (uint8_t)text.p[i + k]))
				k++;
			assert_true(k < n);
		}
		for (unsigned k = 1; (b.kernels = kernels_all(k)); k++)
			if (bytesets_find(&b, text, 0) != want)
				fail_msg("%s: round %u", b.kernels->name, round);
		guarded_free(text);
	}
}

/* All 256 bytes against sets that the tables hold exactly, and one that they can only widen. */
static void test_each_byte(void **state)
{
	char text[256];
	struct byteset sets[4] = { { { 0, UINT64_C(1) << 33, 0, 0 } },
				   { { ~UINT64_C(0), 0, ~UINT64_C(0), 0 } },
				   { { 0x0123456789abcdef, 0xfedcba9876543210, 0, 0 } },
				   { { 0x8040201008040201, 0x0102040810204080, 0x1122334455667788,
				       0x8877665544332211 } } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		struct bytesets b;

		bytesets_init(&b, &sets[i], 1);
		for (unsigned k = 0; (b.kernels = kernels_all(k)); k++) {
			for (unsigned c = 0; c < 256; c++) {
				memset(text, (int)c, sizeof(text));

				const bool found =
					bytesets_find(&b, (struct str){ text, sizeof(text) }, 0) ==
					0;

				if (byteset_has(&sets[i], c) || i < 3)
					assert_int_equal(found, byteset_has(&sets[i], c));
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_needle),
		cmocka_unit_test(test_each_place_and_length),
		cmocka_unit_test(test_several_needles),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_runs_of_sets),
		cmocka_unit_test(test_each_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
