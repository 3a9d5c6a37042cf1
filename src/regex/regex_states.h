/* SPDX-License-Identifier: MIT */
/*
 * regex_states: the states of a lazy automaton and how they are built.
 *
 * A state is a list of graph nodes together with what must be known about the byte before it. The
 * table `next` has a row for each state. An entry is where the row of the following state begins,
 * or has STATE_SPECIAL set. Positions (\b, $ …) are decided when the byte behind them is known, so
 * a match is noticed up to one byte late.
 *
 * Memory is bounded by LIMIT_REGEX_STATES. When it is used up, states_step forgets all states, adds
 * the one asked for, and counts `forgotten` up: rows remembered by the caller are void then.
 */
#ifndef REGEX_REGEX_STATES_H
#define REGEX_REGEX_STATES_H

#include "regex/bytesets.h"
#include "regex/regex_dfa.h"
#include "regex/regex_look.h"

#define STATE_SPECIAL UINT32_C(0x80000000)
#define STATE_FLAGGED UINT32_C(0xc0000000) /* a row whose state skips (DFA_EARLIEST) or matched */
#define STATE_UNKNOWN (STATE_SPECIAL | 1)
#define STATE_MATCH   (STATE_SPECIAL | 2)
#define STATE_DEAD    (STATE_SPECIAL | 3)
#define STATE_ROW     UINT32_C(0x3fffffff)

struct state {
	uint32_t at;	/* its nodes: ids[at] … */
	uint16_t n;	/* … so many */
	uint8_t before; /* enum side, SIDE_OTHER when nothing asks */
	uint8_t utf8;	/* enum utf8_state, UTF8_WHOLE when nothing asks */
	bool looks;	/* some node is a position */
	bool matched;	/* the match ended before the byte that led here */
	bool waiting;	/* worth a look whether bytes can be skipped */
	bool examined;	/* that look was taken */
};

struct states {
	const struct nfa *nfa;
	enum dfa_mode mode;
	uint32_t stride;
	uint32_t *next;
	struct state *list;
	size_t n, cap;
	uint16_t *ids;
	size_t n_ids, cap_ids;
	uint32_t *table; /* hash table: index into list plus one */
	size_t cap_table;
	uint32_t starts[4];	  /* entry for each side, or STATE_UNKNOWN */
	struct bytesets *skip[4]; /* for states that skip: the bytes that end it */
	uint32_t skip_row[4];
	unsigned skips;
	uint64_t built, forgotten;
	/* scratch: */
	uint16_t *now, *then, *keep, *stack;
	size_t n_now, n_then;
	uint32_t *seen;
	uint32_t round;
	uint64_t *bits;
};

int states_init(struct states *s, const struct nfa *nfa, enum dfa_mode mode);
void states_done(struct states *s);

/* The entry a search begins with, `before` being the byte that precedes it (UTF8_END for none). */
uint32_t states_start(struct states *s, unsigned before);

/* The entry behind `row` for a class of bytes (nfa->classes: the end of the text). */
uint32_t states_step(struct states *s, uint32_t row, unsigned class);

/* Give a waiting state a set of bytes to skip to, when few bytes lead away from it. Returns the
 * entry to go on with. */
uint32_t states_examine(struct states *s, uint32_t row);

static inline struct state *states_of(const struct states *s, uint32_t row)
{
	return &s->list[row / s->stride];
}

#endif
