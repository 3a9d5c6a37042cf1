/* SPDX-License-Identifier: MIT */
/*
 * gitconfig: git's configuration as text, and whether a new one makes git run something else than the
 * old one.
 *
 * A key executes if its value names a program, or says where programs are found (the table in
 * gitconfig.c). What cannot be read with certainty is refused: git may read it in another way.
 */
#ifndef GUARD_GITCONFIG_H
#define GUARD_GITCONFIG_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

enum { GITCONFIG_KEY = 256 };

/* Is a key that executes in the new text, which none of the old ones has with the same value? Then
 * its name is in `key`; or "?" if the new text cannot be read. */
bool gitconfig_executes(struct str new, const struct str *old, size_t count,
			char key[GITCONFIG_KEY]);

/* Call with each value of a key ("core.hookspath", in lower case); of "includeif.path" with those of
 * any condition. */
void gitconfig_each(struct str text, const char *key, void (*call)(void *arg, struct str value),
		    void *arg);

/* The last value of a key, in `out`. False if it has none. */
bool gitconfig_value(struct str text, const char *key, struct buf *out);

#endif
