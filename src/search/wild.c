/* SPDX-License-Identifier: MIT */
/* wild: two comparisons for common patterns, a set of states for the others. */

#include "search/wild.h"

#include "base/own.h"
#include "base/utf8.h"
#include "search/limits.h"
#include "search/wild_program.h"

enum wild_shape {
	SHAPE_NEVER,
	SHAPE_EXACT,   /* head */
	SHAPE_STAR,    /* head, "*", tail */
	SHAPE_PROGRAM, /* head, the steps from first_step on; the text ends with tail */
	SHAPE_PARTS,   /* one part after the other */
};

/* A piece of a pattern that has a "!(…)": such a one, or what is between two. */
struct wild_part {
	struct wild_program program;
	bool is_not;
};

struct wild {
	enum wild_shape shape;
	bool nocase, git;
	struct str head, tail; /* in `text` */
	struct str need;       /* in `text`: occurs somewhere between; empty when unknown */
	size_t first_step;
	struct wild_program program;
	struct wild_part *parts; /* or NULL */
	size_t part_count;
	char text[]; /* the plain text at both ends, in UTF-8 */
};

enum {
	WORDS_MAX = (2 * LIMIT_GLOB_BYTES + 2 + 63) / 64,
	TEXT_WORDS = LIMIT_GLOB_TEXT / 64 + 1,
};

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

static struct wild *new_wild(const struct wild_source *s)
{
	/* Every character in the text was at least as long in the pattern. */
	struct wild *w = mem_new(1, sizeof *w + s->pattern.n + 1);

	if (w) {
		w->nocase = s->nocase;
		w->git = s->git;
	}
	return w;
}

static int add_part(struct wild *w, const struct wild_source *s, struct err *e)
{
	struct wild_part *part = &w->parts[w->part_count];

	if (s->from == s->to)
		return 0;
	if (wild_program_init(&part->program, s, e) < 0)
		return -1;
	part->is_not = s->is_not;
	w->part_count++;
	return 0;
}

/* Cut the pattern at each "!(…)". */
static int add_parts(struct wild *w, struct wild_source s, struct err *e)
{
	const size_t end = s.to;
	size_t open, close;

	for (int count = 0; wild_find_not(&s, &open, &close); count++) {
		if (count == LIMIT_GLOB_NOTS)
			return err_set(e, ERR_INVALID_GLOB,
				       "Invalid glob \"%.*s\" at offset %zu: it has more than %d "
				       "\"!(…)\"",
				       STR_FMT(s.pattern), open, LIMIT_GLOB_NOTS);
		s.to = open;
		if (add_part(w, &s, e) < 0)
			return -1;
		s.from = open;
		s.to = close + 1;
		s.is_not = true;
		if (add_part(w, &s, e) < 0)
			return -1;
		s.from = close + 1;
		s.to = end;
		s.is_not = false;
	}
	return add_part(w, &s, e);
}

static int new_parts(const struct wild_source *s, struct wild **ret, struct err *e)
{
	struct wild *w = new_wild(s);

	if (w)
		w->parts = mem_new(2 * LIMIT_GLOB_NOTS + 1, sizeof *w->parts);
	if (!w || !w->parts) {
		wild_free(w);
		return err_set(e, ERR_IO_ERROR, "Out of memory");
	}
	w->shape = SHAPE_PARTS;
	if (add_parts(w, *s, e) < 0) {
		wild_free(w);
		return -1;
	}
	*ret = w;
	return 0;
}

