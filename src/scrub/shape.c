/* SPDX-License-Identifier: MIT */
/* shape: the table of well-known shapes, and the judge of plain tokens. */

#include "scrub/shape.h"

#include "base/own.h"
#include "scrub/limits.h"

static const struct byteset alnum = { { BYTES_DIGIT, BYTES_LETTER } };
static const struct byteset upper = { { BYTES_DIGIT, BYTES_UPPER } };
static const struct byteset word = { { BYTES_DIGIT, BYTES_LETTER | BYTE('_') } };
const struct byteset bytes_dashed = { { BYTES_DIGIT | BYTE('-'), BYTES_LETTER | BYTE('_') } };
const struct byteset bytes_base64 = { { BYTES_DIGIT | BYTE('+') | BYTE('/') | BYTE('='),
					BYTES_LETTER } };
static const struct byteset path = { { BYTES_DIGIT | BYTE('-') | BYTE('/'),
				       BYTES_LETTER | BYTE('_') } };

/* clang-format off */
#define TOKEN(text, of, least, k, ...)                                                             \
	{ .begins = STR(text), .rest = shape_token, .set = &(of), .min = (least), .kind = (k),     \
	  __VA_ARGS__ }
#define NAMED(text, at, k)                                                                         \
	{ .begins = STR(text), .rest = shape_assignment, .key = (at), .kind = (k),                 \
	  .flags = SHAPE_NOCASE | SHAPE_WEAK }
/* clang-format on */

/* Where nothing else looks like a token, less than its real length is enough: a token that was cut
 * short is still most of a secret. */
