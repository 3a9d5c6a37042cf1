/* SPDX-License-Identifier: MIT */
/* regex_repeat: quantifiers, and braces that are none. */

#include "base/limits.h"
#include "regex/regex_parser.h"

/* Digits at an offset from the cursor; the number of digits, 0 when there is none. */
static size_t digits(const struct parser *p, size_t ahead, uint32_t *ret)
{
	size_t n = 0;
	uint32_t value = 0;

	for (int c; (c = parser_peek(p, ahead + n)) >= '0' && c <= '9'; n++)
		value = value > LIMIT_REGEX_REPEAT ? value : value * 10 + (uint32_t)(c - '0');
	*ret = value;
	return n;
}

/* Whether {n}, {n,} or {n,m} stands at the cursor; any other brace is a brace. Returns the length
 * or 0. */
static size_t braces(const struct parser *p, uint32_t *min, uint32_t *max)
{
	size_t at = 1, n;

	if (parser_peek(p, 0) != '{' || (n = digits(p, at, min)) == 0)
		return 0;
	at += n;
	*max = *min;
	if (parser_peek(p, at) == ',') {
		at++;
		n = digits(p, at, max);
		if (n == 0)
			*max = AST_MANY;
		at += n;
	}
	return parser_peek(p, at) == '}' ? at + 1 : 0;
}

size_t parser_quantifier(const struct parser *p, uint32_t *min, uint32_t *max)
{
	*max = AST_MANY;
	switch (parser_peek(p, 0)) {
	case '*':
		*min = 0;
		return 1;
	case '+':
		*min = 1;
		return 1;
	case '?':
		*min = 0;
		*max = 1;
		return 1;
	default:
		return braces(p, min, max);
	}
}

struct ast *parser_repeats(struct parser *p, struct ast *node)
{
	uint32_t min, max;

	for (;;) {
		if (p->flags.extended)
			parser_skip_blank(p);

		const size_t at = p->at, n = parser_quantifier(p, &min, &max);

		if (n == 0)
			return node;
		if (node->height > LIMIT_REGEX_HEIGHT)
			return parser_fail(p, at, "there are too many repeats of repeats"), NULL;
		if (min > LIMIT_REGEX_REPEAT || (max != AST_MANY && max > LIMIT_REGEX_REPEAT))
			return parser_fail(p, at, "a repeat is limited to %d", LIMIT_REGEX_REPEAT),
			       NULL;
		if (min > max)
			return parser_fail(p, at, "the numbers of the repeat are out of order"),
			       NULL;
		p->at += n;

		struct ast *repeat = parser_node(p, AST_REPEAT);

		if (!repeat)
			return NULL;
		repeat->min = min;
		repeat->max = max;
		repeat->lazy = parser_take(p, "?");
		repeat->possessive = !repeat->lazy && parser_take(p, "+");
		p->pcre |= repeat->possessive;
		parser_append(repeat, node);
		node = repeat;
	}
}