int wild_new(struct str pattern, unsigned flags, struct wild **ret, struct err *e)
{
	const struct wild_source s = {
		.pattern = pattern,
		.to = pattern.n,
		.git = flags & WILD_GIT,
		.nocase = flags & WILD_NOCASE,
	};
	struct wild_program p;
	size_t open, close;

	if (!s.git && pattern.n <= LIMIT_GLOB_BYTES && wild_find_not(&s, &open, &close))
		return new_parts(&s, ret, e);
	if (wild_program_init(&p, &s, e) < 0)
		return -1;
	struct wild *w = new_wild(&s);
	if (!w) {
		wild_program_done(&p);
		return err_set(e, ERR_IO_ERROR, "Out of memory");
	}
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
	for (size_t i = 0; i < w->part_count; i++)
		wild_program_done(&w->parts[i].program);
	mem_free(w->parts);
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

static bool class_has(const struct wild_program *p, const struct wild_class *c, uint32_t unit)
{
	bool in = false;

	if (unit == '/')
		return false;
	if (unit < 256)
		in = c->low[unit >> 6] >> (unit & 63) & 1;
	for (size_t i = 0; i < c->ranges && !in; i++) {
		const struct wild_range *r = &p->ranges[c->range + i];

		in = unit >= r->first && unit <= r->last;
	}
	return in != c->negated;
}

/* Activate a step and all steps it leads to without consuming a character. The bit of a step is set
 * first, so each is visited once and a chain of empty alternatives cannot multiply. */
static void enter(const struct wild_program *p, uint64_t *set, size_t step)
{
	for (;;) {
		const struct wild_step *s = &p->steps[step];
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
				enter(p, set, s->arg);
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
static void advance(const struct wild_program *p, size_t step, uint32_t unit, uint64_t *next)
{
	const struct wild_step *s = &p->steps[step];

	switch (s->op) {
	case WILD_UNIT:
		if (s->arg == unit)
			enter(p, next, step + 1);
		break;
	case WILD_ANY:
		if (unit != '/')
			enter(p, next, step + 1);
		break;
	case WILD_CLASS:
		if (class_has(p, &p->classes[s->arg], unit))
			enter(p, next, step + 1);
		break;
	case WILD_STAR:
		if (unit != '/')
			enter(p, next, step);
		break;
	case WILD_LOOP:
		if (unit == '/')
			enter(p, next, step + 1);
		enter(p, next, step);
		break;
	case WILD_TAIL:
		enter(p, next, step);
		break;
	default:
		break;
	}
}

/* All active steps take the character. False if none is active any more. */
static bool advance_all(const struct wild_program *p, uint32_t unit, const uint64_t *now,
			uint64_t *next, size_t words)
{
	uint64_t any = 0;

	memset(next, 0, words * sizeof *next);
	for (size_t i = 0; i < words; i++)
		for (uint64_t bits = now[i]; bits; bits &= bits - 1)
			advance(p, i * 64 + (size_t)__builtin_ctzll(bits), unit, next);
	for (size_t i = 0; i < words; i++)
		any |= next[i];
	return any;
}

static bool has_bit(const uint64_t *set, size_t i)
{
	return set[i >> 6] >> (i & 63) & 1;
}

static void set_bit(uint64_t *set, size_t i)
{
	set[i >> 6] |= 1ULL << (i & 63);
}

static bool run(const struct wild *w, struct str text, uint64_t *now, uint64_t *next, size_t words)
{
	enter(&w->program, now, w->first_step);
	for (size_t at = 0, len; at < text.n; at += len) {
		const uint32_t unit =
			wild_fold(wild_unit(str_from(text, at), w->git, &len), w->nocase);
		if (!advance_all(&w->program, unit, now, next, words))
			return false;
		uint64_t *const swap = now;
		now = next;
		next = swap;
	}
	return has_bit(now, w->program.count - 1);
}

static bool __attribute__((noinline)) run_large(const struct wild *w, struct str text)
{
	uint64_t now[WORDS_MAX] = { 0 }, next[WORDS_MAX];

	return run(w, text, now, next, (w->program.count + 63) / 64);
}

/* All offsets at which a match of the program can end that began at one of `starts`. */
static void find_ends(const struct wild *w, const struct wild_program *p, struct str text,
		      const uint64_t *starts, uint64_t *ends)
{
	const size_t words = (p->count + 63) / 64;
	uint64_t sets[2][WORDS_MAX] = { { 0 } };
	uint64_t *now = sets[0], *next = sets[1];

	for (size_t at = 0, len;; at += len) {
		if (has_bit(starts, at))
			enter(p, now, 0);
		if (has_bit(now, p->count - 1))
			set_bit(ends, at);
		if (at == text.n)
			return;
		const uint32_t unit =
			wild_fold(wild_unit(str_from(text, at), w->git, &len), w->nocase);
		(void)advance_all(p, unit, now, next, words);
		uint64_t *const swap = now;
		now = next;
		next = swap;
	}
}

/* The same for a "!(…)", from one start: it can end wherever its alternatives do not, up to the end
 * of the component. */
static void find_other_ends(const struct wild *w, const struct wild_program *p, struct str text,
			    size_t start, uint64_t *ends)
{
	const uint64_t first[TEXT_WORDS] = { 1 };
	uint64_t matched[TEXT_WORDS] = { 0 };
	struct str part = str_from(text, start);
	const ptrdiff_t slash = str_index(part, '/');
	size_t len = 1;

	if (slash >= 0)
		part.n = (size_t)slash;
	find_ends(w, p, part, first, matched);
	for (size_t at = 0; at <= part.n; at += len) {
		if (!has_bit(matched, at))
			set_bit(ends, start + at);
		if (at < part.n)
			(void)wild_unit(str_from(part, at), w->git, &len);
	}
}

/* Go from part to part with the set of all offsets at which it may begin. */
static bool __attribute__((noinline)) match_parts(const struct wild *w, struct str text)
{
	uint64_t sets[2][TEXT_WORDS] = { { 1 } };
	uint64_t *starts = sets[0], *ends = sets[1];

	if (text.n > LIMIT_GLOB_TEXT - 1)
		return false;
	for (size_t i = 0; i < w->part_count; i++) {
		const struct wild_part *part = &w->parts[i];
		memset(ends, 0, sizeof sets[0]);
		if (!part->is_not)
			find_ends(w, &part->program, text, starts, ends);
		for (size_t at = 0; part->is_not && at <= text.n; at++)
			if (has_bit(starts, at))
				find_other_ends(w, &part->program, text, at, ends);
		uint64_t *const swap = starts;
		starts = ends;
		ends = swap;
	}
	return has_bit(starts, text.n);
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

	if (w->shape == SHAPE_PARTS)
		return match_parts(w, text);
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
