/* SPDX-License-Identifier: MIT */
/*
 * options: how a pattern is read, and when a search must stop.
 *
 * Callers get these from regex.h. They are apart from it because the parser and the matchers below
 * regex.c need them, too.
 */
#ifndef REGEX_OPTIONS_H
#define REGEX_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/io.h"

struct regex_options {
	bool literal; /* the pattern is plain text */
	bool ignore_case;
	bool multiline; /* a match may cross newlines; the pattern may contain \n */
};

/* When a search must stop. Checked between lines and whenever the automaton runs out of states. */
struct regex_budget {
	int64_t deadline_ms; /* on the monotonic clock; IO_FOREVER: no deadline */
	const struct cancel *cancel;
};

/* Reads the clock: not for every byte. */
static inline bool regex_budget_expired(const struct regex_budget *b)
{
	return b->deadline_ms != IO_FOREVER && io_now_ms() >= b->deadline_ms;
}

/* 0 while there is time, or -1 with SEARCH_TIMEOUT. */
static inline int regex_budget_check(const struct regex_budget *b, struct err *e)
{
	if (cancel_asked(b->cancel))
		return err_set(e, ERR_SEARCH_TIMEOUT, "The search was cancelled");
	if (regex_budget_expired(b))
		return err_set(
			e, ERR_SEARCH_TIMEOUT,
			"The search took too long; use a simpler pattern, or search a smaller "
			"directory");
	return 0;
}

#endif
