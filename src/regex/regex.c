/* SPDX-License-Identifier: MIT */
/* regex: choose how a pattern is searched for, and find the next matching line. */

#include "regex/regex.h"

#include "base/arena.h"
#include "base/own.h"
#include "regex/ast.h"
#include "regex/dfa.h"
#include "regex/limits.h"
#include "regex/need.h"
#include "regex/pcre.h"

struct regex {
	bool multiline;
	struct need need;   /* what a matching line contains */
	struct nfa nfa;	    /* unless PCRE2 matches */
	struct nfa reverse; /* multiline: finds where a match begins */
	struct pcre *pcre;  /* look-around and back-references; else NULL */
};

struct regex_cache {
	struct dfa dfa, reverse;
	struct pcre_cache *pcre;
};

static int compile(struct regex *re, struct ast_pattern *p, struct arena *a, struct err *e)
{
	const bool fits = p->pcre || nfa_fits(p->root);

	if (!re->multiline && !p->pcre)
		ast_trim(p);
	if (need_init(&re->need, p) < 0)
		return err_set(e, ERR_EXECUTION_ERROR, "Not enough memory for the pattern");
	if (re->multiline && re->need.kind != NEED_LITERAL)
		re->need.exact = false; /* the automaton has to find where the match ends */
	if (p->pcre) {
		if (re->multiline)
			return err_set(e, ERR_INVALID_REGEX,
				       "Look-around, back-references, possessive quantifiers and "
				       "\\p{…} cannot be used in a multiline search");
		return pcre_new(p, a, &re->pcre, e);
	}
	if (re->need.exact)
		return 0;
	if (!fits)
		return nfa_too_large(e);
	if (nfa_compile(&re->nfa, p->root, NFA_SEARCH, e) < 0)
		return -1;
	return re->multiline ? nfa_compile(&re->reverse, p->root, NFA_REVERSE, e) : 0;
}

int regex_new(struct str pattern, const struct regex_options *o, struct regex **ret, struct err *e)
{
	AUTO_ARENA arena = { .max = LIMIT_REGEX_ARENA };
	struct ast_pattern p;
	struct regex *re;

	if (regex_parse(pattern, o, &arena, &p, e) < 0)
		return -1;
	re = mem_new(1, sizeof(*re));
	if (!re)
		return err_set(e, ERR_EXECUTION_ERROR, "Not enough memory for the pattern");
	re->multiline = o->multiline;
	if (compile(re, &p, &arena, e) < 0) {
		regex_free(re);
		return -1;
	}
	*ret = re;
	return 0;
}

void regex_free(struct regex *re)
{
	if (!re)
		return;
	need_done(&re->need);
	nfa_done(&re->nfa);
	nfa_done(&re->reverse);
	pcre_free(re->pcre);
	mem_free(re);
}

struct regex_cache *regex_cache_new(const struct regex *re)
{
	struct regex_cache *c = mem_new(1, sizeof(*c));
	int status = 0;

	if (!c)
		return NULL;
	if (re->pcre) {
		c->pcre = pcre_cache_new(re->pcre);
		status = c->pcre ? 0 : -1;
	} else if (!re->need.exact) {
		status = dfa_init(&c->dfa, &re->nfa, re->multiline ? DFA_FIRST : DFA_EARLIEST);
		if (status == 0 && re->multiline)
			status = dfa_init(&c->reverse, &re->reverse, DFA_LONGEST);
	}
	if (status == 0)
		return c;
	regex_cache_free(c);
	return NULL;
}

void regex_cache_free(struct regex_cache *c)
{
	if (!c)
		return;
	dfa_done(&c->dfa);
	dfa_done(&c->reverse);
	pcre_cache_free(c->pcre);
	mem_free(c);
}

/* The line that contains the byte at `at`, which is below text.n. */
static struct regex_match line_at(struct str text, size_t from, size_t at)
{
	const char *before = at > from ? memrchr(text.p + from, '\n', at - from) : NULL;
	const char *end = memchr(text.p + at, '\n', text.n - at);

	return (struct regex_match){
		.line = before ? (size_t)(before + 1 - text.p) : from,
		.line_end = end ? (size_t)(end - text.p) : text.n,
	};
}

/* The earliest place on the line where a match can begin; what it needs is at `at`. */
static size_t earliest(const struct need *n, struct str text, size_t line, size_t at)
{
	if (n->lead >= at - line)
		return line;
	at -= n->lead;
	while (at > line && (unsigned char)text.p[at] >= 0x80) /* not within a character */
		at--;
	return at;
}

