/* SPDX-License-Identifier: MIT */
/* width: how many columns of a terminal a character takes. */
#ifndef BASE_WIDTH_H
#define BASE_WIDTH_H

#include <stdint.h>

/* 0 for a mark that joins the character before it (an accent, a joiner, a variation selector), 2
 * for a wide one (ideographs, Hangul, emoji), else 1: by Unicode 14, without regard to a locale.
 * Control characters have no width of their own; they count as 1. */
unsigned width_of(uint32_t c);

#endif
