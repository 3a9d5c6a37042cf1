/* SPDX-License-Identifier: MIT */
/* scrub: one pass over known text; streams and whole texts are made of passes. */

#include "scrub/scrub.h"

#include "base/limits.h"
#include "base/own.h"
#include "base/utf8.h"
#include "scrub/limits.h"
#include "scrub/shape.h"

struct pass {
	struct scrubber *s;
	struct str text;
	bool final;
	struct buf *out;
	size_t done;  /* what is before it has gone out, or was swallowed */
	size_t found; /* where the last find begins, including the name it is assigned to */
	struct scrub_cut cut;
};

/* A shape that was found in the text of a pass. */
struct shape_hit {
	const struct shape *shape;
	size_t start; /* of the shape */
	struct redaction what;
};

const char *scrub_kind_name(enum scrub_kind kind)
{
	static const char *const names[SCRUB_KIND_COUNT] = {
#define X(id, name) name,
		SCRUB_KINDS(X)
#undef X
	};

	return names[kind];
}

int scrub_new(const struct scrub_options *o, struct scrub **ret, struct err *e)
{
	struct scrub *r = mem_new(1, sizeof *r);

	if (!r)
		return err_set(e, ERR_EXECUTION_ERROR, "No memory for the scrubber.");
	if (rules_init(r, o->secrets, o->secret_count, o->patterns, e) < 0) {
		scrub_free(r);
		return -1;
	}
	*ret = r;
	return 0;
}

void scrub_free(struct scrub *rules)
{
	if (!rules)
		return;
	rules_done(rules);
	mem_free(rules);
}

/* The nth byte before i, counted from 1. */
static char byte_before(const struct pass *p, size_t i, size_t n)
{
	return i >= n ? p->text.p[i - n] : p->s->before[SCRUB_BEFORE - (n - i)];
}

static bool ends_line(char c)
{
	return c == '\0' || c == '\n' || c == '\r';
}

/* Whether a line has nothing but blanks, the mark of a diff, or what a search prints before it in
 * front of the nth byte before i. */
static bool is_indent(const struct pass *p, size_t i, size_t n)
{
	const size_t from = n;

	while (n - from < LIMIT_SCRUB_INDENT && strchr(" \t", byte_before(p, i, n)) &&
	       byte_before(p, i, n))
		n++;
	const char byte = byte_before(p, i, n), next = byte_before(p, i, n + 1);
	return ends_line(byte) || (strchr("+-", byte) && ends_line(next)) ||
	       (byte == ':' && (n == from || (next >= '0' && next <= '9')));
}

/* The same when a word may be there that comes before NAME=value. */
static enum shape_lead lead_word(const struct pass *p, size_t i, size_t n)
{
	static const struct {
		struct str text;
		enum shape_lead lead;
	} words[] = {
		{ STR("declare -x "), LEAD_DECLARED },
		{ STR("export "), LEAD_LINE },
		{ STR("ENV "), LEAD_LINE },
		{ STR("set "), LEAD_LINE },
		{ STR("Environment="), LEAD_LINE },
		{ STR("Environment=\""), LEAD_LINE },
		{ STR("- "), LEAD_INDENTED },
		{ STR("# "), LEAD_INDENTED },
	};

	if (is_indent(p, i, n))
		return LEAD_INDENTED;
	for (size_t k = 0; k < ARRAY_LEN(words); k++) {
		const struct str w = words[k].text;
		size_t same = 0;
		while (same < w.n && byte_before(p, i, n + same) == w.p[w.n - 1 - same])
			same++;
		if (same == w.n && is_indent(p, i, n + w.n))
			return words[k].lead;
	}
	return LEAD_OTHER;
}

static enum shape_lead lead_at(const struct pass *p, size_t i)
{
	static const struct byteset name = { { BYTES_DIGIT, BYTES_LETTER | BYTE('_') } };
	size_t n = 1;

	while (n <= LIMIT_SCRUB_NAME && byteset_has(&name, byte_before(p, i, n)))
		n++;
	const char byte = byte_before(p, i, n);
	if (n > LIMIT_SCRUB_NAME)
		return LEAD_OTHER;
	if (ends_line(byte) || byte == '\t' ||
	    (strchr("+- ", byte) && ends_line(byte_before(p, i, n + 1))))
		return LEAD_LINE;
	if (byte == ':')
		return LEAD_COLON;
	return strchr(" =\"", byte) ? lead_word(p, i, n) : LEAD_OTHER;
}

static struct shape_place place_at(const struct pass *p, size_t i, bool names)
{
	return (struct shape_place){
		.text = str_from(p->text, i),
		.final = p->final,
		.before = { byte_before(p, i, 1), byte_before(p, i, 2) },
		.lead = names ? lead_at(p, i) : LEAD_OTHER,
	};
}

/* Whether a definite shape begins where a weak one would replace something. */
static enum shape_verdict definite_at(const struct pass *p, size_t i)
{
	const struct scrub *r = p->s->rules;
	const struct shape_place at = place_at(p, i, false);
	struct redaction ignored;

	for (size_t k = 0; k < r->count; k++) {
		const enum shape_verdict v = r->shapes[k].flags & SHAPE_WEAK
						     ? NO
						     : shape_at(&r->shapes[k], &at, &ignored);
		if (v != NO)
			return v;
	}
	return NO;
}

/* Try every shape whose key may be at i, from shapes[k - 1] on. */
static enum shape_verdict try_shapes(const struct pass *p, size_t i, unsigned k,
				     struct shape_hit *ret)
{
	const struct scrub *r = p->s->rules;

