/* SPDX-License-Identifier: MIT */
/* credential: judges JWTs, Discord's bot tokens, passwords in URLs, Authorization headers and
 * private keys. */

#include "scrub/limits.h"
#include "scrub/shape.h"

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
	struct rest r = rest_from(at, s->begins.n);
	const size_t head = rest_run(&r, &bytes_dashed, LIMIT_SCRUB_JWT_HEAD);
	const bool payload = head >= PART && rest_skip(&r, '.') && rest_skip(&r, 'e') &&
			     rest_skip(&r, 'y') && rest_skip(&r, 'J');

	if (!payload || rest_run(&r, &bytes_dashed, PART) < PART)
		return rest_verdict(&r, NO);
	*ret = (struct redaction){ .to = r.i, .swallow = &dotted };
	return rest_verdict(&r, HIT);
}

/* An account's number in base64, a time, and a signature. */
enum shape_verdict shape_discord(const struct shape *s, const struct shape_place *at,
				 struct redaction *ret)
{
	enum { ID = 23, ID_MAX = 28, TIME = 6, TIME_MAX = 7, SIGNATURE = 27 };
	struct rest r = rest_from(at, 0);
	const size_t id = rest_run(&r, &bytes_dashed, ID_MAX);

	(void)s;
	if (id < ID || !rest_skip(&r, '.') || rest_run(&r, &bytes_dashed, TIME_MAX) < TIME ||
	    !rest_skip(&r, '.') || rest_run(&r, &bytes_dashed, SIGNATURE) < SIGNATURE)
		return rest_verdict(&r, NO);
	*ret = (struct redaction){ .to = r.i, .swallow = &bytes_dashed };
	return rest_verdict(&r, HIT);
}

/* A placeholder instead of a password: ${X}, $X, <password>, {0}, %s, ***. */
static bool is_placeholder(struct str v)
{
	return v.n == 0 || memchr("$<{*[(", v.p[0], sizeof "$<{*[(" - 1) || str_eq(v, STR("%s")) ||
	       str_starts(v, STR("%(")) || str_find_nocase(v, STR("xxxx")) >= 0 ||
	       str_eq(v, STR("..."));
}

/* What ends an address in a text. Before the @ a password may contain it; after a port it ends. */
static bool ends_authority(struct str text, size_t colon, size_t host, size_t i)
{
	size_t port = colon + 1;

	if (!strchr(",;|", text.p[i]))
		return strchr("/?#\"'<>`\\()[]", text.p[i]);
	while (port < i && text.p[port] >= '0' && text.p[port] <= '9')
		port++;
	return !colon || host || port == i;
}

/* scheme://user:password@host, from the "://" on; only the password is replaced. A password may
 * contain an unencoded @ if another one follows before the host. */
enum shape_verdict shape_url(const struct shape *s, const struct shape_place *at,
			     struct redaction *ret)
{
	struct rest r = rest_from(at, s->begins.n);
	size_t colon = 0, host = 0;

	for (; r.i < s->begins.n + LIMIT_SCRUB_AUTHORITY; r.i++) {
		const int b = rest_peek(&r);
		if (b <= ' ' || b >= 0x7f || ends_authority(at->text, colon, host, r.i))
			break;
		if (b == '@')
			host = r.i;
		else if (b == ':' && !colon)
			colon = r.i;
		if (host && !colon) /* a name alone */
			return NO;
	}
	if (r.beyond)
		return MORE;
	if (!colon || host < colon)
		return NO;
	*ret = (struct redaction){ .from = colon + 1, .to = host };
	const struct str password = { at->text.p + ret->from, ret->to - ret->from };
	const bool no_host = r.i == host + 1 && rest_peek(&r) != '[';
	return is_placeholder(password) || no_host ? NO : HIT;
}

/* Skip a word in any case. */
static bool skip_word(struct rest *r, const char *w)
{
	size_t n = 0;

	while (w[n] && r->i + n < r->text.n && str_lower(r->text.p[r->i + n]) == w[n])
		n++;
	if (w[n] && r->i + n == r->text.n)
		r->beyond |= !r->final;
	if (w[n])
		return false;
	r->i += n;
	return true;
}