const struct shape shapes_known[] = {
	/* clang-format off */
	TOKEN("AKIA", upper, 16, SCRUB_AWS_KEY, .max = 16, .flags = SHAPE_APART),
	TOKEN("ASIA", upper, 16, SCRUB_AWS_KEY, .max = 16, .flags = SHAPE_APART),
	TOKEN("AIza", bytes_dashed, 30, SCRUB_GOOGLE, .flags = SHAPE_APART),
	TOKEN("ya29.", bytes_dashed, 20, SCRUB_GOOGLE, .flags = SHAPE_APART),
	TOKEN("GOCSPX-", bytes_dashed, 20, SCRUB_GOOGLE, .key = 2),
	TOKEN("AccountKey=", bytes_base64, 40, SCRUB_AZURE, .key = 6, .flags = SHAPE_KEEP),
	TOKEN("SharedAccessKey=", bytes_base64, 40, SCRUB_AZURE, .key = 10, .flags = SHAPE_KEEP),
	TOKEN("SharedSecretKey=", bytes_base64, 40, SCRUB_AZURE, .key = 7, .flags = SHAPE_KEEP),
	TOKEN("ghp_", alnum, 20, SCRUB_GITHUB),
	TOKEN("gho_", alnum, 20, SCRUB_GITHUB),
	TOKEN("ghu_", alnum, 20, SCRUB_GITHUB),
	TOKEN("ghs_", alnum, 20, SCRUB_GITHUB),
	TOKEN("ghr_", alnum, 20, SCRUB_GITHUB),
	TOKEN("github_pat_", word, 20, SCRUB_GITHUB, .key = 5, .flags = SHAPE_DIGITS),
	TOKEN("glpat-", bytes_dashed, 16, SCRUB_GITLAB),
	TOKEN("gldt-", bytes_dashed, 16, SCRUB_GITLAB, .flags = SHAPE_APART),
	TOKEN("glrt-", bytes_dashed, 16, SCRUB_GITLAB, .flags = SHAPE_APART),
	TOKEN("glptt-", bytes_dashed, 16, SCRUB_GITLAB, .flags = SHAPE_APART),
	TOKEN("glcbt-", bytes_dashed, 16, SCRUB_GITLAB, .flags = SHAPE_APART),
	TOKEN("npm_", alnum, 30, SCRUB_REGISTRY, .flags = SHAPE_APART),
	TOKEN("pypi-AgE", bytes_dashed, 30, SCRUB_REGISTRY),
	TOKEN("sk-ant-", bytes_dashed, 16, SCRUB_MODEL, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("sk-proj-", bytes_dashed, 20, SCRUB_MODEL, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("sk-svcacct-", bytes_dashed, 20, SCRUB_MODEL, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("sk-admin-", bytes_dashed, 20, SCRUB_MODEL, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("sk-or-v1-", bytes_dashed, 20, SCRUB_MODEL, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("sk-", alnum, 20, SCRUB_MODEL, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("hf_", alnum, 30, SCRUB_MODEL, .flags = SHAPE_APART),
	TOKEN("gsk_", alnum, 30, SCRUB_MODEL, .key = 1, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("xoxa-", bytes_dashed, 10, SCRUB_SLACK, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("xoxb-", bytes_dashed, 10, SCRUB_SLACK, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("xoxc-", bytes_dashed, 10, SCRUB_SLACK, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("xoxe-", bytes_dashed, 10, SCRUB_SLACK, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("xoxp-", bytes_dashed, 10, SCRUB_SLACK, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("xoxr-", bytes_dashed, 10, SCRUB_SLACK, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("xoxs-", bytes_dashed, 10, SCRUB_SLACK, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("xapp-", bytes_dashed, 20, SCRUB_SLACK, .flags = SHAPE_APART | SHAPE_DIGITS),
	TOKEN("hooks.slack.com/services/T", path, 20, SCRUB_SLACK, .key = 5, .flags = SHAPE_KEEP),
	TOKEN("/api/webhooks/", path, 60, SCRUB_DISCORD, .key = 6,
	      .flags = SHAPE_KEEP | SHAPE_DIGITS),
	TOKEN("sk_live_", alnum, 16, SCRUB_PAYMENT, .key = 2),
	TOKEN("rk_live_", alnum, 16, SCRUB_PAYMENT, .key = 2),
	TOKEN("sk_test_", alnum, 16, SCRUB_PAYMENT, .key = 1),
	TOKEN("rk_test_", alnum, 16, SCRUB_PAYMENT, .key = 1),
	TOKEN("whsec_", alnum, 24, SCRUB_PAYMENT, .flags = SHAPE_APART),
	{ .begins = STR("eyJ"), .rest = shape_jwt, .set = &bytes_dashed, .kind = SCRUB_JWT,
	  .flags = SHAPE_APART },
	{ .begins = STR("-----BEGIN "), .rest = shape_private_key, .key = 4,
	  .kind = SCRUB_PRIVATE_KEY },
	{ .begins = STR("://"), .rest = shape_url, .kind = SCRUB_BASIC_AUTH },
	{ .begins = STR("bearer"), .rest = shape_scheme, .kind = SCRUB_BEARER,
	  .flags = SHAPE_NOCASE | SHAPE_WEAK | SHAPE_APART },
	{ .begins = STR("authorization"), .rest = shape_scheme, .key = 5, .kind = SCRUB_BASIC_AUTH,
	  .flags = SHAPE_NOCASE | SHAPE_WEAK },
	NAMED("secret_access_key", 1, SCRUB_AWS_SECRET),
	NAMED("secretaccesskey", 1, SCRUB_AWS_SECRET),
	NAMED("password", 2, SCRUB_ASSIGNED),
	NAMED("passwd", 2, SCRUB_ASSIGNED),
	NAMED("passphrase", 3, SCRUB_ASSIGNED),
	NAMED("_pass", 1, SCRUB_ASSIGNED),
	{ .begins = STR("_PWD="), .rest = shape_assignment, .key = 1, .kind = SCRUB_ASSIGNED,
	  .flags = SHAPE_WEAK },
	NAMED("secret", 1, SCRUB_ASSIGNED),
	NAMED("token", 0, SCRUB_ASSIGNED),
	NAMED("api_key", 2, SCRUB_ASSIGNED),
	NAMED("api-key", 2, SCRUB_ASSIGNED),
	NAMED("apikey", 1, SCRUB_ASSIGNED),
	NAMED("access_key", 5, SCRUB_ASSIGNED),
	NAMED("access-key", 5, SCRUB_ASSIGNED),
	NAMED("accesskey", 4, SCRUB_ASSIGNED),
	NAMED("private_key", 6, SCRUB_ASSIGNED),
	NAMED("private-key", 6, SCRUB_ASSIGNED),
	NAMED("privatekey", 6, SCRUB_ASSIGNED),
	/* clang-format on */
};

const size_t shapes_known_count = ARRAY_LEN(shapes_known);

/* Whether no name or number ends just before the place. The n of "\n" inside quotes is not a name.
 */
static bool stands_apart(const struct shape_place *at)
{
	if (!byteset_has(&word, at->before[0]))
		return true;
	return at->before[1] == '\\' && memchr("nrt", at->before[0], sizeof "nrt" - 1);
}

enum shape_verdict shape_at(const struct shape *s, const struct shape_place *at,
			    struct redaction *ret)
{
	const size_t n = at->text.n < s->begins.n ? at->text.n : s->begins.n;

	for (size_t i = 0; i < n; i++) {
		const char c = at->text.p[i];
		if ((s->flags & SHAPE_NOCASE ? str_lower(c) : c) != s->begins.p[i])
			return NO;
	}
	if ((s->flags & SHAPE_APART) && !stands_apart(at))
		return NO;
	if (n < s->begins.n)
		return at->final ? NO : MORE;
	*ret = (struct redaction){ .to = n };
	return s->flags & SHAPE_WHOLE ? HIT : s->rest(s, at, ret);
}

enum shape_verdict shape_token(const struct shape *s, const struct shape_place *at,
			       struct redaction *ret)
{
	enum { LOOK = LIMIT_SCRUB_TOKEN_LOOK, DIGITS = 2 };
	const size_t open = s->min > LOOK ? s->min : LOOK;
	const size_t look = s->max ? (size_t)s->max + 1 : open;
	struct rest r = rest_from(at, s->begins.n);
	size_t n = 0, digits = 0;
	bool enough;

	for (;; n++, r.i++) {
		enough = n >= s->min && (digits >= DIGITS || !(s->flags & SHAPE_DIGITS));
		if (n == look || (enough && !s->max))
			break;
		const int b = rest_peek(&r);
		if (b < 0 || !byteset_has(s->set, (char)b))
			break;
		digits += b >= '0' && b <= '9';
	}
	if (!enough || (s->max && n > s->max))
		return rest_verdict(&r, NO);
	*ret = (struct redaction){ .from = s->flags & SHAPE_KEEP ? s->begins.n : 0,
				   .to = r.i,
				   .swallow = s->max ? NULL : s->set };
	return rest_verdict(&r, HIT);
}
