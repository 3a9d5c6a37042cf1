/* SPDX-License-Identifier: MIT */
/* states: build the states of a deterministic automaton from sets of graph nodes. */

#include "regex/states.h"

#include <xxhash.h>

#include "base/limits.h"
#include "base/own.h"

enum { FIRST_STATES = 16, FEW_TIMES = 4, SKIP_SHARE = 16 };

/* Add a node and those it leads to without reading a byte, preferred ones first. With `at`,
 * positions are decided; without it they stay in the list. */
static void reach(struct states *s, uint16_t node, uint16_t *list, size_t *n,
		  const struct state *at, unsigned next)
{
	size_t depth = 0;

	s->stack[depth++] = node;
	while (depth > 0) {
		const uint16_t id = s->stack[--depth];
		const struct nfa_node *k = &s->nfa->nodes[id];

		if (s->seen[id] == s->round)
			continue;
		s->seen[id] = s->round;
		if (k->op == NFA_FORK) {
			s->stack[depth++] = k->to_last;
			s->stack[depth++] = k->to;
		} else if (k->op == NFA_LOOK && at) {
			if (nfa_look(s->nfa, k->look, at->before, at->utf8, next))
				s->stack[depth++] = k->to;
		} else {
			list[(*n)++] = id;
		}
	}
}

static void new_round(struct states *s)
{
	if (++s->round == 0) {
		memset(s->seen, 0, s->nfa->n * sizeof(*s->seen));
		s->round = 1;
	}
}

/* Where the order does not matter, equal sets become equal lists. */
static void sort_then(struct states *s)
{
	const size_t words = (s->nfa->n + 63) / 64;
	size_t n = 0;

	for (size_t i = 0; i < s->n_then; i++)
		s->bits[s->then[i] / 64] |= UINT64_C(1) << (s->then[i] % 64);
	for (size_t w = 0; w < words; w++) {
		for (uint64_t b = s->bits[w]; b; b &= b - 1)
			s->then[n++] = (uint16_t)(w * 64 + (size_t)__builtin_ctzll(b));
		s->bits[w] = 0;
	}
}

static void forget(struct states *s)
{
	s->n = s->n_ids = 0;
	s->skips = 0;
	memset(s->table, 0, s->cap_table * sizeof(*s->table));
	for (size_t i = 0; i < ARRAY_LEN(s->starts); i++)
		s->starts[i] = STATE_UNKNOWN;
	s->forgotten++;
}

static size_t memory(const struct states *s, size_t cap, size_t cap_ids)
{
	const size_t state =
		s->stride * sizeof(*s->next) + sizeof(*s->list) + 2 * sizeof(*s->table);

	return cap * state + cap_ids * sizeof(*s->ids);
}

static uint64_t hash_of(const uint16_t *ids, size_t n, const struct state *k)
{
	return XXH3_64bits_withSeed(ids, n * sizeof(*ids),
				    (uint64_t)(k->before | k->utf8 << 8 | k->matched << 16));
}

static uint32_t *slot_of(struct states *s, const uint16_t *ids, const struct state *k)
{
	size_t h = hash_of(ids, k->n, k) & (s->cap_table - 1);

	for (; s->table[h]; h = (h + 1) & (s->cap_table - 1)) {
		const struct state *o = &s->list[s->table[h] - 1];

		if (o->n == k->n && o->before == k->before && o->utf8 == k->utf8 &&
		    o->matched == k->matched &&
		    memcmp(s->ids + o->at, ids, k->n * sizeof(*ids)) == 0)
			break;
	}
	return &s->table[h];
}

/* Double the room for states; false when there is no memory or the limit is reached. */
static bool grow_states(struct states *s)
{
	const size_t cap = s->cap ? s->cap * 2 : FIRST_STATES;
	void *next, *list, *table;

	if (s->cap && memory(s, cap, s->cap_ids) > LIMIT_REGEX_STATES)
		return false;
	next = mem_resize(s->next, cap * s->stride, sizeof(*s->next));
	if (next)
		s->next = next;
	list = mem_resize(s->list, cap, sizeof(*s->list));
	if (list)
		s->list = list;
	table = mem_new(cap * 2, sizeof(*s->table));
	if (!next || !list || !table) {
		mem_free(table);
		return false;
	}
	mem_free(s->table);
	s->table = table;
	s->cap_table = cap * 2;
	s->cap = cap;
	for (size_t i = 0; i < s->n; i++)
		*slot_of(s, s->ids + s->list[i].at, &s->list[i]) = (uint32_t)i + 1;
	return true;
}

