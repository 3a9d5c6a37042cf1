/* SPDX-License-Identifier: MIT */
/* dfa: run a text through the lazily built states. */

#include "regex/dfa.h"
#include "regex/limits.h"

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
