/* SPDX-License-Identifier: MIT */
/* wild: two comparisons for common patterns, a set of states for the others. */

#include "search/wild.h"

#include "base/limits.h"
#include "base/own.h"
#include "base/utf8.h"
#include "search/wild_program.h"

enum wild_shape {
	SHAPE_NEVER,
	SHAPE_EXACT,   /* head */
	SHAPE_STAR,    /* head, "*", tail */
	SHAPE_PROGRAM, /* head, the steps from first_step on; the text ends with tail */
};

struct wild {
	enum wild_shape shape;
	bool nocase, git;
	struct str head, tail; /* in `text` */
	struct str need;       /* in `text`: occurs somewhere between; empty when unknown */
	size_t first_step;
	struct wild_program program;
	char text[]; /* the plain text at both ends, in UTF-8 */
};

enum { WORDS_MAX = (2 * LIMIT_GLOB_BYTES + 2 + 63) / 64 };

static size_t put_unit(const struct wild *w, uint32_t unit, char out[4])
{
	if (unit >= WILD_BAD_BYTE || (w->git && unit < 256)) {
		out[0] = (char)(unit & 0xff);
		return 1;
	}
	return utf8_encode(unit, out);
}

/* Append the steps from..to, all of them plain characters, to the text. */
static struct str put_run(struct wild *w, size_t *used, size_t from, size_t to)
{
	char *start = w->text + *used;

	for (size_t i = from; i < to; i++) {
		char unit[4];
		const size_t n = put_unit(w, w->program.steps[i].arg, unit);

		memcpy(w->text + *used, unit, n);
		*used += n;
	}
	return (struct str){ start, (size_t)(w->text + *used - start) };
}

/* The longest plain text between the ends that every match contains. Not when case is ignored. */
static struct str longest_run(struct wild *w, size_t *used, size_t from, size_t to)
{
	const struct wild_step *s = w->program.steps;
	size_t best = from, best_n = 0;

	/* After the last brace every step is certain; before it, few are. */
	for (size_t i = from > w->program.fixed ? from : w->program.fixed; i < to; i++) {
		size_t n = 0;

		while (i + n < to && s[i + n].op == WILD_UNIT)
			n++;
		if (n > best_n) {
			best = i;
			best_n = n;
		}
		i += n;
	}
	if (w->nocase)
		return (struct str){ 0 };
	return put_run(w, used, best, best + best_n);
}

/* Find the plain text at both ends, and whether there is more than one star between. */
static void choose_shape(struct wild *w)
{
	const struct wild_program *p = &w->program;
	const size_t end = p->count - 1;
	size_t head = 0, tail = end, used = 0;

	if (p->never)
		return;
	while (head < end && p->steps[head].op == WILD_UNIT)
		head++;
	while (tail > head && tail > p->fixed && p->steps[tail - 1].op == WILD_UNIT)
		tail--;
	w->head = put_run(w, &used, 0, head);
	w->tail = put_run(w, &used, tail, end);
	w->first_step = head;
	if (head == end)
		w->shape = SHAPE_EXACT;
	else if (tail == head + 1 && p->steps[head].op == WILD_STAR)
		w->shape = SHAPE_STAR;
	else
		w->shape = SHAPE_PROGRAM;
	if (w->shape == SHAPE_PROGRAM)
		w->need = longest_run(w, &used, head, tail);
}

int wild_new(struct str pattern, unsigned flags, struct wild **ret, struct err *e)
{
	const bool git = flags & WILD_GIT, nocase = flags & WILD_NOCASE;
	struct wild_program p;

	if (wild_program_init(&p, pattern, git, nocase, e) < 0)
		return -1;
	/* Every character in the text was at least as long in the pattern. */
	struct wild *w = mem_new(1, sizeof *w + pattern.n + 1);
	if (!w) {
		wild_program_done(&p);
		return err_set(e, ERR_IO_ERROR, "Out of memory");
	}
	w->nocase = nocase;
	w->git = git;
	w->program = p;
	choose_shape(w);
	if (w->shape != SHAPE_PROGRAM)
		wild_program_done(&w->program);
	*ret = w;
	return 0;
}

void wild_free(struct wild *w)
{
	if (!w)
		return;
	wild_program_done(&w->program);
	mem_free(w);
}

int wild_first(const struct wild *w)
{
	return w->head.n && !w->nocase ? (unsigned char)w->head.p[0] : -1;
}

int wild_last(const struct wild *w)
{
	const struct str s = w->shape == SHAPE_EXACT ? w->head : w->tail;

	return s.n && !w->nocase ? (unsigned char)s.p[s.n - 1] : -1;
}

