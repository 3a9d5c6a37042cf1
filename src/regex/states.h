/* SPDX-License-Identifier: MIT */
/*
 * states: the states of a lazy automaton and how they are built.
 *
 * A state is a list of graph nodes together with what must be known about the byte before it. The
 * table `next` has a row for each state. An entry is the index of the next state's row, or has
 * STATE_SPECIAL set. Positions (\b, $ …) are decided when the byte after them is known, so a match
 * is noticed up to one byte late.
 *
 * Memory is bounded by LIMIT_REGEX_STATES. When it is used up, states_step forgets all states, adds
 * the one asked for, and increments `forgotten`: rows that the caller remembers are invalid then.
 */
#ifndef REGEX_STATES_H
#define REGEX_STATES_H

#include "regex/bytesets.h"
#include "regex/nfa.h"

enum dfa_mode {
	DFA_EARLIEST, /* is there a match: stops as soon as that is known */
	DFA_FIRST,    /* the end of the match that a backtracking matcher would find */
	DFA_LONGEST,  /* reverse graphs: the farthest start of a match */
};

#define STATE_SPECIAL UINT32_C(0x80000000)
#define STATE_FLAGGED UINT32_C(0xc0000000) /* a row whose state skips (DFA_EARLIEST) or matched */
#define STATE_UNKNOWN (STATE_SPECIAL | 1)
#define STATE_MATCH   (STATE_SPECIAL | 2)
#define STATE_DEAD    (STATE_SPECIAL | 3)
#define STATE_ROW     UINT32_C(0x3fffffff)

struct state {
	uint32_t at;	/* its nodes: ids[at] … */
	uint16_t n;	/* … so many */
	uint8_t before; /* enum side; SIDE_OTHER when no node depends on it */
	uint8_t utf8;	/* enum utf8_state; UTF8_WHOLE when no node depends on it */
	bool looks;	/* some node is a position */
	bool matched;	/* the match ended before the byte that led here */
	bool waiting;	/* it may be worth skipping bytes here: states_examine decides */
	bool examined;	/* it has decided */
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

/* The entry that a search begins with; `before` is the byte before it, UTF8_END at the edge. */
uint32_t states_start(struct states *s, unsigned before);

/* The entry that follows `row` for a class of bytes (nfa->classes: the end of the text). */
uint32_t states_step(struct states *s, uint32_t row, unsigned class);

/* If few bytes lead away from a waiting state, give it the set of bytes to skip to. Returns the
 * entry to continue with. */
uint32_t states_examine(struct states *s, uint32_t row);

static inline struct state *states_of(const struct states *s, uint32_t row)
{
	return &s->list[row / s->stride];
}

#endif