static bool grow_ids(struct states *s)
{
	/* At first there is room for two of the largest states: one always fits. */
	const size_t cap = s->cap_ids ? s->cap_ids * 2 : 2 * s->nfa->n + 64;
	uint16_t *ids;

	if (s->cap_ids && memory(s, s->cap, cap) > LIMIT_REGEX_STATES)
		return false;
	ids = mem_resize(s->ids, cap, sizeof(*ids));
	if (!ids)
		return false;
	s->ids = ids;
	s->cap_ids = cap;
	return true;
}

/* Whether most bytes may lead back to this state. A guess: its nodes are those of the oldest state,
 * which is where searches start; with many states it does not pay. */
static bool is_waiting(const struct states *s, const struct state *k)
{
	return s->mode == DFA_EARLIEST && s->n > 0 && s->forgotten < FEW_TIMES &&
	       k->n == s->list[0].n &&
	       memcmp(s->ids + k->at, s->ids + s->list[0].at, k->n * sizeof(*s->ids)) == 0;
}

static uint32_t entry_of(const struct states *s, size_t index)
{
	const uint32_t row = (uint32_t)index * s->stride;

	if (s->mode != DFA_EARLIEST)
		return s->list[index].matched ? row | STATE_FLAGGED : row;
	for (unsigned i = 0; i < s->skips; i++)
		if (s->skip_row[i] == row)
			return row | STATE_FLAGGED;
	return row;
}

/* The entry of the state whose nodes are in s->then. */
static uint32_t intern(struct states *s, struct state k)
{
	if (s->mode != DFA_FIRST)
		sort_then(s);
	for (size_t i = 0; i < s->n_then; i++)
		k.looks |= s->nfa->nodes[s->then[i]].op == NFA_LOOK;
	if (!k.looks)
		k.before = SIDE_OTHER;
	k.n = (uint16_t)s->n_then;

	uint32_t *slot = slot_of(s, s->then, &k);

	if (*slot)
		return entry_of(s, *slot - 1);
	if ((s->n == s->cap && !grow_states(s)) || (s->n_ids + k.n > s->cap_ids && !grow_ids(s)))
		forget(s);
	slot = slot_of(s, s->then, &k);
	k.at = (uint32_t)s->n_ids;
	memcpy(s->ids + k.at, s->then, k.n * sizeof(*s->ids));
	s->n_ids += k.n;
	k.waiting = is_waiting(s, &k);
	s->list[s->n] = k;
	for (uint32_t c = 0; c < s->stride; c++)
		s->next[s->n * s->stride + c] = STATE_UNKNOWN;
	*slot = (uint32_t)++s->n;
	s->built++;
	return entry_of(s, s->n - 1);
}

uint32_t states_start(struct states *s, unsigned before)
{
	const enum side side = nfa_side(s->nfa, before);
	struct state k = { .before = (uint8_t)side };

	if (s->starts[side] != STATE_UNKNOWN)
		return s->starts[side];
	new_round(s);
	s->n_then = 0;
	reach(s, s->nfa->start, s->then, &s->n_then, NULL, 0);
	for (size_t i = 0; i < s->n_then && s->mode == DFA_EARLIEST; i++)
		if (s->then[i] == 0)
			return s->starts[side] = STATE_MATCH;

	const uint32_t entry = intern(s, k);

	return s->starts[side] = entry;
}

/* Move from the nodes in s->now over a byte to s->then. Returns whether one of them is a match. */
static bool advance(struct states *s, const uint16_t *now, size_t n, unsigned class, unsigned byte)
{
	bool matched = false;

	new_round(s);
	s->n_then = 0;
	for (size_t i = 0; i < n; i++) {
		const struct nfa_node *k = &s->nfa->nodes[now[i]];

		if (k->op == NFA_MATCH) {
			matched = true;
			if (s->mode != DFA_LONGEST)
				break; /* what follows is less preferred */
		} else if (k->op == NFA_SET && class != s->nfa->classes &&
			   byteset_has(&s->nfa->sets[k->set], byte)) {
			reach(s, k->to, s->then, &s->n_then, NULL, 0);
		}
	}
	return matched;
}