static bool class_has(const struct wild *w, const struct wild_class *c, uint32_t unit)
{
	bool in = false;

	if (unit == '/')
		return false;
	if (unit < 256)
		in = c->low[unit >> 6] >> (unit & 63) & 1;
	for (size_t i = 0; i < c->ranges && !in; i++) {
		const struct wild_range *r = &w->program.ranges[c->range + i];

		in = unit >= r->first && unit <= r->last;
	}
	return in != c->negated;
}

/* Activate a step and all steps it leads to without consuming a character. The bit of a step is set
 * first, so each is visited once and a chain of empty alternatives cannot multiply. */
static void enter(const struct wild *w, uint64_t *set, size_t step)
{
	for (;;) {
		const struct wild_step *s = &w->program.steps[step];
		const uint64_t bit = 1ULL << (step & 63);

		if (set[step >> 6] & bit)
			return;
		set[step >> 6] |= bit;
		switch (s->op) {
		case WILD_STAR:
		case WILD_TAIL:
			step++;
			break;
		case WILD_DEEP:
			set[(step + 1) >> 6] |= 1ULL << ((step + 1) & 63);
			step += 2;
			break;
		case WILD_SPLIT:
			if (s->arg)
				enter(w, set, s->arg);
			step++;
			break;
		case WILD_JUMP:
			step = s->arg;
			break;
		default:
			return;
		}
	}
}

/* What one active step makes of a character. */
static void advance(const struct wild *w, size_t step, uint32_t unit, uint64_t *next)
{
	const struct wild_step *s = &w->program.steps[step];

	switch (s->op) {
	case WILD_UNIT:
		if (s->arg == unit)
			enter(w, next, step + 1);
		break;
	case WILD_ANY:
		if (unit != '/')
			enter(w, next, step + 1);
		break;
	case WILD_CLASS:
		if (class_has(w, &w->program.classes[s->arg], unit))
			enter(w, next, step + 1);
		break;
	case WILD_STAR:
		if (unit != '/')
			enter(w, next, step);
		break;
	case WILD_LOOP:
		if (unit == '/')
			enter(w, next, step + 1);
		enter(w, next, step);
		break;
	case WILD_TAIL:
		enter(w, next, step);
		break;
	default:
		break;
	}
}

static bool run(const struct wild *w, struct str text, uint64_t *now, uint64_t *next, size_t words)
{
	enter(w, now, w->first_step);
	for (size_t at = 0, len; at < text.n; at += len) {
		const uint32_t unit =
			wild_fold(wild_unit(str_from(text, at), w->git, &len), w->nocase);
		uint64_t any = 0;

		memset(next, 0, words * sizeof *next);
		for (size_t i = 0; i < words; i++)
			for (uint64_t bits = now[i]; bits; bits &= bits - 1)
				advance(w, i * 64 + (size_t)__builtin_ctzll(bits), unit, next);
		for (size_t i = 0; i < words; i++)
			any |= next[i];
		if (!any)
			return false;
		uint64_t *const swap = now;
		now = next;
		next = swap;
	}
	const size_t end = w->program.count - 1;
	return now[end >> 6] >> (end & 63) & 1;
}

static bool __attribute__((noinline)) run_large(const struct wild *w, struct str text)
{
	uint64_t now[WORDS_MAX] = { 0 }, next[WORDS_MAX];

	return run(w, text, now, next, (w->program.count + 63) / 64);
}

static bool same(const struct wild *w, const char *a, struct str b)
{
	if (w->nocase)
		return str_eq_nocase((struct str){ a, b.n }, b);
	/* Most names differ in the last byte: not worth a call. */
	return a[b.n - 1] == b.p[b.n - 1] && memcmp(a, b.p, b.n) == 0;
}

bool wild_match(const struct wild *w, struct str text)
{
	const size_t plain = w->head.n + w->tail.n;

	if (w->shape == SHAPE_NEVER || text.n < plain)
		return false;
	if (w->tail.n && !same(w, text.p + text.n - w->tail.n, w->tail))
		return false;
	if (w->head.n && !same(w, text.p, w->head))
		return false;
	if (w->shape == SHAPE_EXACT)
		return text.n == plain;
	if (w->shape == SHAPE_STAR)
		return text.n == plain || !memchr(text.p + w->head.n, '/', text.n - plain);

	const struct str rest = str_from(text, w->head.n);
	if (w->need.n > rest.n)
		return false;
	if (w->need.n && !memmem(rest.p, rest.n, w->need.p, w->need.n))
		return false;
	uint64_t now[1] = { 0 }, next[1];

	if (w->program.count <= 64)
		return run(w, rest, now, next, 1);
	return run_large(w, rest);
}
