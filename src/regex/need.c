/* SPDX-License-Identifier: MIT */
/* need: find out what text every match contains, and choose the rarest of it. */

#include "regex/need.h"

#include <math.h>

#include "base/buf.h"
#include "base/own.h"
#include "base/utf8.h"
#include "regex/factor.h"
#include "regex/limits.h"

/* What is known of all matches of a part of the pattern. */
struct known {
	const struct factor *whole;  /* each match is this, or NULL */
	const struct factor *prefix; /* each match begins with this … */
	const struct factor *suffix; /* … and ends with this; both are `whole` if that is known */
	const struct factor *inner;  /* each match contains this … */
	size_t lead;		     /* … with at most this many bytes before it */
	size_t longest;		     /* bytes of a match, at most */
};

/* Roughly, in nanoseconds; only speed depends on them. */
#define READ_NS	   1.5	 /* a byte through the automaton */
#define LINE_NS	   100.0 /* a line through the automaton */
#define COMPARE_NS 4.0	 /* a place at which needles are compared */

struct analysis {
	const struct factor_form *form;
	struct arena *arena;
	bool looks; /* there are positions: a match depends on more than its text */
};

static size_t sum(size_t x, size_t y)
{
	return x > NEED_ANY - y ? NEED_ANY : x + y;
}

/* Another factor of every match: keep the rarer one. */
static void also(const struct analysis *a, struct known *k, const struct factor *p, size_t lead)
{
	if (a->form->rarity(p) >= a->form->rarity(k->inner))
		return;
	k->inner = p;
	k->lead = lead;
}

static struct known all_of(const struct factor *p, size_t longest)
{
	return (struct known){
		.whole = p, .prefix = p, .suffix = p, .inner = p, .longest = longest
	};
}

static struct known concatenate(struct analysis *a, struct known x, struct known y)
{
	const struct factor *seam = a->form->cat(x.suffix, y.prefix, a->arena);
	struct known r = { .inner = seam, .lead = x.longest, .longest = sum(x.longest, y.longest) };

	if (x.whole && seam)
		r.lead = 0;
	also(a, &r, x.inner, x.lead);
	also(a, &r, y.inner, sum(x.longest, y.lead));
	if (x.whole && y.whole && seam) {
		r.whole = r.prefix = r.suffix = seam;
		return r;
	}
	r.prefix = x.prefix;
	r.suffix = y.suffix;
	if (x.whole) {
		const struct factor *longer = a->form->cat(x.whole, y.prefix, a->arena);

		r.prefix = longer ? longer : x.whole;
	}
	if (y.whole) {
		const struct factor *longer = a->form->cat(x.suffix, y.whole, a->arena);

		r.suffix = longer ? longer : y.whole;
	}
	return r;
}

static struct known either(struct analysis *a, struct known x, struct known y)
{
	const struct factor_form *f = a->form;
	const size_t longest = x.longest > y.longest ? x.longest : y.longest;

	if (x.whole && y.whole && f->alike(x.whole, y.whole)) {
		const struct factor *both = f->alt(x.whole, y.whole, FACTOR_LEFT, a->arena);

		if (both)
			return all_of(both, longest);
	}
	return (struct known){
		.prefix = f->alt(x.prefix, y.prefix, FACTOR_LEFT, a->arena),
		.suffix = f->alt(x.suffix, y.suffix, FACTOR_RIGHT, a->arena),
		.inner = f->alt(x.inner, y.inner, FACTOR_LEFT, a->arena),
		.lead = x.lead > y.lead ? x.lead : y.lead,
		.longest = longest,
	};
}

static struct known analyse(struct analysis *a, const struct ast *t);

static struct known repeated(struct analysis *a, const struct ast *t)
{
	const struct known one = analyse(a, t->child);
	struct known r = one;
	const bool endless = one.longest > NEED_ANY / (t->max ? t->max : 1);
	const size_t longest = endless ? NEED_ANY : one.longest * t->max;

	if (t->min == 0)
		return (struct known){ .longest = longest };

	/* A few copies are enough to find it; many would only be too large. */
	for (uint32_t i = 1; i < t->min && i < FACTOR_RUN && r.whole; i++)
		r = concatenate(a, r, one);
	if (t->min < t->max || t->min > FACTOR_RUN)
		r.whole = NULL;
	r.longest = longest;
	return r;
}

/* What a positive one requires is on the same line; a negative one requires nothing. */
static struct known around(struct analysis *a, const struct ast *t)
{
	const struct known inside = analyse(a, t->child);
	struct known r = all_of(a->form->empty(a->arena), 0);

	a->looks = true;
	if (str_eq(t->text, STR("?>")))
		return inside;
	if (str_eq(t->text, STR("?=")) || str_eq(t->text, STR("?<=")))
		also(a, &r, inside.inner, NEED_ANY);
	return r;
}

static struct known analyse(struct analysis *a, const struct ast *t)
{
	struct known r = { .longest = NEED_ANY };

	switch (t->kind) {
	case AST_LOOK:
		a->looks = true;
		return all_of(a->form->empty(a->arena), 0);
	case AST_EMPTY:
		return all_of(a->form->empty(a->arena), 0);
	case AST_CHARS:
		return all_of(a->form->chars(&t->chars, a->arena),
			      charset_last(&t->chars) < 0x80 ? 1 : 4);
	case AST_GROUP:
		return analyse(a, t->child);
	case AST_REPEAT:
		return repeated(a, t);
	case AST_CAT:
		r = analyse(a, t->child);
		for (const struct ast *k = t->child->next; k; k = k->next)
			r = concatenate(a, r, analyse(a, k));
		return r;
	case AST_ALT:
		r = analyse(a, t->child);
		for (const struct ast *k = t->child->next; k; k = k->next)
			r = either(a, r, analyse(a, k));
		return r;
	case AST_AROUND:
		return around(a, t);
	default:
		return r;
	}
}

