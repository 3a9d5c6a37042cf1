/* SPDX-License-Identifier: MIT */
/* credential: judges JWTs, Discord's bot tokens, passwords in URLs, and Authorization headers. */

#include "base/limits.h"
#include "scrub/cursor.h"
#include "scrub/shape.h"

static const struct byteset base64url = { { BYTES_DIGIT | BYTE('-'), BYTES_LETTER | BYTE('_') } };
static const struct byteset dotted = { { BYTES_DIGIT | BYTE('-') | BYTE('.') | BYTE('='),
					 BYTES_LETTER | BYTE('_') } };

/* What credentials in headers consist of (RFC 9110, token68). */
static const struct byteset token68 = { { BYTES_DIGIT | BYTE('-') | BYTE('.') | BYTE('+') |
						  BYTE('/') | BYTE('='),
					  BYTES_LETTER | BYTE('_') | BYTE('~') } };

/* "eyJ" is how {" begins in base64: header and payload are JSON objects. */
enum verdict shape_jwt(const struct shape *s, const struct place *at, struct find *ret)
{
	enum { PART = 8 };
	struct cursor c = cursor_behind(at, s->begins.n);
	const size_t head = cursor_run(&c, &base64url, LIMIT_SCRUB_JWT_HEAD);
	const bool payload = head >= PART && cursor_skip(&c, '.') && cursor_skip(&c, 'e') &&
			     cursor_skip(&c, 'y') && cursor_skip(&c, 'J');

	if (!payload || cursor_run(&c, &base64url, PART) < PART)
		return cursor_verdict(&c, NO);
	*ret = (struct find){ .to = c.i, .swallow = &dotted };
	return cursor_verdict(&c, HIT);
}

/* An account's number in base64, a time, and a signature. */
enum verdict shape_discord(const struct shape *s, const struct place *at, struct find *ret)
{
	enum { ID = 23, ID_MAX = 28, TIME = 6, TIME_MAX = 7, SIGNATURE = 27 };
	struct cursor c = cursor_behind(at, 0);
	const size_t id = cursor_run(&c, &base64url, ID_MAX);

	(void)s;
	if (id < ID || !cursor_skip(&c, '.') || cursor_run(&c, &base64url, TIME_MAX) < TIME ||
	    !cursor_skip(&c, '.') || cursor_run(&c, &base64url, SIGNATURE) < SIGNATURE)
		return cursor_verdict(&c, NO);
	*ret = (struct find){ .to = c.i, .swallow = &base64url };
	return cursor_verdict(&c, HIT);
}

/* Not a password but a place for one: ${X}, $X, <password>, {0}, %s, ***. */
static bool stands_for_another(struct str v)
{
	return v.n == 0 || memchr("$<{*[(", v.p[0], sizeof "$<{*[(" - 1) || str_eq(v, STR("%s")) ||
	       str_starts(v, STR("%(")) || str_find_nocase(v, STR("xxxx")) >= 0 ||
	       str_eq(v, STR("..."));
}

/* scheme://user:password@host, from the "://" on; only the password is replaced. A password may
 * hold an unencoded @ as long as another one follows before the host. */
enum verdict shape_url(const struct shape *s, const struct place *at, struct find *ret)
{
	struct cursor c = cursor_behind(at, s->begins.n);
	size_t colon = 0, host = 0;

	for (; c.i < s->begins.n + LIMIT_SCRUB_AUTHORITY; c.i++) {
		const int b = cursor_peek(&c);
		if (b <= ' ' || b >= 0x7f || strchr("/?#\"'<>`\\,;|()[]", b))
			break;
		if (b == '@')
			host = c.i;
		else if (b == ':' && !colon)
			colon = c.i;
		if (host && !colon) /* a name alone */
			return NO;
	}
	if (c.beyond)
		return MORE;
	if (!colon || host < colon)
		return NO;
	*ret = (struct find){ .from = colon + 1, .to = host };
	const struct str password = { at->text.p + ret->from, ret->to - ret->from };
	const bool no_host = c.i == host + 1 && cursor_peek(&c) != '[';
	return stands_for_another(password) || no_host ? NO : HIT;
}

/* Skip a word whatever its case. */
static bool skip_word(struct cursor *c, const char *w)
{
	size_t n = 0;

	while (w[n] && c->i + n < c->text.n && lower_case(c->text.p[c->i + n]) == w[n])
		n++;
	if (w[n] && c->i + n == c->text.n)
		c->beyond |= !c->final;
	if (w[n])
		return false;
	c->i += n;
	return true;
}

/* authorization: [scheme] credentials; also as a member of JSON or a dictionary. */
static bool header_value(struct cursor *c)
{
	(void)cursor_skip(c, '\\');
	if (!cursor_skip(c, '"'))
		(void)cursor_skip(c, '\'');
	if (!cursor_blanks(c) || (!cursor_skip(c, ':') && !cursor_skip(c, '=')))
		return false;
	if (!cursor_blanks(c))
		return false;
	(void)cursor_skip(c, '\\');
	if (!cursor_skip(c, '"'))
		(void)cursor_skip(c, '\'');
	return skip_word(c, "basic") || skip_word(c, "token") || skip_word(c, "bot");
}

/* "bearer CREDENTIALS", or an Authorization header of another scheme. */
enum verdict shape_scheme(const struct shape *s, const struct place *at, struct find *ret)
{
	const bool bearer = s->kind == SCRUB_BEARER;
	const size_t least = bearer ? 16 : 8;
	struct cursor c = cursor_behind(at, s->begins.n);

	if ((!bearer && !header_value(&c)) || cursor_peek(&c) != ' ' || !cursor_blanks(&c))
		return cursor_verdict(&c, NO);

	const size_t from = c.i;
	const size_t n = cursor_run(&c, &token68, LIMIT_SCRUB_TOKEN_LOOK);
	bool digit = !bearer;

	/* Prose goes on with a word: "bearer authentication-mechanisms". */
	for (size_t i = from; i < c.i; i++)
		digit |= c.text.p[i] >= '0' && c.text.p[i] <= '9';
	*ret = (struct find){ .from = from, .to = c.i, .swallow = &token68 };
	return cursor_verdict(&c, n >= least && digit ? HIT : NO);
}
