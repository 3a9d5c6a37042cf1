/* SPDX-License-Identifier: MIT */
/*
 * regex_oracle: what PCRE2's interpreter says about a pattern and a text, to compare with.
 *
 * ORACLE_TREE gives it the pattern written from our tree: only matching is compared, so any pattern
 * will do. ORACLE_TEXT gives it the pattern as it stands: parsing is compared, too, so the pattern
 * must be one that means the same to both.
 */
#ifndef TESTS_REGEX_ORACLE_H
#define TESTS_REGEX_ORACLE_H

#include "base/arena.h"
#include "regex/ast.h"
#include "regex/limits.h"
#include "regex/pcre.h"
#include "regex/regex.h"

enum oracle_kind { ORACLE_TREE, ORACLE_TEXT };

#ifdef HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct oracle {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
};

static inline void oracle_done(struct oracle *o)
{
	pcre2_match_data_free(o->data);
	pcre2_match_context_free(o->context);
	pcre2_code_free(o->code);
	*o = (struct oracle){ 0 };
}

/* False when there is nothing to compare with: the pattern is not regular, or PCRE2 refuses it. */
static inline bool oracle_init(struct oracle *o, enum oracle_kind kind, struct str pattern,
			       const struct regex_options *options)
{
	AUTO_ARENA arena = { .max = LIMIT_REGEX_ARENA };
	const uint32_t flags = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MULTILINE |
			       PCRE2_ALT_CIRCUMFLEX | PCRE2_ALLOW_EMPTY_CLASS |
			       (kind == ORACLE_TREE ? PCRE2_DOTALL : 0) |
			       (kind == ORACLE_TEXT && options->ignore_case ? PCRE2_CASELESS : 0);
	struct ast_pattern tree;
	struct err e;
	int error;
	size_t at;

	*o = (struct oracle){ 0 };
	if (regex_parse(pattern, options, &arena, &tree, &e) < 0 || tree.pcre)
		return false;
	if (kind == ORACLE_TREE && pcre_write(&tree, false, &arena, &pattern, &e) < 0)
		return false;
	o->code = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n, flags, &error, &at, NULL);
	if (!o->code)
		return false;
	o->data = pcre2_match_data_create_from_pattern(o->code, NULL);
	o->context = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(o->context, 20000);
	pcre2_set_depth_limit(o->context, 2000);
	return o->data && o->context;
}

/* 1 with the span, 0, or -1 when PCRE2 gave up. The text is valid UTF-8. */
static inline int oracle_match(struct oracle *o, struct str text, size_t *start, size_t *end)
{
	const int got = pcre2_match(o->code, (PCRE2_SPTR)text.p, text.n, 0, 0, o->data, o->context);
	const size_t *span = pcre2_get_ovector_pointer(o->data);

	if (got < 0)
		return got == PCRE2_ERROR_NOMATCH ? 0 : -1;
	*start = span[0];
	*end = span[1];
	return 1;
}

#else /* there is no PCRE2 to compare with */

struct oracle {
	int none;
};

static inline void oracle_done(struct oracle *o)
{
	(void)o;
}

static inline bool oracle_init(struct oracle *o, enum oracle_kind kind, struct str pattern,
			       const struct regex_options *options)
{
	(void)o;
	(void)kind;
	(void)pattern;
	(void)options;
	return false;
}

static inline int oracle_match(struct oracle *o, struct str text, size_t *start, size_t *end)
{
	(void)o;
	(void)text;
	(void)start;
	(void)end;
	return -1;
}

#endif

#endif
