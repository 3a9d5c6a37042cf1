/* SPDX-License-Identifier: MIT */
/* dfa: run a text through the lazily built states. */

#include "regex/dfa.h"

#include <xxhash.h>
#include "base/own.h"
#include "regex/limits.h"

#define STATE_SPECIAL UINT32_C(0x80000000)
#define STATE_FLAGGED UINT32_C(0xc0000000) /* a row whose state skips (DFA_EARLIEST) or matched */
#define STATE_UNKNOWN (STATE_SPECIAL | 1)
#define STATE_MATCH   (STATE_SPECIAL | 2)
#define STATE_DEAD    (STATE_SPECIAL | 3)
#define STATE_ROW     UINT32_C(0x3fffffff)

struct state {
	uint32_t at;	/* its nodes: ids[at] … */
	uint16_t n;	/* … this many */
	uint8_t before; /* enum side; SIDE_OTHER when no node depends on it */
	uint8_t utf8;	/* enum utf8_state; UTF8_WHOLE when no node depends on it */
	bool looks;	/* some node is a position */
	bool matched;	/* the match ended before the byte that led here */
	bool waiting;	/* it may be worth skipping bytes here: dfa_examine decides */
	bool examined;	/* it has decided */
};

static inline struct state *dfa_state(const struct dfa *d, uint32_t row)
{
	return &d->list[row / d->stride];
}

enum { FIRST_STATES = 16, FEW_TIMES = 4, SKIP_SHARE = 16 };

/* Add a node and those it leads to without reading a byte, preferred ones first. With `at`,
 * positions are decided; without it they stay in the list. */
static void reach(struct dfa *d, uint16_t node, uint16_t *list, size_t *n, const struct state *at,
		  unsigned next)
{
	size_t depth = 0;

	d->stack[depth++] = node;
	while (depth > 0) {
		const uint16_t id = d->stack[--depth];
		const struct nfa_node *k = &d->nfa->nodes[id];

		if (d->seen[id] == d->round)
			continue;
		d->seen[id] = d->round;
		if (k->op == NFA_FORK) {
			d->stack[depth++] = k->to_last;
			d->stack[depth++] = k->to;
		} else if (k->op == NFA_LOOK && at) {
			if (nfa_look(d->nfa, k->look, at->before, at->utf8, next))
				d->stack[depth++] = k->to;
		} else {
			list[(*n)++] = id;
		}
	}
}

static void new_round(struct dfa *d)
{
	if (++d->round == 0) {
		memset(d->seen, 0, d->nfa->n * sizeof(*d->seen));
		d->round = 1;
	}
}

/* Where the order does not matter, equal sets become equal lists. */
static void sort_then(struct dfa *d)
{
	const size_t words = (d->nfa->n + 63) / 64;
	size_t n = 0;

	for (size_t i = 0; i < d->n_then; i++)
		d->bits[d->then[i] / 64] |= UINT64_C(1) << (d->then[i] % 64);
	for (size_t w = 0; w < words; w++) {
		for (uint64_t b = d->bits[w]; b; b &= b - 1)
			d->then[n++] = (uint16_t)(w * 64 + (size_t)__builtin_ctzll(b));
		d->bits[w] = 0;
	}
}

static void forget(struct dfa *d)
{
	d->n = d->n_ids = 0;
	d->skips = 0;
	memset(d->table, 0, d->cap_table * sizeof(*d->table));
	for (size_t i = 0; i < ARRAY_LEN(d->starts); i++)
		d->starts[i] = STATE_UNKNOWN;
	d->forgotten++;
}

static size_t memory(const struct dfa *d, size_t cap, size_t cap_ids)
{
	const size_t state =
		d->stride * sizeof(*d->next) + sizeof(*d->list) + 2 * sizeof(*d->table);

	return cap * state + cap_ids * sizeof(*d->ids);
}

static uint64_t hash_of(const uint16_t *ids, size_t n, const struct state *k)
{
	return XXH3_64bits_withSeed(ids, n * sizeof(*ids),
				    (uint64_t)(k->before | k->utf8 << 8 | k->matched << 16));
}

