/* SPDX-License-Identifier: MIT */
/* rules: gathers all shapes into one finder. */

#include "scrub/rules.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/own.h"
#include "scrub/pattern.h"
#include "scrub/variants.h"

enum { DISCORD_SHAPES = 9 * 10, MEMORY = 8 << 20 };

const char *scrub_kind_name(enum scrub_kind kind)
{
	static const char *const names[SCRUB_KIND_COUNT] = {
#define X(id, name) name,
		SCRUB_KINDS(X)
#undef X
	};

	return names[kind];
}

/* Longest first: of two secrets that begin alike the longer one is to be found. */
static int by_length(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return x->begins.n < y->begins.n ? 1 : x->begins.n > y->begins.n ? -1 : 0;
}

static int add_secrets(struct scrub *r, const struct scrub_options *o, struct err *e)
{
	for (size_t i = 0; i < o->secret_count; i++) {
		struct str found[VARIANTS_MAX];
		if (o->secrets[i].n < LIMIT_SCRUB_SECRET_MIN)
			continue;
		if (o->secrets[i].n > LIMIT_SCRUB_SECRET_MAX)
			return err_set(e, ERR_INVALID_ARGUMENTS,
				       "Secret %zu of %zu to be scrubbed has %zu bytes; at most %d "
				       "are possible.",
				       i + 1, o->secret_count, o->secrets[i].n,
				       LIMIT_SCRUB_SECRET_MAX);
		const size_t n = variants_of(o->secrets[i], &r->memory, found);
		for (size_t k = 0; k < n; k++)
			r->shapes[r->count++] = (struct shape){ .begins = found[k],
								.kind = SCRUB_CONFIGURED,
								.flags = SHAPE_WHOLE };
		if (n == 0)
			return err_set(e, ERR_EXECUTION_ERROR,
				       "No memory for the secrets to be scrubbed.");
	}
	qsort(r->shapes, r->count, sizeof *r->shapes, by_length);
	return 0;
}

static int add_patterns(struct scrub *r, struct str patterns, struct err *e)
{
	for (int n = 0;; n++) {
		struct shape s;
		const int got = pattern_next(&patterns, &r->memory, &s, e);
		if (got <= 0)
			return got;
		if (n == LIMIT_SCRUB_PATTERNS)
			return err_set(e, ERR_INVALID_ARGUMENTS,
				       "There are more than %d scrub patterns.",
				       LIMIT_SCRUB_PATTERNS);
		r->shapes[r->count++] = s;
	}
}

/* Discord's bot tokens begin with the base64 of an account's number: its first digit makes the
 * first two characters, its second digit the third, and its third one of ten the fourth. */
static void add_discord(struct scrub *r)
{
	static const char *const first[] = { "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT" };
	static const char second[] = "AEIMQUYcgk";
	static const struct byteset third = { { UINT64_C(0x3f) << '0',
						UINT64_C(0xf) << ('w' - 64) } }; /* wxyz012345 */

	for (size_t i = 0; i < DISCORD_SHAPES; i++) {
		const char text[] = { first[i / 10][0], first[i / 10][1], second[i % 10] };
		r->shapes[r->count++] =
			(struct shape){ .begins = arena_dup(&r->memory, (struct str){ text, 3 }),
					.rest = shape_discord,
					.set = &third,
					.kind = SCRUB_DISCORD,
					.flags = SHAPE_APART };
	}
}

static void add_known(struct scrub *r)
{
	memcpy(r->shapes + r->count, shapes_known, shapes_known_count * sizeof *r->shapes);
	r->count += shapes_known_count;
	add_discord(r);
}

static int fill(struct scrub *r, const struct scrub_options *o, struct err *e)
{
	const size_t most = o->secret_count * VARIANTS_MAX + LIMIT_SCRUB_PATTERNS +
			    shapes_known_count + DISCORD_SHAPES;

	if (o->secret_count > LIMIT_SCRUB_SECRETS)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "There are %zu secrets to be scrubbed; at most %d are possible.",
			       o->secret_count, LIMIT_SCRUB_SECRETS);
	r->shapes = mem_new(most, sizeof *r->shapes);
	if (r->shapes && (add_secrets(r, o, e) < 0 || add_patterns(r, o->patterns, e) < 0))
		return -1;
	if (r->shapes)
		add_known(r);
	if (!r->shapes || r->memory.failed || finder_init(&r->finder, r->shapes, r->count) < 0)
		return err_set(e, ERR_EXECUTION_ERROR, "No memory for the scrubber.");
	return 0;
}

int scrub_new(const struct scrub_options *o, struct scrub **ret, struct err *e)
{
	struct scrub *r = mem_new(1, sizeof *r);

	if (!r)
		return err_set(e, ERR_EXECUTION_ERROR, "No memory for the scrubber.");
	r->memory.max = MEMORY;
	if (fill(r, o, e) < 0) {
		scrub_free(r);
		return -1;
	}
	*ret = r;
	return 0;
}

void scrub_free(struct scrub *rules)
{
	if (!rules)
		return;
	finder_done(&rules->finder);
	mem_free(rules->shapes);
	arena_done(&rules->memory);
	mem_free(rules);
}
