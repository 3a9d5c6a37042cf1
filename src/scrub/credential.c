/* SPDX-License-Identifier: MIT */
/* credential: judges JWTs, Discord's bot tokens, passwords in URLs, Authorization headers and
 * private keys. */

#include "base/limits.h"
#include "scrub/shape.h"

static const struct byteset base64url = { { BYTES_DIGIT | BYTE('-'), BYTES_LETTER | BYTE('_') } };
static const struct byteset dotted = { { BYTES_DIGIT | BYTE('-') | BYTE('.') | BYTE('='),
					 BYTES_LETTER | BYTE('_') } };

/* What credentials in headers consist of (RFC 9110, token68). */
static const struct byteset token68 = { { BYTES_DIGIT | BYTE('-') | BYTE('.') | BYTE('+') |
						  BYTE('/') | BYTE('='),
					  BYTES_LETTER | BYTE('_') | BYTE('~') } };

/* "eyJ" is {" in base64: header and payload are JSON objects. */
enum shape_verdict shape_jwt(const struct shape *s, const struct shape_place *at,
			     struct redaction *ret)
{
	enum { PART = 8 };
	struct rest c = rest_from(at, s->begins.n);
	const size_t head = rest_run(&c, &base64url, LIMIT_SCRUB_JWT_HEAD);
	const bool payload = head >= PART && rest_skip(&c, '.') && rest_skip(&c, 'e') &&
			     rest_skip(&c, 'y') && rest_skip(&c, 'J');

	if (!payload || rest_run(&c, &base64url, PART) < PART)
		return rest_verdict(&c, NO);
	*ret = (struct redaction){ .to = c.i, .swallow = &dotted };
	return rest_verdict(&c, HIT);
}

/* An account's number in base64, a time, and a signature. */
enum shape_verdict shape_discord(const struct shape *s, const struct shape_place *at,
				 struct redaction *ret)
{
	enum { ID = 23, ID_MAX = 28, TIME = 6, TIME_MAX = 7, SIGNATURE = 27 };
	struct rest c = rest_from(at, 0);
	const size_t id = rest_run(&c, &base64url, ID_MAX);

	(void)s;
	if (id < ID || !rest_skip(&c, '.') || rest_run(&c, &base64url, TIME_MAX) < TIME ||
	    !rest_skip(&c, '.') || rest_run(&c, &base64url, SIGNATURE) < SIGNATURE)
		return rest_verdict(&c, NO);
	*ret = (struct redaction){ .to = c.i, .swallow = &base64url };
	return rest_verdict(&c, HIT);
}

/* A placeholder instead of a password: ${X}, $X, <password>, {0}, %s, ***. */
static bool is_placeholder(struct str v)
{
	return v.n == 0 || memchr("$<{*[(", v.p[0], sizeof "$<{*[(" - 1) || str_eq(v, STR("%s")) ||
	       str_starts(v, STR("%(")) || str_find_nocase(v, STR("xxxx")) >= 0 ||
	       str_eq(v, STR("..."));
}

/* scheme://user:password@host, from the "://" on; only the password is replaced. A password may
 * contain an unencoded @ if another one follows before the host. */
enum shape_verdict shape_url(const struct shape *s, const struct shape_place *at,
			     struct redaction *ret)
{
	struct rest c = rest_from(at, s->begins.n);
	size_t colon = 0, host = 0;

	for (; c.i < s->begins.n + LIMIT_SCRUB_AUTHORITY; c.i++) {
		const int b = rest_peek(&c);
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
	*ret = (struct redaction){ .from = colon + 1, .to = host };
	const struct str password = { at->text.p + ret->from, ret->to - ret->from };
	const bool no_host = c.i == host + 1 && rest_peek(&c) != '[';
	return is_placeholder(password) || no_host ? NO : HIT;
}

/* Skip a word in any case. */
static bool skip_word(struct rest *c, const char *w)
{
	size_t n = 0;

	while (w[n] && c->i + n < c->text.n && str_lower(c->text.p[c->i + n]) == w[n])
		n++;
	if (w[n] && c->i + n == c->text.n)
		c->beyond |= !c->final;
	if (w[n])
		return false;
	c->i += n;
	return true;
}

/* authorization: [scheme] credentials; also as a member of JSON or a dictionary. */
static bool header_value(struct rest *c)
{
	(void)rest_skip(c, '\\');
	if (!rest_skip(c, '"'))
		(void)rest_skip(c, '\'');
	if (!rest_blanks(c) || (!rest_skip(c, ':') && !rest_skip(c, '=')))
		return false;
	if (!rest_blanks(c))
		return false;
	(void)rest_skip(c, '\\');
	if (!rest_skip(c, '"'))
		(void)rest_skip(c, '\'');
	return skip_word(c, "basic") || skip_word(c, "token") || skip_word(c, "bot");
}

/* "bearer CREDENTIALS", or an Authorization header of another scheme. */
enum shape_verdict shape_scheme(const struct shape *s, const struct shape_place *at,
				struct redaction *ret)
{
	const bool bearer = s->kind == SCRUB_BEARER;
	const size_t least = bearer ? 16 : 8;
	struct rest c = rest_from(at, s->begins.n);

	if ((!bearer && !header_value(&c)) || rest_peek(&c) != ' ' || !rest_blanks(&c))
		return rest_verdict(&c, NO);