static uint32_t *slot_of(struct dfa *d, const uint16_t *ids, const struct state *k)
{
	size_t h = hash_of(ids, k->n, k) & (d->cap_table - 1);

	for (; d->table[h]; h = (h + 1) & (d->cap_table - 1)) {
		const struct state *o = &d->list[d->table[h] - 1];

		if (o->n == k->n && o->before == k->before && o->utf8 == k->utf8 &&
		    o->matched == k->matched &&
		    memcmp(d->ids + o->at, ids, k->n * sizeof(*ids)) == 0)
			break;
	}
	return &d->table[h];
}

/* Double the room for states; false when there is no memory or the limit is reached. */
static bool grow_states(struct dfa *d)
{
	const size_t cap = d->cap ? d->cap * 2 : FIRST_STATES;
	void *next, *list, *table;

	if (d->cap && memory(d, cap, d->cap_ids) > LIMIT_REGEX_STATES)
		return false;
	next = mem_resize(d->next, cap * d->stride, sizeof(*d->next));
	if (next)
		d->next = next;
	list = mem_resize(d->list, cap, sizeof(*d->list));
	if (list)
		d->list = list;
	table = mem_new(cap * 2, sizeof(*d->table));
	if (!next || !list || !table) {
		mem_free(table);
		return false;
	}
	mem_free(d->table);
	d->table = table;
	d->cap_table = cap * 2;
	d->cap = cap;
	for (size_t i = 0; i < d->n; i++)
		*slot_of(d, d->ids + d->list[i].at, &d->list[i]) = (uint32_t)i + 1;
	return true;
}

static bool grow_ids(struct dfa *d)
{
	/* At first there is room for two of the largest states: one always fits. */
	const size_t cap = d->cap_ids ? d->cap_ids * 2 : 2 * d->nfa->n + 64;
	uint16_t *ids;

	if (d->cap_ids && memory(d, d->cap, cap) > LIMIT_REGEX_STATES)
		return false;
	ids = mem_resize(d->ids, cap, sizeof(*ids));
	if (!ids)
		return false;
	d->ids = ids;
	d->cap_ids = cap;
	return true;
}

/* Whether most bytes may lead back to this state. A guess: its nodes are those of the oldest state,
 * which is where searches start; with many states it does not pay. */
static bool is_waiting(const struct dfa *d, const struct state *k)
{
	return d->mode == DFA_EARLIEST && d->n > 0 && d->forgotten < FEW_TIMES &&
	       k->n == d->list[0].n &&
	       memcmp(d->ids + k->at, d->ids + d->list[0].at, k->n * sizeof(*d->ids)) == 0;
}

static uint32_t entry_of(const struct dfa *d, size_t index)
{
	const uint32_t row = (uint32_t)index * d->stride;

	if (d->mode != DFA_EARLIEST)
		return d->list[index].matched ? row | STATE_FLAGGED : row;
	for (unsigned i = 0; i < d->skips; i++)
		if (d->skip_row[i] == row)
			return row | STATE_FLAGGED;
	return row;
}

/* The entry of the state whose nodes are in d->then. */
static uint32_t intern(struct dfa *d, struct state k)
{
	if (d->mode != DFA_FIRST)
		sort_then(d);
	for (size_t i = 0; i < d->n_then; i++)
		k.looks |= d->nfa->nodes[d->then[i]].op == NFA_LOOK;
	if (!k.looks)
		k.before = SIDE_OTHER;
	k.n = (uint16_t)d->n_then;

	uint32_t *slot = slot_of(d, d->then, &k);

	if (*slot)
		return entry_of(d, *slot - 1);
	if ((d->n == d->cap && !grow_states(d)) || (d->n_ids + k.n > d->cap_ids && !grow_ids(d)))
		forget(d);
	slot = slot_of(d, d->then, &k);
	k.at = (uint32_t)d->n_ids;
	memcpy(d->ids + k.at, d->then, k.n * sizeof(*d->ids));
	d->n_ids += k.n;
	k.waiting = is_waiting(d, &k);
	d->list[d->n] = k;
	for (uint32_t c = 0; c < d->stride; c++)
		d->next[d->n * d->stride + c] = STATE_UNKNOWN;
	*slot = (uint32_t)++d->n;
	d->built++;
	return entry_of(d, d->n - 1);
}