/* authorization: [scheme] credentials; also as a member of JSON or a dictionary. */
static bool header_value(struct rest *r)
{
	rest_quote(r);
	if (!rest_blanks(r) || (!rest_skip(r, ':') && !rest_skip(r, '=')))
		return false;
	if (!rest_blanks(r))
		return false;
	rest_quote(r);
	return skip_word(r, "basic") || skip_word(r, "token") || skip_word(r, "bot");
}

/* "bearer CREDENTIALS", or an Authorization header of another scheme. */
enum shape_verdict shape_scheme(const struct shape *s, const struct shape_place *at,
				struct redaction *ret)
{
	const bool bearer = s->kind == SCRUB_BEARER;
	const size_t least = bearer ? 16 : 8;
	struct rest r = rest_from(at, s->begins.n);

	if ((!bearer && !header_value(&r)) || rest_peek(&r) != ' ' || !rest_blanks(&r))
		return rest_verdict(&r, NO);

	const size_t from = r.i;
	const size_t n = rest_run(&r, &token68, LIMIT_SCRUB_TOKEN_LOOK);
	bool digit = !bearer;

	/* Prose continues with a word: "bearer authentication-mechanisms". */
	for (size_t i = from; i < r.i; i++)
		digit |= r.text.p[i] >= '0' && r.text.p[i] <= '9';
	*ret = (struct redaction){ .from = from, .to = r.i, .swallow = &token68 };
	return rest_verdict(&r, n >= least && digit ? HIT : NO);
}

static const struct byteset label = { { BYTES_DIGIT | BYTE(' '), BYTES_UPPER } };

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
static bool skip_line_end(struct rest *r)
{
	const size_t from = r->i;

	(void)rest_run(r, &blank, LIMIT_SCRUB_TOKEN_LOOK);
	while (rest_peek(r) == '\\' && r->i - from < LIMIT_SCRUB_TOKEN_LOOK) {
		r->i++;
		if (!rest_skip(r, 'n') && !rest_skip(r, 'r') && !rest_skip(r, '\\'))
			return false;
	}
	return r->i > from;
}

/* The first line alone is often only mentioned, as in programs that look for it. What follows must
 * be a body: long enough to be nothing else, or ended by the last line. */
static bool has_body(struct rest *r)
{
	enum { PROOF = 32 };
	const size_t until = r->i + LIMIT_SCRUB_KEY_PROOF;
	const bool lines = skip_line_end(r);
	size_t run = 0;

	if (!lines)
		(void)rest_run(r, &glue, LIMIT_SCRUB_TOKEN_LOOK);
	if (lines && r->text.n - r->i >= 10 && memcmp(r->text.p + r->i, "Proc-Type:", 10) == 0)
		return true;
	for (; r->i < until && run < PROOF; r->i++) {
		const int b = rest_peek(r);
		if (b < 0 || !byteset_has(&body, (char)b))
			return false;
		run = byteset_has(&bytes_base64, (char)b) ? run + 1 : 0;
		if (lines && b == '-' && str_starts(str_from(r->text, r->i), STR("-----END ")))
			return true;
	}
	return run == PROOF;
}

enum shape_verdict shape_private_key(const struct shape *s, const struct shape_place *at,
				     struct redaction *ret)
{
	enum { LABEL = 48 };
	struct rest r = rest_from(at, s->begins.n);
	const size_t n = rest_run(&r, &label, LABEL);
	const struct str name = { at->text.p + s->begins.n, n };

	if (r.beyond)
		return MORE;
	if (!str_ends(name, STR("PRIVATE KEY")) && !str_ends(name, STR("PRIVATE KEY BLOCK")))
		return NO;
	for (int dash = 0; dash < 5; dash++)
		if (!rest_skip(&r, '-'))
			return rest_verdict(&r, NO);
	*ret = (struct redaction){ .to = r.i, .key_body = true };
	return has_body(&r) ? HIT : rest_verdict(&r, NO);
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
