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

/* The words of a line that needs no shell, because every shell would only execute the program that
 * the first word names. They point into the line; the list is in the arena. Returns how many there
 * are, 0 if it is not such a line. */
size_t words_plain(struct str line, struct arena *a, struct str **ret);

#endif