/* The entry that a search begins with; `before` is the byte before it, UTF8_END at the edge. */
static uint32_t dfa_start(struct dfa *d, unsigned before)
{
	const enum side side = nfa_side(d->nfa, before);
	struct state k = { .before = (uint8_t)side };

	if (d->starts[side] != STATE_UNKNOWN)
		return d->starts[side];
	new_round(d);
	d->n_then = 0;
	reach(d, d->nfa->start, d->then, &d->n_then, NULL, 0);
	for (size_t i = 0; i < d->n_then && d->mode == DFA_EARLIEST; i++)
		if (d->then[i] == 0)
			return d->starts[side] = STATE_MATCH;

	const uint32_t entry = intern(d, k);

	return d->starts[side] = entry;
}

/* Move from the nodes in d->now over a byte to d->then. Returns whether one of them is a match. */
static bool advance(struct dfa *d, const uint16_t *now, size_t n, unsigned class, unsigned byte)
{
	bool matched = false;

	new_round(d);
	d->n_then = 0;
	for (size_t i = 0; i < n; i++) {
		const struct nfa_node *k = &d->nfa->nodes[now[i]];

		if (k->op == NFA_MATCH) {
			matched = true;
			if (d->mode != DFA_LONGEST)
				break; /* what follows is less preferred */
		} else if (k->op == NFA_SET && class != d->nfa->classes &&
			   byteset_has(&d->nfa->sets[k->set], byte)) {
			reach(d, k->to, d->then, &d->n_then, NULL, 0);
		}
	}
	return matched;
}

/* The entry that follows `row` for a class of bytes (nfa->classes: the end of the text). If
 * `forgotten` is higher than before, rows that the caller remembers are invalid. */
static uint32_t dfa_step(struct dfa *d, uint32_t row, unsigned class)
{
	const struct nfa *nfa = d->nfa;
	const struct state from = *dfa_state(d, row);
	const bool end = class == nfa->classes;
	const unsigned byte = end ? UTF8_END : nfa->byte_of[class];
	const uint16_t *now = d->ids + from.at;
	const uint64_t forgotten = d->forgotten;
	size_t n = from.n;
	struct state k = { 0 };
	uint32_t entry;

	if (from.looks) {
		new_round(d);
		d->n_now = 0;
		for (size_t i = 0; i < n; i++)
			reach(d, now[i], d->now, &d->n_now, &from, byte);
		now = d->now;
		n = d->n_now;
	}
	k.matched = advance(d, now, n, class, byte);

	bool sure = k.matched && (end || d->mode == DFA_EARLIEST);

	for (size_t i = 0; i < d->n_then && d->mode == DFA_EARLIEST; i++)
		sure |= d->then[i] == 0;
	if (sure) {
		entry = STATE_MATCH;
	} else if (d->n_then == 0 && !k.matched) {
		entry = STATE_DEAD;
	} else {
		k.before = (uint8_t)nfa_side(nfa, byte);
		if (nfa->looks & (1u << LOOK_CHAR | 1u << LOOK_ILL) && !nfa->reverse)
			k.utf8 = (uint8_t)utf8_state_next(from.utf8, byte);
		entry = intern(d, k);
	}
	if (d->forgotten == forgotten)
		d->next[row + class] = entry;
	return entry;
}

/* The bytes that lead away from a state. False when the states were forgotten in the process. */
static bool leaving(struct dfa *d, uint32_t row, struct byteset *ret)
{
	const uint64_t forgotten = d->forgotten;

	for (unsigned b = 0; b < 256; b++) {
		const unsigned class = d->nfa->class_of[b];
		uint32_t entry = d->next[row + class];

		if (entry == STATE_UNKNOWN)
			entry = dfa_step(d, row, class);
		if (d->forgotten != forgotten)
			return false;
		if (entry != row)
			byteset_add(ret, b);
	}
	return true;
}

/* Flag all entries that lead to the row, now that it skips. */
static void redirect(struct dfa *d, uint32_t row)
{
	for (size_t i = 0; i < d->n * d->stride; i++)
		if (d->next[i] == row)
			d->next[i] = row | STATE_FLAGGED;
	for (size_t i = 0; i < ARRAY_LEN(d->starts); i++)
		if (d->starts[i] == row)
			d->starts[i] = row | STATE_FLAGGED;
}

/* If few bytes lead away from a waiting state, give it the set of bytes to skip to. Returns the
 * entry to continue with. */
