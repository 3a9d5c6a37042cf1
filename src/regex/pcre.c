/* SPDX-License-Identifier: MIT */
/* pcre: write a pattern for PCRE2 and match line by line, counting its steps. */

#include "regex/pcre.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/own.h"
#include "regex/limits.h"

#ifdef HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct pcre_writer {
	struct buf text;
	bool counted;
};

static const struct str looks[] = {
	[LOOK_LINE_START] = STR("^"), [LOOK_LINE_END] = STR("$"), [LOOK_TEXT_START] = STR("\\A"),
	[LOOK_TEXT_END] = STR("\\z"), [LOOK_WORD] = STR("\\b"),	  [LOOK_NOT_WORD] = STR("\\B"),
};

static void write_ast(const struct ast *t, struct pcre_writer *to);

static void write_range(struct char_range r, struct pcre_writer *to)
{
	if (r.lo >= 0xd800 && r.lo < 0xe000)
		r.lo = 0xe000;
	if (r.hi >= 0xd800 && r.hi < 0xe000)
		r.hi = 0xd7ff;
	if (r.hi > CHARSET_LAST)
		r.hi = CHARSET_LAST;
	if (r.lo > r.hi)
		return;
	buf_addf(&to->text, "\\x{%x}", r.lo);
	if (r.hi > r.lo)
		buf_addf(&to->text, "-\\x{%x}", r.hi);
}

static void write_chars(const struct charset *set, struct pcre_writer *to)
{
	buf_addc(&to->text, '[');
	for (uint32_t i = 0; i < set->n; i++)
		write_range(set->ranges[i], to);
	buf_addc(&to->text, ']');
}

static void write_repeat(const struct ast *t, struct pcre_writer *to)
{
	buf_add(&to->text, STR("(?:"));
	write_ast(t->child, to);
	buf_addf(&to->text, "){%u,", t->min);
	if (t->max != AST_MANY)
		buf_addf(&to->text, "%u", t->max);
	buf_addc(&to->text, '}');
	if (t->lazy || t->possessive)
		buf_addc(&to->text, t->lazy ? '?' : '+');
	if (to->counted && t->min != t->max)
		buf_add(&to->text, STR("(?C1)")); /* count_step */
}

static void write_list(const struct ast *t, struct str between, struct pcre_writer *to)
{
	buf_add(&to->text, STR("(?:"));
	for (const struct ast *k = t->child; k; k = k->next) {
		write_ast(k, to);
		if (k->next)
			buf_add(&to->text, between);
	}
	buf_addc(&to->text, ')');
}

static void write_ast(const struct ast *t, struct pcre_writer *to)
{
	switch (t->kind) {
	case AST_EMPTY:
		break;
	case AST_CHARS:
		write_chars(&t->chars, to);
		break;
	case AST_CAT:
		write_list(t, STR(""), to);
		break;
	case AST_ALT:
		write_list(t, STR("|"), to);
		break;
	case AST_REPEAT:
		write_repeat(t, to);
		break;
	case AST_LOOK:
		buf_add(&to->text, looks[t->look]);
		break;
	case AST_GROUP:
	case AST_AROUND:
		buf_addc(&to->text, '(');
		buf_add(&to->text, t->text);
		write_ast(t->child, to);
		buf_addc(&to->text, ')');
		break;
	case AST_BACKREF:
		buf_addf(&to->text, t->nocase ? "(?i:\\g{%u})" : "\\g{%u}", t->number);
		break;
	case AST_PROPERTY:
		buf_add(&to->text, t->text);
		break;
	}
}

int pcre_write(const struct ast_pattern *p, bool counted, struct arena *a, struct str *ret,
	       struct err *e)
{
	struct pcre_writer to = { .text.max = 16 * LIMIT_REGEX_PATTERN, .counted = counted };

	write_ast(p->root, &to);

	const struct str text = to.text.failed ? STR("") : arena_dup(a, buf_str(&to.text));
	const bool failed = to.text.failed || a->failed;

	buf_done(&to.text);
	if (failed)
		return err_set(e, ERR_INVALID_REGEX, "The pattern is too large");
	*ret = text;
	return 0;
}

enum {
	STEPS_BETWEEN_CHECKS = 4096,
	SMALLEST_PAGE = 4096,
	VECTOR = 16, /* what the just-in-time compiler's code loads at once */
};

struct pcre {
	pcre2_code *code;    /* without callouts */
	pcre2_code *counted; /* with callouts */
	size_t short_line;   /* on lines up to this length `code` is safe */
	bool jit;	     /* both are compiled just in time */
};

struct pcre_cache {
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	uint32_t most_steps;
	uint64_t skipped;
	struct buf moved; /* the copy of a line at the end of a page */
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
	(void)err_set(e, ERR_INVALID_REGEX, "Invalid pattern: %s.", (const char *)why);
	return err_advise(e, "To search for the text as it stands, pass literal:true");
}

