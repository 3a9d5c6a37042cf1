/* SPDX-License-Identifier: MIT */
/* private_key: a PEM or OpenSSH private key, swallowed from its first line to its last. */
#ifndef SCRUB_PRIVATE_KEY_H
#define SCRUB_PRIVATE_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* How much at the start of text belongs to the body; *left is what the body may still have, and
 * becomes 0 where it ends: behind its last line, before a byte no key contains, or at the cap. What
 * is not counted while *left is not 0 may be the beginning of the last line: wait for more. */
size_t private_key_body(struct str text, bool final, size_t *left);

#endif
