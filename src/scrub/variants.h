/* SPDX-License-Identifier: MIT */
/* variants: the spellings of a configured secret that are looked for. */
#ifndef SCRUB_VARIANTS_H
#define SCRUB_VARIANTS_H

#include "base/arena.h"
#include "base/str.h"

/* As it is; URL-encoded (%2F and %2f, and with + for a blank); as in JSON; and in base64, three
 * times in each alphabet: encoded together with what stands around it, a secret may begin at any of
 * three places of a group. */
enum { VARIANTS_MAX = 11 };

/* The different ones among them, in memory of the arena; how many, or 0 when there was no memory.
 * In base64 only the digits that the secret alone decides are taken. */
size_t variants_of(struct str secret, struct arena *a, struct str variants[VARIANTS_MAX]);

#endif
