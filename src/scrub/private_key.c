/* SPDX-License-Identifier: MIT */
/* private_key: where one begins, and where its body ends. */

#include "scrub/private_key.h"

#include "base/limits.h"
#include "scrub/cursor.h"
#include "scrub/shape.h"

static const struct byteset label = { { BYTES_DIGIT | BYTE(' '), BYTES_UPPER } };
static const struct byteset base64 = { { BYTES_DIGIT | BYTE('+') | BYTE('/') | BYTE('='),
					 BYTES_LETTER } };

/* A body as files, JSON, string literals, diffs and numbered lines show it; with headers such as
 * "Proc-Type: 4,ENCRYPTED". */
static const struct byteset body = {
	{ BYTES_DIGIT | BYTE('+') | BYTE('/') | BYTE('=') | BYTE(' ') | BYTE('\t') | BYTE('\r') |
		  BYTE('\n') | BYTE('"') | BYTE('\'') | BYTE(',') | BYTE(':') | BYTE('-') |
		  BYTE('.') | BYTE('>') | BYTE('*'),
	  BYTES_LETTER | BYTE('\\') | BYTE('|') | BYTE('_') },
};

static const struct byteset blank = { { BYTE(' ') | BYTE('\r') | BYTE('\n') } };

/* Between the first line and the body, when it is written as a string literal in a program. */
static const struct byteset glue = {
	{ BYTE(' ') | BYTE('\t') | BYTE('\r') | BYTE('\n') | BYTE('"') | BYTE('\'') | BYTE(',') |
		  BYTE('+') | BYTE('>'),
	  BYTE('|') },
};

/* An end of line as it is, or as \n, \r\n inside quotes. */
static bool skip_line_end(struct cursor *c)
{
	const size_t from = c->i;

	(void)cursor_run(c, &blank, LIMIT_SCRUB_TOKEN_LOOK);
	while (cursor_peek(c) == '\\' && c->i - from < LIMIT_SCRUB_TOKEN_LOOK) {
		c->i++;
		if (!cursor_skip(c, 'n') && !cursor_skip(c, 'r') && !cursor_skip(c, '\\'))
			return false;
	}
	return c->i > from;
}

/* The first line alone is often only talked about (programs that look for it): what follows must be
 * a body, either long enough to be nothing else, or ended by the last line. */
static bool has_body(struct cursor *c)
{
	enum { PROOF = 32 };
	const size_t until = c->i + LIMIT_SCRUB_KEY_PROOF;
	const bool lines = skip_line_end(c);
	size_t run = 0;

	if (!lines)
		(void)cursor_run(c, &glue, LIMIT_SCRUB_TOKEN_LOOK);
	if (lines && c->text.n - c->i >= 10 && memcmp(c->text.p + c->i, "Proc-Type:", 10) == 0)
		return true;
	for (; c->i < until && run < PROOF; c->i++) {
		const int b = cursor_peek(c);
		if (b < 0 || !byteset_has(&body, (char)b))
			return false;
		run = byteset_has(&base64, (char)b) ? run + 1 : 0;
		if (lines && b == '-' && str_starts(str_from(c->text, c->i), STR("-----END ")))
			return true;
	}
	return run == PROOF;
}

enum verdict shape_private_key(const struct shape *s, const struct place *at, struct find *ret)
{
	enum { LABEL = 48 };
	struct cursor c = cursor_behind(at, s->begins.n);
	const size_t n = cursor_run(&c, &label, LABEL);
	const struct str name = { at->text.p + s->begins.n, n };

	if (c.beyond)
		return MORE;
	if (!str_ends(name, STR("PRIVATE KEY")) && !str_ends(name, STR("PRIVATE KEY BLOCK")))
		return NO;
	for (int dash = 0; dash < 5; dash++)
		if (!cursor_skip(&c, '-'))
			return cursor_verdict(&c, NO);
	*ret = (struct find){ .to = c.i, .key_body = true };
	return has_body(&c) ? HIT : cursor_verdict(&c, NO);
}

/* The last line at the start of text: its length, 0 when it is none, -1 when that is not known. */
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