uint32_t states_step(struct states *s, uint32_t row, unsigned class)
{
	const struct nfa *nfa = s->nfa;
	const struct state from = *states_of(s, row);
	const bool end = class == nfa->classes;
	const unsigned byte = end ? UTF8_END : nfa->byte_of[class];
	const uint16_t *now = s->ids + from.at;
	const uint64_t forgotten = s->forgotten;
	size_t n = from.n;
	struct state k = { 0 };
	uint32_t entry;

	if (from.looks) {
		new_round(s);
		s->n_now = 0;
		for (size_t i = 0; i < n; i++)
			reach(s, now[i], s->now, &s->n_now, &from, byte);
		now = s->now;
		n = s->n_now;
	}
	k.matched = advance(s, now, n, class, byte);

	bool sure = k.matched && (end || s->mode == DFA_EARLIEST);

	for (size_t i = 0; i < s->n_then && s->mode == DFA_EARLIEST; i++)
		sure |= s->then[i] == 0;
	if (sure) {
		entry = STATE_MATCH;
	} else if (s->n_then == 0 && !k.matched) {
		entry = STATE_DEAD;
	} else {
		k.before = (uint8_t)nfa_side(nfa, byte);
		if (nfa->looks & (1u << LOOK_CHAR | 1u << LOOK_ILL) && !nfa->reverse)
			k.utf8 = (uint8_t)utf8_state_next(from.utf8, byte);
		entry = intern(s, k);
	}
	if (s->forgotten == forgotten)
		s->next[row + class] = entry;
	return entry;
}

/* The bytes that lead away from a state. False when the states were forgotten in the process. */
static bool leaving(struct states *s, uint32_t row, struct byteset *ret)
{
	const uint64_t forgotten = s->forgotten;

	for (unsigned b = 0; b < 256; b++) {
		const unsigned class = s->nfa->class_of[b];
		uint32_t entry = s->next[row + class];

		if (entry == STATE_UNKNOWN)
			entry = states_step(s, row, class);
		if (s->forgotten != forgotten)
			return false;
		if (entry != row)
			byteset_add(ret, b);
	}
	return true;
}

/* Flag all entries that lead to the row, now that it skips. */
static void redirect(struct states *s, uint32_t row)
{
	for (size_t i = 0; i < s->n * s->stride; i++)
		if (s->next[i] == row)
			s->next[i] = row | STATE_FLAGGED;
	for (size_t i = 0; i < ARRAY_LEN(s->starts); i++)
		if (s->starts[i] == row)
			s->starts[i] = row | STATE_FLAGGED;
}

uint32_t states_examine(struct states *s, uint32_t row)
{
	struct state *state = states_of(s, row);
	const struct state kept = *state;
	struct byteset leave = { 0 };

	state->examined = true;
	if (s->skips == ARRAY_LEN(s->skip))
		return row;
	memcpy(s->keep, s->ids + kept.at, kept.n * sizeof(*s->keep));
	if (!leaving(s, row, &leave)) {
		memcpy(s->then, s->keep, kept.n * sizeof(*s->then));
		s->n_then = kept.n;
		return intern(s, (struct state){ .before = kept.before, .utf8 = kept.utf8 });
	}
	if (byteset_frequency(&leave) > BYTEFREQ_ALL / SKIP_SHARE)
		return row;

	struct bytesets **skip = &s->skip[s->skips];

	if (!*skip && !(*skip = mem_new(1, sizeof(**skip))))
		return row;
	bytesets_init(*skip, &leave, 1);
	s->skip_row[s->skips++] = row;
	redirect(s, row);
	return row | STATE_FLAGGED;
}

int states_init(struct states *s, const struct nfa *nfa, enum dfa_mode mode)
{
	*s = (struct states){ .nfa = nfa, .mode = mode, .stride = nfa->classes + 1 };
	s->now = mem_new(nfa->n, sizeof(*s->now));
	s->then = mem_new(nfa->n, sizeof(*s->then));
	s->keep = mem_new(nfa->n, sizeof(*s->keep));
	s->stack = mem_new(2 * nfa->n + 2, sizeof(*s->stack));
	s->seen = mem_new(nfa->n, sizeof(*s->seen));
	s->bits = mem_new((nfa->n + 63) / 64, sizeof(*s->bits));
	if (!s->now || !s->then || !s->keep || !s->stack || !s->seen || !s->bits || !grow_ids(s) ||
	    !grow_states(s))
		return -1;
	forget(s);
	s->forgotten = 0;
	return 0;
}

void states_done(struct states *s)
{
	mem_free(s->now);
	mem_free(s->then);
	mem_free(s->keep);
	mem_free(s->stack);
	mem_free(s->seen);
	mem_free(s->bits);
	mem_free(s->next);
	mem_free(s->list);
	mem_free(s->ids);
	mem_free(s->table);
	for (size_t i = 0; i < ARRAY_LEN(s->skip); i++)
		mem_free(s->skip[i]);
	*s = (struct states){ 0 };
}
