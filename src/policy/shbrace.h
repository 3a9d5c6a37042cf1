/* SPDX-License-Identifier: MIT */
/*
 * shbrace: brace expansion, which makes ac bc of {a,b}c.
 *
 * Bash does it first, on the text as it is written; what it makes is then read as words.
 */
#ifndef POLICY_SHBRACE_H
#define POLICY_SHBRACE_H

#include "policy/shword.h"

/* Add the words (struct shell_word) that brace expansion makes of a raw one; false if there is
 * nothing to expand in it. */
bool shbrace_expand(struct shlex *s, struct str raw, struct buf *words);

#endif