static uint32_t dfa_examine(struct dfa *d, uint32_t row)
{
	struct state *state = dfa_state(d, row);
	const struct state kept = *state;
	struct byteset leave = { 0 };

	state->examined = true;
	if (d->skips == ARRAY_LEN(d->skip))
		return row;
	memcpy(d->keep, d->ids + kept.at, kept.n * sizeof(*d->keep));
	if (!leaving(d, row, &leave)) {
		memcpy(d->then, d->keep, kept.n * sizeof(*d->then));
		d->n_then = kept.n;
		return intern(d, (struct state){ .before = kept.before, .utf8 = kept.utf8 });
	}
	if (byteset_frequency(&leave) > BYTEFREQ_ALL / SKIP_SHARE)
		return row;

	struct bytesets **skip = &d->skip[d->skips];

	if (!*skip && !(*skip = mem_new(1, sizeof(**skip))))
		return row;
	bytesets_init(*skip, &leave, 1);
	d->skip_row[d->skips++] = row;
	redirect(d, row);
	return row | STATE_FLAGGED;
}

int dfa_init(struct dfa *d, const struct nfa *nfa, enum dfa_mode mode)
{
	*d = (struct dfa){ .nfa = nfa, .mode = mode, .stride = nfa->classes + 1 };
	d->now = mem_new(nfa->n, sizeof(*d->now));
	d->then = mem_new(nfa->n, sizeof(*d->then));
	d->keep = mem_new(nfa->n, sizeof(*d->keep));
	d->stack = mem_new(2 * nfa->n + 2, sizeof(*d->stack));
	d->seen = mem_new(nfa->n, sizeof(*d->seen));
	d->bits = mem_new((nfa->n + 63) / 64, sizeof(*d->bits));
	if (!d->now || !d->then || !d->keep || !d->stack || !d->seen || !d->bits || !grow_ids(d) ||
	    !grow_states(d))
		return -1;
	forget(d);
	d->forgotten = 0;
	return 0;
}

void dfa_done(struct dfa *d)
{
	mem_free(d->now);
	mem_free(d->then);
	mem_free(d->keep);
	mem_free(d->stack);
	mem_free(d->seen);
	mem_free(d->bits);
	mem_free(d->next);
	mem_free(d->list);
	mem_free(d->ids);
	mem_free(d->table);
	for (size_t i = 0; i < ARRAY_LEN(d->skip); i++)
		mem_free(d->skip[i]);
	*d = (struct dfa){ 0 };
}

/* The column of a byte. It does not depend on the state, so a step waits for a single load. */
static inline const uint32_t *column(const struct dfa *d, uint8_t byte)
{
	return d->next + d->nfa->class_of[byte];
}

/* Follow the entries up to the first special one; *at becomes the index of the byte it is for. */
static inline size_t glide(const struct dfa *d, const uint8_t *p, size_t *at, size_t end,
			   size_t row)
{
	size_t i = *at;

	for (; i + 4 <= end; i += 4) {
		const size_t one = column(d, p[i])[row];
		if (one & STATE_SPECIAL)
			break;
		const size_t two = column(d, p[i + 1])[one];
		if (two & STATE_SPECIAL) {
			row = one;
			i += 1;
			break;
		}
		const size_t three = column(d, p[i + 2])[two];
		if (three & STATE_SPECIAL) {
			row = two;
			i += 2;
			break;
		}
		const size_t four = column(d, p[i + 3])[three];
		if (four & STATE_SPECIAL) {
			row = three;
			i += 3;
			break;
		}
		row = four;
	}
	for (; i < end; i++) {
		const size_t next = column(d, p[i])[row];
		if (next & STATE_SPECIAL)
			break;
		row = next;
	}
	*at = i;
	return row;
}

/* The entry that follows a row, built if it does not exist yet; -1 with SEARCH_TIMEOUT. */
static int64_t follow(struct dfa *d, uint32_t row, unsigned class,
		      const struct regex_budget *budget, struct err *e)
{
	const uint64_t forgotten = d->forgotten;
	uint32_t entry = d->next[row + class];

	if (entry != STATE_UNKNOWN)
		return entry;
	entry = dfa_step(d, row, class);
	if (d->forgotten != forgotten && regex_budget_check(budget, e) < 0)
		return -1;
	if (!(entry & STATE_SPECIAL)) {
		const struct state *state = dfa_state(d, entry);

		if (state->waiting && !state->examined)
			entry = dfa_examine(d, entry);
	}
	return entry;
}