	for (; k; k = r->keys.next[k - 1]) {
		const struct shape *s = &r->shapes[k - 1];
		if (i < p->done + s->key)
			continue;
		*ret = (struct shape_hit){ .shape = s, .start = i - s->key };
		const struct shape_place at = place_at(p, ret->start, s->rest == shape_assignment);
		enum shape_verdict v = shape_at(s, &at, &ret->what);
		if (v == HIT && (s->flags & SHAPE_WEAK)) {
			const enum shape_verdict other =
				definite_at(p, ret->start + ret->what.from);
			v = other == NO ? HIT : other == HIT ? NO : MORE;
		}
		if (v != NO)
			return v;
	}
	return NO;
}

/* Skip what belongs to the last find. False when the text ends in it. */
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

static void redact(struct pass *p, const struct shape_hit *h)
{
	struct scrubber *s = p->s;
	const enum scrub_kind kind = h->shape->kind;
	const size_t from = h->start + h->what.from;

	p->found = h->start;
	/* What begins the line identifies it, too. */
	if (h->shape->rest == shape_assignment && lead_at(p, h->start) != LEAD_OTHER)
		while (p->found > p->done && h->start - p->found < SCRUB_BEFORE &&
		       !ends_line(p->text.p[p->found - 1]))
			p->found--;
	buf_add(p->out, (struct str){ p->text.p + p->done, from - p->done });
	buf_addf(p->out, "[REDACTED:%s]", h->shape->name ? h->shape->name : scrub_kind_name(kind));
	if (s->counts)
		atomic_fetch_add_explicit(&s->counts->of[kind], 1, memory_order_relaxed);
	p->done = h->start + h->what.to;
	s->swallow = h->what.swallow;
	s->body_left = h->what.key_body ? LIMIT_SCRUB_KEY_BODY : 0;
}

/* The last find is complete now: if the cut lies in it, neither part gets it. An escape before it
 * is part of it: cut after the \, the n of "\nAKIA" would be one word with what follows. */
static void widen_cut(struct pass *p)
{
	const size_t at = p->cut.from;
	const bool in_escape = at > 0 && at + 1 == p->found && p->text.p[at - 1] == '\\';

	if (at < p->done && (p->found < at || in_escape))
		p->cut = (struct scrub_cut){ in_escape ? at : p->found, p->done };
}

/* Redact what is found; returns how much of the text is decided, at least done. */
static size_t scan(struct pass *p)
{
	const struct scrub *r = p->s->rules;
	size_t i = 0;

	while (swallow(p)) {
		struct shape_hit hit;
		enum shape_verdict v = NO;
		widen_cut(p);
		for (i = i > p->done ? i : p->done; v == NO; i++) {
			unsigned k = 0;
			i = literals_candidate(&r->keys, p->text, i, &k);
			if (i == p->text.n)
				break;
			v = try_shapes(p, i, k, &hit);
		}
		if (v == HIT) {
			redact(p, &hit);
			continue;
		}
		if (v == NO && p->final)
			return p->text.n;
		if (v == NO)
			return rules_tail(r, str_upto(p->text, utf8_whole(p->text)), p->done);
		/* A shape known by a later key may begin a little earlier. */
		const size_t before =
			hit.start - p->done < r->reach ? p->done : hit.start - r->reach;
		const size_t whole = utf8_whole(str_upto(p->text, before));
		return whole > p->done ? whole : p->done;
	}
	return p->done;
}

/* Scan and add what is decided to out; returns how much of the text that was. */
static size_t pass(struct scrubber *s, struct str text, bool final, struct buf *out)
{
	struct pass p = { .s = s, .text = text, .final = final, .out = out };
	const size_t decided = scan(&p);

	buf_add(out, str_from(str_upto(text, decided), p.done));
	const size_t n = decided < SCRUB_BEFORE ? decided : SCRUB_BEFORE;
	memmove(s->before, s->before + n, SCRUB_BEFORE - n);
	if (n)
		memcpy(s->before + SCRUB_BEFORE - n, text.p + decided - n, n);
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
		/* What is left came with this piece: continue there without copies. */
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
	memset(s->before, 0, sizeof s->before);
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
	return text.n - decided > LIMIT_SCRUB_HELD ? utf8_whole(text) : decided;
}

/* Kinds that share a slot are counted together; at worst one mark is taken for another. */
enum { MARK_SLOTS = 256 };

/* Also in capitals and with underscores, as a model might write a kind from memory. */
static bool is_kind_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

static void count_marks(struct str text, int64_t by, int64_t counts[MARK_SLOTS])
{
	const struct str begin = STR("[REDACTED:");

	for (ptrdiff_t at; (at = str_find(text, begin)) >= 0;) {
		unsigned hash = 0;
		size_t n = 0;
		text = str_from(text, (size_t)at + begin.n);
		for (; n < text.n && n <= LIMIT_SCRUB_PATTERN_NAME; n++) {
			if (!is_kind_char(text.p[n]))
				break;
			hash = hash * 31 + (unsigned char)text.p[n];
		}
		if (n > 0 && n < text.n && text.p[n] == ']')
			counts[hash % MARK_SLOTS] += by;
	}
}

bool scrub_mark_added(struct str text, struct str present)
{
	int64_t counts[MARK_SLOTS] = { 0 };

	count_marks(text, 1, counts);
	count_marks(present, -1, counts);
	for (size_t i = 0; i < MARK_SLOTS; i++)
		if (counts[i] > 0)
			return true;
	return false;
}