/* Append the bytes of plain text, however long; -1 when the tree is something else. */
static int plain_text(const struct ast *t, bool nocase, struct buf *to)
{
	const struct charset *c = &t->chars;
	char bytes[4];

	if (t->kind == AST_EMPTY)
		return 0;
	if (t->kind == AST_GROUP)
		return plain_text(t->child, nocase, to);
	if (t->kind == AST_CAT) {
		for (const struct ast *k = t->child; k; k = k->next)
			if (plain_text(k, nocase, to) < 0)
				return -1;
		return 0;
	}
	if (t->kind != AST_CHARS || c->n == 0 || c->ranges[0].lo != c->ranges[0].hi)
		return -1;

	const uint32_t first = c->ranges[0].lo;
	const bool letter = (first | 0x20) >= 'a' && (first | 0x20) <= 'z';
	const bool pair = c->n == 2 && letter && c->ranges[1].lo == (first | 0x20) &&
			  c->ranges[1].hi == c->ranges[1].lo;

	if (nocase ? letter != pair || (!pair && c->n != 1) : c->n != 1)
		return -1;
	buf_add(to, (struct str){ bytes, utf8_encode(pair ? first | 0x20 : first, bytes) });
	return 0;
}

static int need_literal(struct need *n, struct str text, bool nocase)
{
	char *copy = n->memory = mem_new(text.n, 1);

	if (!copy)
		return -1;
	memcpy(copy, text.p, text.n);
	n->kind = NEED_LITERAL;
	n->length = text.n;
	literal_init(&n->literal, (struct str){ copy, text.n }, nocase);
	return 0;
}

static int need_literals(struct need *n, const struct factor *f)
{
	struct needle *needles = n->memory = mem_new(f->n, sizeof(*needles) + FACTOR_LENGTH);

	if (!needles)
		return -1;
	char *to = (char *)(needles + f->n);
	for (unsigned i = 0; i < f->n; i++) {
		const size_t length = f->words[i].n;

		memcpy(to, f->words[i].p, length);
		needles[i].text = (struct str){ to, length };
		needles[i].nocase = f->anycase;
		to += length;
	}
	n->kind = NEED_LITERALS;
	return literals_init(&n->literals, needles, f->n);
}

static int need_plain_text(struct need *n, const struct ast *root)
{
	AUTO_BUF text = { .max = LIMIT_REGEX_PATTERN };

	for (int nocase = 0; nocase < 2; nocase++) {
		buf_reset(&text, text.cap);
		if (plain_text(root, nocase, &text) < 0 || text.n == 0 || text.failed)
			continue;
		n->exact = true;
		return need_literal(n, buf_str(&text), nocase) < 0 ? -1 : 1;
	}
	return 0;
}

/* Roughly the nanoseconds per byte: the search itself, and a line for every hit. */
static double cost(double search, double rarity)
{
	return search + LINE_NS * exp2(rarity);
}

/* The words, unless comparing them costs more than reading everything. */
static int try_words(struct need *n, const struct known *w)
{
	const struct factor *f = w->inner;

	if (f->n == 1 ? need_literal(n, f->words[0], f->anycase) < 0 : need_literals(n, f) < 0)
		return -1;
	n->lead = w->lead;
	if (n->kind == NEED_LITERAL || COMPARE_NS * literals_left(&n->literals) < READ_NS)
		return 1;
	need_done(n);
	return 0;
}

static int choose(struct need *n, const struct known *w, const struct known *r, bool more)
{
	const double by_words = cost(0.1, factor_words.rarity(w->inner));
	const double by_run = cost(0.1, factor_run.rarity(r->inner));

	if (by_words < READ_NS && by_words <= by_run) {
		const int got = try_words(n, w);

		n->exact = got > 0 && !more && w->whole == w->inner &&
			   !(w->inner->anycase && w->inner->onecase);
		if (got != 0)
			return got < 0 ? -1 : 0;
	}
	if (by_run < READ_NS) {
		n->kind = NEED_BYTESETS;
		n->lead = r->lead;
		bytesets_init(&n->bytesets, r->inner->run, r->inner->n);
	}
	return 0;
}

int need_init(struct need *n, const struct ast_pattern *p)
{
	AUTO_ARENA arena = { .max = LIMIT_REGEX_ARENA };
	struct analysis words = { .form = &factor_words, .arena = &arena };
	struct analysis runs = { .form = &factor_run, .arena = &arena };
	const int plain = need_plain_text(n, p->root);

	if (plain != 0)
		return plain < 0 ? -1 : 0;

	const struct known w = analyse(&words, p->root), r = analyse(&runs, p->root);

	if (arena.failed)
		return 0; /* the pattern is too complex: the automaton reads everything */
	return choose(n, &w, &r, words.looks || p->pcre);
}

void need_done(struct need *n)
{
	if (n->kind == NEED_LITERALS)
		literals_done(&n->literals);
	mem_free(n->memory);
	*n = (struct need){ 0 };
}

size_t need_find(const struct need *n, struct str text, size_t from)
{
	switch (n->kind) {
	case NEED_LITERAL:
		return literal_find(&n->literal, text, from);
	case NEED_LITERALS:
		return literals_find(&n->literals, text, from);
	case NEED_BYTESETS:
		return bytesets_find(&n->bytesets, text, from);
	case NEED_NOTHING:
		break;
	}
	return from;
}
