/* SPDX-License-Identifier: MIT */
/*
 * words: command lines that are split into words without running a shell.
 */
#ifndef POLICY_WORDS_H
#define POLICY_WORDS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* Split a text at its blanks. '…' is literal, "…" is literal except for \" and \\, and outside
 * quotes a backslash takes the next byte literally. Nothing else has a meaning: $, *, ;, |, > and #
 * are text. The words point into the text or into the arena. INVALID_ARGUMENTS if a quote is not
 * closed, a backslash ends the text, there is a NUL byte, or there is no word. */
int words_split(struct str text, struct arena *a, struct str **ret, size_t *count, struct err *e);

#endif
