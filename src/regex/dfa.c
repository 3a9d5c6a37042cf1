/* SPDX-License-Identifier: MIT */
/* dfa: run a text through the lazily built states. */

#include "regex/dfa.h"

#include "base/limits.h"
#include "base/own.h"

struct dfa {
	struct states states;
};

struct dfa *dfa_new(const struct nfa *nfa, enum dfa_mode mode)
{
	struct dfa *d = mem_new(1, sizeof(*d));

	if (d && states_init(&d->states, nfa, mode) < 0) {
		dfa_free(d);
		return NULL;
	}
	return d;
}

void dfa_free(struct dfa *d)
{
	if (!d)
		return;
	states_done(&d->states);
	mem_free(d);
}

struct dfa_counts dfa_counts(const struct dfa *d)
{
	return (struct dfa_counts){ d->states.built, d->states.forgotten };
}

/* The column of a byte. It does not depend on the state, so a step waits for a single load. */
static inline const uint32_t *column(const struct states *s, uint8_t byte)
{
	return s->next + s->nfa->class_of[byte];
}

/* Follow the entries up to the first special one; *at becomes the index of the byte it is for. */
static inline size_t glide(const struct states *s, const uint8_t *p, size_t *at, size_t end,
			   size_t row)
{
	size_t i = *at;

	for (; i + 4 <= end; i += 4) {
		const size_t a = column(s, p[i])[row];
		if (a & STATE_SPECIAL)
			break;
		const size_t b = column(s, p[i + 1])[a];
		if (b & STATE_SPECIAL) {
			row = a;
			i += 1;
			break;
		}
		const size_t c = column(s, p[i + 2])[b];
		if (c & STATE_SPECIAL) {
			row = b;
			i += 2;
			break;
		}
		const size_t d = column(s, p[i + 3])[c];
		if (d & STATE_SPECIAL) {
			row = c;
			i += 3;
			break;
		}
		row = d;
	}
	for (; i < end; i++) {
		const size_t t = column(s, p[i])[row];
		if (t & STATE_SPECIAL)
			break;
		row = t;
	}
	*at = i;
	return row;
}

/* The entry that follows a row, built if it does not exist yet; -1 with SEARCH_TIMEOUT. */
static int64_t follow(struct states *s, uint32_t row, unsigned class,
		      const struct regex_budget *budget, struct err *e)
{
	const uint64_t forgotten = s->forgotten;
	uint32_t entry = s->next[row + class];

	if (entry != STATE_UNKNOWN)
		return entry;
	entry = states_step(s, row, class);
	if (s->forgotten != forgotten && regex_budget_check(budget, e) < 0)
		return -1;
	if (!(entry & STATE_SPECIAL)) {
		const struct state *state = states_of(s, entry);

		if (state->waiting && !state->examined)
			entry = states_examine(s, entry);
	}
	return entry;
}

static size_t skip(const struct states *s, uint32_t row, struct str text, size_t from)
{
	for (unsigned i = 0; i < s->skips; i++)
		if (s->skip_row[i] == row)
			return bytesets_find(s->skip[i], text, from);
	return from;
}

static size_t slice_end(struct str text, size_t from)
{
	return text.n - from > LIMIT_REGEX_SLICE ? from + LIMIT_REGEX_SLICE : text.n;
}

static int run_earliest(struct dfa *d, struct str text, size_t from, bool edge,
			const struct regex_budget *budget, size_t *ret, struct err *e)
{
	struct states *s = &d->states;
	const uint8_t *p = (const uint8_t *)text.p;
	int64_t entry = states_start(s, from ? p[from - 1] : UTF8_END);
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
			i = skip(s, row, text, i);
		if (i - checked >= LIMIT_REGEX_SLICE) {
			if (regex_budget_check(budget, e) < 0)
				return -1;
			checked = i;
		}
		const size_t end = slice_end(text, i);

		row = (uint32_t)glide(s, p, &i, end, row);
		if (i == end && end < text.n) {
			entry = row;
			continue;
		}
		if (i == text.n && !edge)
			return 0;
		entry = follow(s, row, i < text.n ? s->nfa->class_of[p[i]] : s->nfa->classes,
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
	struct states *s = &d->states;
	const uint8_t *p = (const uint8_t *)text.p;
	int64_t entry = states_start(s, from ? p[from - 1] : UTF8_END);
	int found = 0;

	for (size_t i = from;; i++) {
		size_t end = slice_end(text, i);
		size_t row = glide(s, p, &i, end, (uint32_t)entry & STATE_ROW);

		while (i == end && end < text.n) {
			if (regex_budget_check(budget, e) < 0)
				return -1;
			end = slice_end(text, i);
			row = glide(s, p, &i, end, row);
		}
		entry = follow(s, (uint32_t)row,
			       i < text.n ? s->nfa->class_of[p[i]] : s->nfa->classes, budget, e);
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
	struct states *s = &d->states;
	const uint8_t *p = (const uint8_t *)text.p;
	int64_t entry = states_start(s, from < text.n ? p[from] : UTF8_END);
	int found = 0;

	for (size_t i = from;; i--) {
		const unsigned class = i ? s->nfa->class_of[p[i - 1]] : s->nfa->classes;

		if (i % LIMIT_REGEX_SLICE == 0 && regex_budget_check(budget, e) < 0)
			return -1;
		entry = follow(s, (uint32_t)entry & STATE_ROW, class, budget, e);
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
	if (d->states.mode == DFA_EARLIEST)
		return run_earliest(d, text, from, edge, budget, ret, e);
	if (d->states.mode == DFA_FIRST)
		return run_first(d, text, from, budget, ret, e);
	return run_back(d, text, from, budget, ret, e);
}