static size_t skip(const struct dfa *d, uint32_t row, struct str text, size_t from)
{
	for (unsigned i = 0; i < d->skips; i++)
		if (d->skip_row[i] == row)
			return bytesets_find(d->skip[i], text, from);
	return from;
}

static size_t slice_end(struct str text, size_t from)
{
	return text.n - from > LIMIT_REGEX_SLICE ? from + LIMIT_REGEX_SLICE : text.n;
}

static int run_earliest(struct dfa *d, struct str text, size_t from, bool edge,
			const struct regex_budget *budget, size_t *ret, struct err *e)
{
	const uint8_t *p = (const uint8_t *)text.p;
	int64_t entry = dfa_start(d, from ? p[from - 1] : UTF8_END);
	size_t i = from;

	for (size_t checked = from;;) {
		if (entry == STATE_MATCH) {
			*ret = i;
			return 1;
		}
		if (entry == STATE_DEAD)
			return 0;

		uint32_t row = (uint32_t)entry & STATE_ROW;

		if ((uint32_t)entry & STATE_SPECIAL)
			i = skip(d, row, text, i);
		if (i - checked >= LIMIT_REGEX_SLICE) {
			if (regex_budget_check(budget, e) < 0)
				return -1;
			checked = i;
		}
		const size_t end = slice_end(text, i);

		row = (uint32_t)glide(d, p, &i, end, row);
		if (i == end && end < text.n) {
			entry = row;
			continue;
		}
		if (i == text.n && !edge)
			return 0;
		entry = follow(d, row, i < text.n ? d->nfa->class_of[p[i]] : d->nfa->classes,
			       budget, e);
		if (entry < 0)
			return -1;
		if (i == text.n) {
			*ret = i;
			return entry == STATE_MATCH;
		}
		if (entry != STATE_MATCH)
			i++;
	}
}

/* Forwards to the place where the preferred match ends. */
static int run_first(struct dfa *d, struct str text, size_t from, const struct regex_budget *budget,
		     size_t *ret, struct err *e)
{
	const uint8_t *p = (const uint8_t *)text.p;
	int64_t entry = dfa_start(d, from ? p[from - 1] : UTF8_END);
	int found = 0;

	for (size_t i = from;; i++) {
		size_t end = slice_end(text, i);
		size_t row = glide(d, p, &i, end, (uint32_t)entry & STATE_ROW);

		while (i == end && end < text.n) {
			if (regex_budget_check(budget, e) < 0)
				return -1;
			end = slice_end(text, i);
			row = glide(d, p, &i, end, row);
		}
		entry = follow(d, (uint32_t)row,
			       i < text.n ? d->nfa->class_of[p[i]] : d->nfa->classes, budget, e);
		if (entry < 0)
			return -1;
		if (entry == STATE_DEAD)
			return found;
		if ((uint32_t)entry & STATE_SPECIAL) { /* it matched before this byte */
			found = 1;
			*ret = i;
		}
		if (i == text.n)
			return found;
	}
}

/* Backwards to the farthest place where a match can begin. */
static int run_back(struct dfa *d, struct str text, size_t from, const struct regex_budget *budget,
		    size_t *ret, struct err *e)
{
	const uint8_t *p = (const uint8_t *)text.p;
	int64_t entry = dfa_start(d, from < text.n ? p[from] : UTF8_END);
	int found = 0;

	for (size_t i = from;; i--) {
		const unsigned class = i ? d->nfa->class_of[p[i - 1]] : d->nfa->classes;

		if (i % LIMIT_REGEX_SLICE == 0 && regex_budget_check(budget, e) < 0)
			return -1;
		entry = follow(d, (uint32_t)entry & STATE_ROW, class, budget, e);
		if (entry < 0)
			return -1;
		if (entry == STATE_DEAD)
			return found;
		if ((uint32_t)entry & STATE_SPECIAL) {
			found = 1;
			*ret = i;
		}
		if (i == 0)
			return found;
	}
}

int dfa_run(struct dfa *d, struct str text, size_t from, bool edge,
	    const struct regex_budget *budget, size_t *ret, struct err *e)
{
	if (d->mode == DFA_EARLIEST)
		return run_earliest(d, text, from, edge, budget, ret, e);
	if (d->mode == DFA_FIRST)
		return run_first(d, text, from, budget, ret, e);
	return run_back(d, text, from, budget, ret, e);
}
