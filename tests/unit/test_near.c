/* SPDX-License-Identifier: MIT */
/* Distances between words, and the word that was probably meant. */

#include "unit.h"

#include "base/str.h"
#include "base/own.h"

static const struct {
	const char *a, *b;
	size_t distance;
} distances[] = {
	{ "", "", 0 },
	{ "a", "", 1 },
	{ "", "abc", 3 },
	{ "grep", "grep", 0 },
	{ "gerp", "grep", 1 },
	{ "grepp", "grep", 1 },
	{ "rep", "grep", 1 },
	{ "gref", "grep", 1 },
	{ "serve", "version", 5 },
	{ "abcd", "badc", 2 },
	{ "0123456789012345678901234567890123", "x", 32 },
	{ "0123456789012345678901234567890123", "0123456789012345678901234567890123", 0 },
};

static void distances_count_edits_both_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(distances); i++) {
		const struct str a = guarded(str_of(distances[i].a));
		const struct str b = str_of(distances[i].b);
		if (near_distance(a, b) != distances[i].distance ||
		    near_distance(b, a) != distances[i].distance)
			fail_msg("\"%s\" and \"%s\": %zu", distances[i].a, distances[i].b,
				 near_distance(a, b));
		guarded_free(a);
	}
}

static const struct {
	const char *word, *best;
} guesses[] = {
	{ "raed", "read" },   { "wrok", "work" }, { "x", NULL },  { "reed", "read" },
	{ "zzzzzz", NULL },   { "", NULL },	  { "wo", NULL }, { "workspcae", "workspace" },
	{ "spaec", "space" }, { "ead", "read" },
};

static void a_word_finds_its_neighbour(void **state)
{
	static const char *const known[] = { "read", "write", "work", "space", "workspace" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(guesses); i++) {
		struct near near = near_to(str_of(guesses[i].word));
		for (size_t j = 0; j < ARRAY_LEN(known); j++)
			near_try(&near, known[j]);
		if (!guesses[i].best != !near.best ||
		    (near.best && strcmp(near.best, guesses[i].best) != 0))
			fail_msg("%s: %s", guesses[i].word, near.best ? near.best : "nothing");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_count_edits_both_ways),
		cmocka_unit_test(a_word_finds_its_neighbour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
