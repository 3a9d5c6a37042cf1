/* SPDX-License-Identifier: MIT */
/* regex_pcre: PCRE2 line by line, with a count of its steps. */

#include "search/regex_pcre.h"

#include "base/limits.h"
#include "base/own.h"
#include "search/regex_dfa.h"

#ifdef HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { STEPS_BETWEEN_CHECKS = 4096 };

struct pcre {
	pcre2_code *code;
	bool jit;
};

struct pcre_cache {
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	uint32_t most_steps;
	uint64_t skipped;
	/* of the line being matched: */
	const struct regex_budget *budget;
	struct err *e;
	uint32_t steps;
	bool over;
};

static int refuse(int error, struct err *e)
{
	PCRE2_UCHAR why[120];

	if (pcre2_get_error_message(error, why, sizeof(why)) < 0)
		why[0] = 0;
	return err_set(
		e, ERR_INVALID_REGEX,
		"Invalid pattern: %s. To search for the text as it stands, pass literal:true",
		(const char *)why);
}

int pcre_new(const struct ast_pattern *pattern, struct arena *a, struct pcre **ret, struct err *e)
{
	const uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY |
				 PCRE2_DOTALL | PCRE2_ALLOW_EMPTY_CLASS |
				 PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C;
	struct str text;
	size_t offset, size = 0;
	int error;

	if (regex_unparse(pattern, a, &text, e) < 0)
		return -1;

	pcre2_code *code =
		pcre2_compile((PCRE2_SPTR)text.p, text.n, options, &error, &offset, NULL);
	struct pcre *p = code ? mem_new(1, sizeof(*p)) : NULL;

	if (!code)
		return refuse(error, e);
	pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
	if (!p || size > LIMIT_PCRE_BYTES) {
		pcre2_code_free(code);
		mem_free(p);
		return err_set(e, ERR_INVALID_REGEX,
			       "The pattern becomes too large when its repeats are written out");
	}
	p->code = code;
	p->jit = size <= LIMIT_PCRE_JIT_BYTES && pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
	*ret = p;
	return 0;
}

void pcre_free(struct pcre *p)
{
	if (!p)
		return;
	pcre2_code_free(p->code);
	mem_free(p);
}

/* PCRE2 is about to go on behind a repeat. */
static int count_step(pcre2_callout_block *block, void *data)
{
	struct pcre_cache *c = data;

	(void)block;
	if (++c->steps % STEPS_BETWEEN_CHECKS == 0)
		c->over = regex_budget_check(c->budget, c->e) < 0;
	if (c->steps > c->most_steps)
		return PCRE2_ERROR_MATCHLIMIT;
	return c->over ? PCRE2_ERROR_CALLOUT : 0;
}

struct pcre_cache *pcre_cache_new(const struct pcre *p)
{
	struct pcre_cache *c = mem_new(1, sizeof(*c));

	if (!c)
		return NULL;
	c->data = pcre2_match_data_create_from_pattern(p->code, NULL);
	c->context = pcre2_match_context_create(NULL);
	c->stack = p->jit ? pcre2_jit_stack_create(32 << 10, LIMIT_PCRE_JIT_STACK, NULL) : NULL;
	if (!c->data || !c->context || (p->jit && !c->stack)) {
		pcre_cache_free(c);
		return NULL;
	}
	c->most_steps = p->jit ? LIMIT_PCRE_STEPS : LIMIT_PCRE_STEPS_INTERPRETED;
	pcre2_set_callout(c->context, count_step, c);
	pcre2_set_match_limit(c->context, c->most_steps);
	pcre2_set_heap_limit(c->context, LIMIT_PCRE_HEAP_KB);
	if (c->stack)
		pcre2_jit_stack_assign(c->context, NULL, c->stack);
	return c;
}

void pcre_cache_free(struct pcre_cache *c)
{
	if (!c)
		return;
	pcre2_match_data_free(c->data);
	pcre2_match_context_free(c->context);
	pcre2_jit_stack_free(c->stack);
	mem_free(c);
}

uint64_t pcre_lines_skipped(const struct pcre_cache *c)
{
	return c->skipped;
}

int pcre_match(const struct pcre *p, struct pcre_cache *c, struct str line,
	       const struct regex_budget *budget, struct err *e)
{
	struct err late;

	if (line.n > LIMIT_PCRE_LINE) {
		c->skipped++;
		return 0;
	}
	if (regex_budget_check(budget, e) < 0)
		return -1;
	c->budget = budget;
	c->e = &late;
	c->steps = 0;
	c->over = false;

	const int got = pcre2_match(p->code, (PCRE2_SPTR)line.p, line.n, 0, 0, c->data, c->context);

	if (got >= 0)
		return 1;
	if (got == PCRE2_ERROR_NOMATCH)
		return 0;
	if (c->over) {
		*e = late;
		return -1;
	}
	return err_set(
		e, ERR_SEARCH_TIMEOUT,
		"The pattern tries too many ways on one line; use fewer nested or neighbouring "
		"repeats");
}

#else

int pcre_new(const struct ast_pattern *pattern, struct arena *a, struct pcre **ret, struct err *e)
{
	(void)pattern;
	(void)a;
	(void)ret;
	return err_set(e, ERR_INVALID_REGEX,
		       "Look-around, back-references, possessive quantifiers and \\p{…} are not "
		       "available: this program was built without PCRE2");
}

void pcre_free(struct pcre *p)
{
	(void)p;
}

struct pcre_cache *pcre_cache_new(const struct pcre *p)
{
	(void)p;
	return NULL;
}

void pcre_cache_free(struct pcre_cache *c)
{
	(void)c;
}

uint64_t pcre_lines_skipped(const struct pcre_cache *c)
{
	(void)c;
	return 0;
}

int pcre_match(const struct pcre *p, struct pcre_cache *c, struct str line,
	       const struct regex_budget *budget, struct err *e)
{
	(void)p;
	(void)c;
	(void)line;
	(void)budget;
	(void)e;
	return 0;
}

#endif
