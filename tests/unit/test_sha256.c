/* SPDX-License-Identifier: MIT */
/* SHA-256: the published examples, every length around a block, in pieces, fast and slow. */

#include "scratch.h"

#include "base/sha256.h"

static void check(struct str text, const char *expected)
{
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_TEXT];

	sha256_of(text, digest);
	assert_string_equal(sha256_text(digest, hex).p, expected);
}

static void known_answers(void **state)
{
	static char million[1000000];

	(void)state;
	memset(million, 'a', sizeof million);
	for (int slow = 0; slow < 2; slow++) {
		sha256_be_slow(slow);
		check(STR(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
		check(STR("abc"),
		      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
		check(STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
		      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
		check((struct str){ million, sizeof million },
		      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	}
	sha256_be_slow(false);
}

/* Whatever the pieces are, and whichever way it is computed, the digest is the same. */
static void pieces_and_ways_agree(void **state)
{
	char text[300];

	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)(i * 7 + 1);
	for (size_t n = 0; n <= sizeof text; n++) {
		uint8_t whole[SHA256_SIZE], split[SHA256_SIZE];
		sha256_be_slow(true);
		sha256_of((struct str){ text, n }, whole);
		sha256_be_slow(false);
		for (size_t step = 1; step < 140; step += 23) {
			struct sha256 h = sha256_begin();
			for (size_t at = 0; at < n; at += step)
				sha256_add(&h, str_upto((struct str){ text + at, n - at }, step));
			sha256_end(&h, split);
			assert_memory_equal(whole, split, sizeof whole);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(pieces_and_ways_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