static int line_matches(const struct regex *re, struct regex_cache *c, struct str text,
			const struct regex_match *line, size_t at,
			const struct regex_budget *budget, struct err *e)
{
	const bool edge = line->line_end == text.n;

	if (re->need.exact)
		return 1;
	if (re->pcre)
		return pcre_match(re->pcre, c->pcre,
				  str_from(str_upto(text, line->line_end), line->line), budget, e);
	return dfa_run(&c->dfa, str_upto(text, line->line_end + !edge),
		       earliest(&re->need, text, line->line, at), edge, budget, &at, e);
}

/* Try the lines that contain what a match needs, one by one. */
static int next_candidate(const struct regex *re, struct regex_cache *c, struct str text,
			  size_t from, const struct regex_budget *budget, struct regex_match *ret,
			  struct err *e)
{
	for (size_t checked = from; from < text.n;) {
		const size_t at = need_find(&re->need, text, from);

		if (at >= text.n)
			return 0;
		if (at - checked >= LIMIT_REGEX_SLICE) {
			if (regex_budget_check(budget, e) < 0)
				return -1;
			checked = at;
		}

		const struct regex_match line = line_at(text, from, at);
		const int got = line_matches(re, c, text, &line, at, budget, e);

		if (got != 0) {
			if (got > 0)
				*ret = line;
			return got;
		}
		from = line.line_end + 1;
	}
	return 0;
}

/* Run the automaton over all text; it needs no line boundaries. */
static int next_scanned(struct regex_cache *c, struct str text, size_t from,
			const struct regex_budget *budget, struct regex_match *ret, struct err *e)
{
	const bool edge = text.p[text.n - 1] != '\n';
	size_t at;
	const int got = dfa_run(&c->dfa, text, from, edge, budget, &at, e);

	if (got > 0)
		*ret = line_at(text, from, at < text.n ? at : text.n - 1);
	return got;
}

/* The lines a match touches. */
static bool lines_of(struct str text, size_t start, size_t end, struct regex_match *ret)
{
	/* After the last newline there is no line for an empty match. */
	if (start == text.n && start > 0 && text.p[start - 1] == '\n')
		return false;

	const char *before = start ? memrchr(text.p, '\n', start) : NULL;
	const size_t last = end > start ? end - 1 : start;
	const char *stop = memchr(text.p + last, '\n', text.n - last);

	*ret = (struct regex_match){
		.line = before ? (size_t)(before + 1 - text.p) : 0,
		.line_end = stop ? (size_t)(stop - text.p) : text.n,
		.start = start,
		.end = end,
	};
	return true;
}

static int next_multiline(const struct regex *re, struct regex_cache *c, struct str text,
			  size_t from, const struct regex_budget *budget, struct regex_match *ret,
			  struct err *e)
{
	size_t start = need_find(&re->need, text, from), end;

	if (start >= text.n && re->need.kind != NEED_NOTHING)
		return 0;
	if (re->need.exact) {
		lines_of(text, start, start + re->need.length, ret);
		return 1;
	}
	if (re->need.kind != NEED_NOTHING)
		start = earliest(&re->need, text, from, start);

	const int got = dfa_run(&c->dfa, text, start, true, budget, &end, e);

	if (got <= 0)
		return got;
	/* Backwards over the part that was searched, so that no match begins before `from`. */
	const struct str part = str_from(text, from);
	const int back = dfa_run(&c->reverse, part, end - from, true, budget, &start, e);

	if (back < 0)
		return -1;
	/* The start is not found only where text is not UTF-8: then report the match's last line.
	 */
	start = back ? start + from : line_at(text, from, end > from ? end - 1 : end).line;
	return lines_of(text, start, end, ret);
}

int regex_next(const struct regex *re, struct regex_cache *c, struct str text, size_t from,
	       const struct regex_budget *budget, struct regex_match *ret, struct err *e)
{
	if (from >= text.n)
		return 0;
	if (re->multiline)
		return next_multiline(re, c, text, from, budget, ret, e);
	if (re->pcre || re->need.kind != NEED_NOTHING)
		return next_candidate(re, c, text, from, budget, ret, e);
	return next_scanned(c, text, from, budget, ret, e);
}

uint64_t regex_lines_skipped(const struct regex_cache *c)
{
	return c->pcre ? pcre_lines_skipped(c->pcre) : 0;
}
