/* SPDX-License-Identifier: MIT */
/*
 * words: a command line taken apart as a shell would, without being one.
 *
 * Blanks separate words; '…' is literal, "…" is but for \" and \\, and outside quotes a backslash
 * takes the next byte literally. Nothing else means anything: $, *, ;, |, > and # are text.
 */
#ifndef POLICY_WORDS_H
#define POLICY_WORDS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* The words, in the arena. INVALID_ARGUMENTS when a quote is not closed, a backslash ends the text,
 * there is a NUL byte, or no word at all. */
int words_split(struct str text, struct arena *a, struct str **ret, size_t *count, struct err *e);

#endif
