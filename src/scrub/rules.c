/* SPDX-License-Identifier: MIT */
/* rules: gather all shapes: secrets in all their spellings, patterns, known ones. */

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/jw.h"
#include "base/own.h"
#include "base/utf8.h"
#include "scrub/limits.h"
#include "scrub/shape.h"

/* pattern: the operator's own shapes of secrets.
 *
 *	acme-token: acme_[A-Za-z0-9]{32}
 *	ticket:     TCK-[0-9A-F-]{8,64}		# at least 8, at most 64
 *	session:    sess\[[a-z]{20,}		# at least 20, and all that follow
 *
 * A name for the mark (lower-case letters, digits, dashes), a colon, at least three literal
 * characters, a class of ASCII characters, and how many of them follow. If there is a maximum, one
 * more character of the class means that it is something else. A backslash makes the next character
 * literal; # begins a comment at the start of a line and after a pattern; a newline or a semicolon
 * ends a pattern.
 */

struct pattern_parser {
	struct str rest;
	const char *wrong; /* the reason of a refusal; pattern_next adds the line */
};

static int peek(const struct pattern_parser *p)
{
	return p->rest.n ? (unsigned char)p->rest.p[0] : -1;
}

static int take(struct pattern_parser *p)
{
	const int c = peek(p);

	p->rest = str_from(p->rest, 1);
	return c;
}

static bool refuse(struct pattern_parser *p, const char *why)
{
	p->wrong = why;
	return false;
}

static void skip_blanks(struct pattern_parser *p)
{
	while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\r')
		(void)take(p);
}

static void skip_comment(struct pattern_parser *p)
{
	skip_blanks(p);
	if (peek(p) == '#')
		while (peek(p) >= 0 && peek(p) != '\n')
			(void)take(p);
}

