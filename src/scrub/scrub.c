/* SPDX-License-Identifier: MIT */
/* scrub: one pass over known text, and the streams and whole texts made of passes. */

#include "scrub/scrub.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "scrub/private_key.h"
#include "scrub/rules.h"

struct pass {
	struct scrubber *s;
	struct str text;
	bool final;
	struct buf *out;
	size_t done;  /* what is before it has gone out, or was swallowed */
	size_t found; /* where the last find begins, with the name it is assigned to */
	struct scrub_cut cut;
};

/* A find in the whole text of a pass. */
struct hit {
	const struct shape *shape;
	size_t start; /* of the shape */
	struct find find;
};

static struct place place_at(const struct pass *p, size_t i)
{
	struct place at = { .text = str_from(p->text, i), .final = p->final };

	at.before[0] = i > 0 ? p->text.p[i - 1] : p->s->before[0];
	at.before[1] = i > 1 ? p->text.p[i - 2] : p->s->before[1 - i];
	return at;
}

/* Whether a definite shape lies where a weak one would replace something. */
static enum verdict definite_at(const struct pass *p, size_t i)
{
	const struct scrub *r = p->s->rules;
	const struct place at = place_at(p, i);
	struct find ignored;

	for (size_t k = 0; k < r->count; k++) {
		const enum verdict v = r->shapes[k].flags & SHAPE_WEAK
					       ? NO
					       : shape_at(&r->shapes[k], &at, &ignored);
		if (v != NO)
			return v;
	}
	return NO;
}

/* Try every shape whose key may stand at i. */
static enum verdict try_shapes(const struct pass *p, size_t i, struct hit *ret)
{
	const struct finder *f = &p->s->rules->finder;

	for (unsigned k = finder_first(f, p->text.p + i); k != FINDER_NONE; k = f->next[k]) {
		const struct shape *s = &f->shapes[k];
		if (i < p->done + s->key)
			continue;
		*ret = (struct hit){ .shape = s, .start = i - s->key };
		const struct place at = place_at(p, ret->start);
		enum verdict v = shape_at(s, &at, &ret->find);
		if (v == HIT && (s->flags & SHAPE_WEAK)) {
			const enum verdict other = definite_at(p, ret->start + ret->find.from);
			v = other == NO ? HIT : other == HIT ? NO : MORE;
		}
		if (v != NO)
			return v;
	}
	return NO;
}

/* Go past what belongs to the find before. False when the text ends in it. */
static bool swallow(struct pass *p)
{
	struct scrubber *s = p->s;

	if (s->swallow) {
		while (p->done < p->text.n && byteset_has(s->swallow, p->text.p[p->done]))
			p->done++;
		if (p->done == p->text.n && !p->final)
			return false;
		s->swallow = NULL;
	}
	if (s->body_left) {
		const struct str rest = str_from(p->text, p->done);
		p->done += private_key_body(rest, p->final, &s->body_left);
		if (s->body_left && !p->final)
			return false;
		s->body_left = 0;
	}
	return true;
}

/* Whole characters only: a place inside one moves to its start. */
static size_t char_start(struct str text, size_t i, size_t least)
{
	while (i > least && i < text.n && ((unsigned char)text.p[i] & 0xc0) == 0x80)
		i--;
	return i;
}

static void redact(struct pass *p, const struct hit *h)
{
	struct scrubber *s = p->s;
	const enum scrub_kind kind = h->shape->kind;
	const size_t from = h->start + h->find.from;

	p->found = h->start;
	buf_add(p->out, (struct str){ p->text.p + p->done, from - p->done });
	buf_addf(p->out, "[REDACTED:%s]", h->shape->name ? h->shape->name : scrub_kind_name(kind));
	if (s->counts)
		atomic_fetch_add_explicit(&s->counts->of[kind], 1, memory_order_relaxed);
	p->done = h->start + h->find.to;
	s->swallow = h->find.swallow;
	s->body_left = h->find.key_body ? LIMIT_SCRUB_KEY_BODY : 0;
}

/* The last find is whole now: when the cut lies in it, both parts go without. An escape before it
 * is part of it: behind \ the n of "\nAKIA" would be one word with what follows. */
static void widen_cut(struct pass *p)
{
	const size_t at = p->cut.from;
	const bool in_escape = at > 0 && at + 1 == p->found && p->text.p[at - 1] == '\\';

	if (at < p->done && (p->found < at || in_escape))
		p->cut = (struct scrub_cut){ in_escape ? at : p->found, p->done };
}