/* How many repeats can try all their lengths independently of each other. */
static double variable_repeats(const struct ast *t)
{
	const bool repeat = t->kind == AST_REPEAT;
	double n = 0;

	for (const struct ast *k = t->child; k; k = k->next)
		n += variable_repeats(k);
	if (repeat && t->max != AST_MANY && t->max > 1)
		n *= t->max;
	return n + (repeat && t->min != t->max);
}

/* The longest line on which k repeats take few steps: n^(k+1) / (k+1)! in the worst case. */
static size_t short_line(double repeats)
{
	for (size_t n = LIMIT_PCRE_LINE; n > 8; n = n * 7 / 8) {
		double steps = (double)n;

		for (int k = 1; k <= repeats && steps <= LIMIT_PCRE_STEPS; k++)
			steps *= (double)n / (k + 1);
		if (steps <= LIMIT_PCRE_STEPS)
			return n;
	}
	return 0;
}

static pcre2_code *compile(const struct ast_pattern *pattern, bool counted, struct arena *a,
			   struct err *e)
{
	const uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY |
				 PCRE2_DOTALL | PCRE2_ALLOW_EMPTY_CLASS |
				 PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C;
	struct str text;
	size_t offset, size = 0;
	int error;

	if (pcre_write(pattern, counted, a, &text, e) < 0)
		return NULL;

	pcre2_code *code =
		pcre2_compile((PCRE2_SPTR)text.p, text.n, options, &error, &offset, NULL);

	if (!code) {
		refuse(error, e);
		return NULL;
	}
	pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
	if (size <= LIMIT_PCRE_BYTES)
		return code;
	pcre2_code_free(code);
	err_set(e, ERR_INVALID_REGEX,
		"The pattern becomes too large when its repeats are written out");
	return NULL;
}

static bool compile_jit(pcre2_code *code)
{
	size_t size = 0;

	pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
	return size <= LIMIT_PCRE_JIT_BYTES && pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
}

int pcre_new(const struct ast_pattern *pattern, struct arena *a, struct pcre **ret, struct err *e)
{
	struct pcre *p = mem_new(1, sizeof(*p));

	if (!p)
		return err_set(e, ERR_EXECUTION_ERROR, "Not enough memory for the pattern");
	p->code = compile(pattern, false, a, e);
	p->counted = p->code ? compile(pattern, true, a, e) : NULL;
	if (!p->counted) {
		pcre_free(p);
		return -1;
	}
	p->short_line = short_line(variable_repeats(pattern->root));
	p->jit = compile_jit(p->code) && compile_jit(p->counted);
	*ret = p;
	return 0;
}

void pcre_free(struct pcre *p)
{
	if (!p)
		return;
	pcre2_code_free(p->code);
	pcre2_code_free(p->counted);
	mem_free(p);
}

/* Called when PCRE2 is about to continue after a repeat. */
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
	c->moved.max = LIMIT_PCRE_LINE + VECTOR;
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
	buf_done(&c->moved);
	mem_free(c);
}

uint64_t pcre_lines_skipped(const struct pcre_cache *c)
{
	return c->skipped;
}

/*
 * On aarch64 the code that looks for a first character (ffcs in PCRE2 10.42) loads a vector at the
 * end of the text before it checks whether the text has ended. The vector is aligned, so the load
 * can fault only if a page begins there: then the line is copied to where readable bytes follow it.
 */
static int move_from_page_end(struct pcre_cache *c, struct str *line, struct err *e)
{
	static const char padding[VECTOR];

	if ((uintptr_t)(line->p + line->n) % SMALLEST_PAGE != 0)
		return 0;
	buf_reset(&c->moved, LIMIT_PCRE_LINE + VECTOR);
	buf_add(&c->moved, *line);
	buf_add(&c->moved, (struct str){ padding, sizeof(padding) });
	if (c->moved.failed)
		return err_set(e, ERR_EXECUTION_ERROR, "Not enough memory to match a line");
	line->p = c->moved.p;
	return 0;
}

int pcre_match(const struct pcre *p, struct pcre_cache *c, struct str line,
	       const struct regex_budget *budget, struct err *e)
{
	struct err late;

	if (line.n > LIMIT_PCRE_LINE) {
		c->skipped++;
		return 0;
	}
	if (regex_budget_check(budget, e) < 0 || move_from_page_end(c, &line, e) < 0)
		return -1;
	c->budget = budget;
	c->e = &late;
	c->steps = 0;
	c->over = false;

	const pcre2_code *code = line.n <= p->short_line ? p->code : p->counted;
	const int got = pcre2_match(code, (PCRE2_SPTR)line.p, line.n, 0, 0, c->data, c->context);

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