static bool is_name(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

static bool parse_name(struct pattern_parser *p, struct str *name)
{
	*name = p->rest;
	while (is_name(peek(p)))
		(void)take(p);
	name->n -= p->rest.n;
	if (name->n == 0 || name->n > LIMIT_SCRUB_PATTERN_NAME)
		return refuse(p, "it must begin with a name of 1 to 32 lower-case letters, digits "
				 "and dashes");
	skip_blanks(p);
	if (take(p) != ':')
		return refuse(p, "a colon must follow the name");
	skip_blanks(p);
	return true;
}

/* One character, or the one after a backslash; -1 at the end of the line. */
static int take_char(struct pattern_parser *p)
{
	if (peek(p) == '\\')
		(void)take(p);
	return peek(p) == '\n' ? -1 : take(p);
}

static bool parse_prefix(struct pattern_parser *p, struct buf *prefix)
{
	while (peek(p) != '[') {
		const int c = peek(p) == ';' ? -1 : take_char(p);
		if (c < 0)
			return refuse(p, "a class in [brackets] must follow the characters at the "
					 "beginning");
		buf_addc(prefix, (char)c);
	}
	if (prefix->n < SHAPE_KEY || prefix->failed)
		return refuse(p, "3 to 256 characters must stand before the class");
	(void)take(p);
	return true;
}

static bool parse_class(struct pattern_parser *p, struct byteset *set)
{
	bool any = false;

	if (peek(p) == '^')
		return refuse(p, "a class says which characters belong to it; [^...] is not known");
	while (peek(p) != ']') {
		const int from = take_char(p);
		int to = from;
		if (peek(p) == '-' && p->rest.n > 1 && p->rest.p[1] != ']') {
			(void)take(p);
			to = take_char(p);
		}
		if (from < 0 || to < 0)
			return refuse(p, "the class is not closed by ]");
		if (from <= ' ' || to >= 0x7f || from > to)
			return refuse(p, "a class has printable ASCII characters and rising ranges "
					 "only");
		for (int c = from; c <= to; c++)
			byteset_add(set, (unsigned char)c);
		any = true;
	}
	(void)take(p);
	return any || refuse(p, "the class is empty");
}

static bool parse_number(struct pattern_parser *p, uint16_t *ret)
{
	unsigned n = 0;

	if (peek(p) < '0' || peek(p) > '9')
		return false;
	while (peek(p) >= '0' && peek(p) <= '9' && n <= LIMIT_SCRUB_PATTERN_RUN)
		n = n * 10 + (unsigned)(take(p) - '0');
	*ret = (uint16_t)n;
	return n >= 1 && n <= LIMIT_SCRUB_PATTERN_RUN;
}

static bool parse_count(struct pattern_parser *p, struct shape *s)
{
	static const char why[] =
		"how many follow must be written {8}, {8,} or {8,64}, with numbers "
		"from 1 to 1024";

	if (take(p) != '{' || !parse_number(p, &s->min))
		return refuse(p, why);
	if (peek(p) != ',')
		s->max = s->min;
	else if (take(p) && peek(p) != '}' && (!parse_number(p, &s->max) || s->max < s->min))
		return refuse(p, why);
	if (take(p) != '}')
		return refuse(p, why);
	skip_comment(p);
	if (peek(p) >= 0 && peek(p) != '\n' && peek(p) != ';')
		return refuse(p, "nothing may follow the count but a comment");
	return true;
}

/* Take the next pattern from the front of *rest. 1: *ret is set, its memory is the arena's; 0:
 * there is no further pattern; -1: it is invalid. */
static int pattern_next(struct str *rest, struct arena *a, struct shape *ret, struct err *e)
{
	enum { PREFIX_MAX = 256, SHOWN = 120 };
	struct pattern_parser p = { .rest = *rest };
	AUTO_BUF prefix = { .max = PREFIX_MAX };
	struct byteset *set = arena_array(a, 1, sizeof *set);
	struct shape s = { .rest = shape_token, .set = set, .kind = SCRUB_PATTERN };
	struct str name, line, tail;

	for (skip_comment(&p); peek(&p) == '\n' || peek(&p) == ';'; skip_comment(&p))
		(void)take(&p);
	if (peek(&p) < 0)
		return 0;
	(void)str_cut(p.rest, '\n', &line, &tail);
	if (set && !(parse_name(&p, &name) && parse_prefix(&p, &prefix) && parse_class(&p, set) &&
		     parse_count(&p, &s)))
		return err_set(e, ERR_INVALID_ARGUMENTS, "Scrub pattern \"%.*s\": %s.",
			       STR_FMT(str_upto(line, SHOWN)), p.wrong);
	if (set) {
		s.name = arena_dup(a, name).p;
		s.begins = arena_dup(a, buf_str(&prefix));
	}
	if (a->failed)
		return err_set(e, ERR_EXECUTION_ERROR, "No memory for the scrub patterns.");
	*rest = p.rest;
	*ret = s;
	return 1;
}

enum { DISCORD_SHAPES = 9 * 10, MEMORY = 8 << 20 };

/* The spellings of a secret: as it is; URL-encoded (%2F and %2f, and with + for a blank); as in
 * JSON; and in base64, three times in each alphabet: encoded together with what surrounds it, a
 * secret may begin at any of three places of a group. */
enum { VARIANTS_MAX = 11, ENCODED_MAX = LIMIT_SCRUB_SECRET_MAX * 6 + 16 };

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* With `lead` unknown bytes before the secret in its group of three: only the digits that the
 * secret alone determines. */
static void add_base64(struct buf *to, struct str s, size_t lead, const char *digits)
{
	const size_t first = (lead * 8 + 5) / 6, end = (lead + s.n) * 8 / 6;

	for (size_t i = first; i < end; i++) {
		/* Six bits from one byte or from two. */
		const size_t bit = i * 6 - lead * 8, at = bit / 8;
		const unsigned two = (unsigned)(unsigned char)s.p[at] << 8 |
				     (at + 1 < s.n ? (unsigned char)s.p[at + 1] : 0);
		buf_addc(to, digits[two >> (10 - bit % 8) & 63]);
	}
}

static void add_url(struct buf *to, struct str s, const char *hex, bool form)
{
	for (size_t i = 0; i < s.n; i++) {
		const unsigned char c = (unsigned char)s.p[i];
		const unsigned char l = c | 0x20;
		const bool plain = (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') ||
				   (c && strchr("-._~", c));
		if (plain) {
			buf_addc(to, s.p[i]);
		} else if (form && c == ' ') {
			buf_addc(to, '+');
		} else {
			buf_addc(to, '%');
			buf_addc(to, hex[c >> 4]);
			buf_addc(to, hex[c & 15]);
		}
	}
}

static void encode(struct buf *to, struct str s, unsigned way)
{
	switch (way) {
	case 0:
		buf_add(to, s);
		break;
	case 1:
		add_url(to, s, "0123456789ABCDEF", false);
		break;
	case 2:
		add_url(to, s, "0123456789abcdef", false);
		break;
	case 3:
		add_url(to, s, "0123456789ABCDEF", true);
		break;
	case 4:
		jw_escape(to, s);
		break;
	default:
		add_base64(to, s, (way - 5) % 3, way < 8 ? standard : url_safe);
		break;
	}
}

/* The different spellings; how many, or 0 when there is no memory. */
static size_t variants_of(struct str secret, struct arena *a, struct str variants[VARIANTS_MAX])
{
	AUTO_BUF b = { .max = ENCODED_MAX };
	size_t n = 0;

	for (unsigned way = 0; way < VARIANTS_MAX; way++) {
		bool known = false;
		buf_reset(&b, ENCODED_MAX);
		encode(&b, secret, way);
		if (b.failed)
			return 0;
		for (size_t i = 0; i < n; i++)
			known |= str_eq(variants[i], buf_str(&b));
		if (!known)
			variants[n++] = arena_dup(a, buf_str(&b));
	}
	return a->failed ? 0 : n;
}

/* Longest first: of two secrets that begin alike the longer one is found. */
static int by_length(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return x->begins.n < y->begins.n ? 1 : x->begins.n > y->begins.n ? -1 : 0;
}

static int add_secrets(struct scrub *r, const struct str *secrets, size_t count, struct err *e)
{
	for (size_t i = 0; i < count; i++) {
		struct str found[VARIANTS_MAX];
		if (secrets[i].n < LIMIT_SCRUB_SECRET_MIN)
			continue;
		if (secrets[i].n > LIMIT_SCRUB_SECRET_MAX)
			return err_set(e, ERR_INVALID_ARGUMENTS,
				       "Secret %zu of %zu to be scrubbed has %zu bytes; at most %d "
				       "are possible.",
				       i + 1, count, secrets[i].n, LIMIT_SCRUB_SECRET_MAX);
		const size_t n = variants_of(secrets[i], &r->memory, found);
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

/* Discord's bot tokens begin with the base64 of an account's number: its first digit determines the
 * first two characters, its second digit the third, and its third digit which of ten the fourth is.
 */
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

static int add_keys(struct scrub *r)
{
	struct needle *needles = arena_array(&r->memory, r->count, sizeof *needles);

	for (size_t i = 0; needles && i < r->count; i++) {
		const struct shape *s = &r->shapes[i];
		const unsigned char c = (unsigned char)s->begins.p[0];
		const bool nocase = s->flags & SHAPE_NOCASE;

		needles[i] = (struct needle){ .text = str_from(s->begins, s->key),
					      .nocase = nocase,
					      .after = s->set };
		byteset_add(&r->initial, c);
		if (nocase && c >= 'a' && c <= 'z')
			byteset_add(&r->initial, c & (unsigned char)~0x20);
		if (s->key > r->reach)
			r->reach = s->key;
	}
	return needles ? literals_init(&r->keys, needles, r->count) : -1;
}

int rules_init(struct scrub *r, const struct str *secrets, size_t secret_count, struct str patterns,
	       struct err *e)
{
	const size_t most = secret_count * VARIANTS_MAX + LIMIT_SCRUB_PATTERNS +
			    shapes_known_count + DISCORD_SHAPES;

	if (secret_count > LIMIT_SCRUB_SECRETS)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "There are %zu secrets to be scrubbed; at most %d are possible.",
			       secret_count, LIMIT_SCRUB_SECRETS);
	r->memory.max = MEMORY;
	r->shapes = mem_new(most, sizeof *r->shapes);
	if (r->shapes) {
		if (add_secrets(r, secrets, secret_count, e) < 0 ||
		    add_patterns(r, patterns, e) < 0)
			return -1;
		add_known(r);
	}
	if (!r->shapes || r->memory.failed || add_keys(r) < 0)
		return err_set(e, ERR_EXECUTION_ERROR, "No memory for the scrubber.");
	return 0;
}

void rules_done(struct scrub *r)
{
	literals_done(&r->keys);
	mem_free(r->shapes);
	arena_done(&r->memory);
}

/* Whether the text, which is shorter, is how the shape begins. */
static bool begins_like(const struct shape *s, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		const char c = s->flags & SHAPE_NOCASE ? str_lower(text.p[i]) : text.p[i];
		if (c != s->begins.p[i])
			return false;
	}
	return true;
}

size_t rules_tail(const struct scrub *r, struct str text, size_t from)
{
	const size_t most = r->reach + r->keys.key - 1;
	size_t at = text.n - from > most ? text.n - most : from;

	for (; at < text.n; at++) {
		if (!byteset_has(&r->initial, text.p[at]))
			continue;
		for (size_t i = 0; i < r->count; i++) {
			const struct shape *s = &r->shapes[i];

			if (text.n - at < s->key + r->keys.key &&
			    begins_like(s, str_from(text, at)))
				return from + utf8_whole(str_from(str_upto(text, at), from));
		}
	}
	return text.n;
}