	const size_t from = c.i;
	const size_t n = rest_run(&c, &token68, LIMIT_SCRUB_TOKEN_LOOK);
	bool digit = !bearer;

	/* Prose continues with a word: "bearer authentication-mechanisms". */
	for (size_t i = from; i < c.i; i++)
		digit |= c.text.p[i] >= '0' && c.text.p[i] <= '9';
	*ret = (struct redaction){ .from = from, .to = c.i, .swallow = &token68 };
	return rest_verdict(&c, n >= least && digit ? HIT : NO);
}

static const struct byteset label = { { BYTES_DIGIT | BYTE(' '), BYTES_UPPER } };
static const struct byteset base64 = { { BYTES_DIGIT | BYTE('+') | BYTE('/') | BYTE('='),
					 BYTES_LETTER } };

/* A body as it appears in files, JSON, string literals, diffs and numbered lines; with headers such
 * as "Proc-Type: 4,ENCRYPTED". */
static const struct byteset body = {
	{ BYTES_DIGIT | BYTE('+') | BYTE('/') | BYTE('=') | BYTE(' ') | BYTE('\t') | BYTE('\r') |
		  BYTE('\n') | BYTE('"') | BYTE('\'') | BYTE(',') | BYTE(':') | BYTE('-') |
		  BYTE('.') | BYTE('>') | BYTE('*'),
	  BYTES_LETTER | BYTE('\\') | BYTE('|') | BYTE('_') },
};

static const struct byteset blank = { { BYTE(' ') | BYTE('\r') | BYTE('\n') } };

/* Between the first line and the body of a string literal in a program. */
static const struct byteset glue = {
	{ BYTE(' ') | BYTE('\t') | BYTE('\r') | BYTE('\n') | BYTE('"') | BYTE('\'') | BYTE(',') |
		  BYTE('+') | BYTE('>'),
	  BYTE('|') },
};

/* The end of a line: a real one, or \n or \r\n inside quotes. */
static bool skip_line_end(struct rest *c)
{
	const size_t from = c->i;

	(void)rest_run(c, &blank, LIMIT_SCRUB_TOKEN_LOOK);
	while (rest_peek(c) == '\\' && c->i - from < LIMIT_SCRUB_TOKEN_LOOK) {
		c->i++;
		if (!rest_skip(c, 'n') && !rest_skip(c, 'r') && !rest_skip(c, '\\'))
			return false;
	}
	return c->i > from;
}

/* The first line alone is often only mentioned, as in programs that look for it. What follows must
 * be a body: long enough to be nothing else, or ended by the last line. */
static bool has_body(struct rest *c)
{
	enum { PROOF = 32 };
	const size_t until = c->i + LIMIT_SCRUB_KEY_PROOF;
	const bool lines = skip_line_end(c);
	size_t run = 0;

	if (!lines)
		(void)rest_run(c, &glue, LIMIT_SCRUB_TOKEN_LOOK);
	if (lines && c->text.n - c->i >= 10 && memcmp(c->text.p + c->i, "Proc-Type:", 10) == 0)
		return true;
	for (; c->i < until && run < PROOF; c->i++) {
		const int b = rest_peek(c);
		if (b < 0 || !byteset_has(&body, (char)b))
			return false;
		run = byteset_has(&base64, (char)b) ? run + 1 : 0;
		if (lines && b == '-' && str_starts(str_from(c->text, c->i), STR("-----END ")))
			return true;
	}
	return run == PROOF;
}

enum shape_verdict shape_private_key(const struct shape *s, const struct shape_place *at,
				     struct redaction *ret)
{
	enum { LABEL = 48 };
	struct rest c = rest_from(at, s->begins.n);
	const size_t n = rest_run(&c, &label, LABEL);
	const struct str name = { at->text.p + s->begins.n, n };

	if (c.beyond)
		return MORE;
	if (!str_ends(name, STR("PRIVATE KEY")) && !str_ends(name, STR("PRIVATE KEY BLOCK")))
		return NO;
	for (int dash = 0; dash < 5; dash++)
		if (!rest_skip(&c, '-'))
			return rest_verdict(&c, NO);
	*ret = (struct redaction){ .to = c.i, .key_body = true };
	return has_body(&c) ? HIT : rest_verdict(&c, NO);
}

/* The length of a last line at the start of text; 0 when there is no such line, -1 when that is not
 * known yet. */
static ptrdiff_t last_line(struct str text, bool final)
{
	enum { LONGEST = 80 };
	const struct str end = STR("-----END ");
	const struct str known = str_upto(text, LONGEST);

	if (!str_starts(known, str_upto(end, known.n)))
		return 0;
	const ptrdiff_t dashes = str_find(str_from(known, end.n), STR("-----"));
	if (dashes >= 0)
		return (ptrdiff_t)end.n + dashes + 5;
	return text.n < LONGEST && !final ? -1 : 0;
}

size_t private_key_body(struct str text, bool final, size_t *left)
{
	size_t i = 0;

	for (; i < text.n && *left; i++, --*left) {
		if (text.p[i] == '-') {
			const ptrdiff_t n = last_line(str_from(text, i), final);
			if (n < 0)
				return i;
			if (n > 0) {
				*left = 0;
				return i + (size_t)n;
			}
		} else if (!byteset_has(&body, text.p[i])) {
			*left = 0;
			return i;
		}
	}
	return i;
}
