/* SPDX-License-Identifier: MIT */
/*
 * inflate: the opposite of deflate (RFC 1951), for what the program carries in compressed form.
 *
 * The size of the result is known beforehand. Any input is safe: what is not a whole deflate stream
 * of that size is refused.
 */
#ifndef BASE_INFLATE_H
#define BASE_INFLATE_H

#include <stdbool.h>

#include "base/str.h"

/* Write the `size` bytes that `packed` stands for to `to`. False if it stands for anything else;
 * what `to` has then is of no use. */
bool inflate(struct str packed, char *to, size_t size);

#endif