/* Redact what can be; returns how much of the text is decided, at least done. */
static size_t scan(struct pass *p)
{
	const struct finder *f = &p->s->rules->finder;
	size_t i = 0;

	while (swallow(p)) {
		struct hit hit;
		enum verdict v = NO;
		widen_cut(p);
		for (i = i > p->done ? i : p->done; v == NO; i++) {
			i = finder_next(f, p->text, i);
			if (i == p->text.n)
				break;
			v = try_shapes(p, i, &hit);
		}
		if (v == HIT) {
			redact(p, &hit);
			continue;
		}
		if (v == NO && p->final)
			return p->text.n;
		if (v == NO)
			return finder_tail(f, str_upto(p->text, utf8_whole(p->text)), p->done);
		/* A shape known by a later key may begin a little earlier. */
		const size_t before =
			hit.start - p->done < f->reach ? p->done : hit.start - f->reach;
		return char_start(p->text, before, p->done);
	}
	return p->done;
}

/* Scan and let out what is decided; returns how much that was of the text. */
static size_t pass(struct scrubber *s, struct str text, bool final, struct buf *out)
{
	struct pass p = { .s = s, .text = text, .final = final, .out = out };
	const size_t decided = scan(&p);

	buf_add(out, (struct str){ text.p + p.done, decided - p.done });
	if (decided > 0) {
		s->before[1] = decided > 1 ? text.p[decided - 2] : s->before[0];
		s->before[0] = text.p[decided - 1];
	}
	return decided;
}

void scrubber_feed(struct scrubber *s, struct str piece, struct buf *out)
{
	s->held.max = LIMIT_SCRUB_HELD;
	while (piece.n && !out->failed) {
		const size_t old = s->held.n;
		if (old == 0) {
			const size_t used = pass(s, piece, false, out);
			buf_add(&s->held, str_from(piece, used));
			out->failed |= s->held.failed;
			return;
		}
		const struct str step = str_upto(piece, LIMIT_SCRUB_STEP);
		buf_add(&s->held, step);
		out->failed |= s->held.failed;
		piece = str_from(piece, step.n);
		const size_t used = pass(s, buf_str(&s->held), false, out);
		if (used < old) {
			buf_drop(&s->held, used);
			continue;
		}
		/* What is left came with this piece: it goes on from there without copies. */
		const size_t left = s->held.n - used;
		piece = (struct str){ piece.p - left, piece.n + left };
		buf_reset(&s->held, LIMIT_SCRUB_HELD);
	}
}

void scrubber_end(struct scrubber *s, struct buf *out)
{
	(void)pass(s, buf_str(&s->held), true, out);
	buf_reset(&s->held, LIMIT_SCRUB_HELD);
	s->swallow = NULL;
	s->body_left = 0;
	s->before[0] = s->before[1] = 0;
}

void scrubber_done(struct scrubber *s)
{
	buf_done(&s->held);
}

struct str scrub_text(const struct scrub *rules, struct scrub_counts *counts, struct str text,
		      struct buf *aside)
{
	struct scrubber s = { .rules = rules, .counts = counts };
	struct pass p = { .s = &s, .text = text, .final = true, .out = aside };

	buf_reset(aside, aside->max);
	(void)scan(&p);
	if (p.done == 0)
		return text;
	buf_add(aside, str_from(text, p.done));
	return aside->failed ? STR("") : buf_str(aside);
}

struct scrub_cut scrub_cut(const struct scrub *rules, struct str text, size_t at)
{
	struct scrubber s = { .rules = rules };
	AUTO_BUF nothing = { .max = 0 };
	struct pass p = {
		.s = &s, .text = text, .final = true, .out = &nothing, .cut = { at, at }
	};

	if (rules)
		(void)scan(&p);
	return p.cut;
}

size_t scrub_decided(const struct scrub *rules, struct str text)
{
	struct scrubber s = { .rules = rules };
	AUTO_BUF nothing = { .max = 0 };
	struct pass p = { .s = &s, .text = text, .out = &nothing };
	size_t decided = scan(&p);

	if (s.swallow || s.body_left)
		decided = p.found;
	return text.n - decided > LIMIT_SCRUB_HELD ? text.n : decided;
}
