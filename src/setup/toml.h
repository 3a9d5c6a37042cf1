/* SPDX-License-Identifier: MIT */
/*
 * toml: change one value in a text of TOML, and nothing else.
 *
 * Every function reads a text and writes a new one: what it does not change stays byte for byte,
 * comments and line ends included. A new value goes where a person would put it: into its table,
 * after the dotted keys of the same name, into an inline table, or into a new table at the end.
 *
 * Values are given as TOML that fits on a line. Tables in arrays ([[x]]) are left alone and never
 * found. The reader knows the syntax, not every rule: it does not judge dates, nor keys that are
 * defined twice, of which the last one counts. A text that it cannot read is INVALID_CONFIG; the
 * sentence names the line.
 */
#ifndef SETUP_TOML_H
#define SETUP_TOML_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "setup/key_path.h"

/* The value's text; p is NULL if there is none. For a table that is not inline it is empty, but p
 * is set. */
int toml_find(struct str text, const struct key_path *at, struct str *ret, struct err *e);

/* Give the value at these keys. INVALID_CONFIG if a value, or an array of tables, is where a table
 * has to be, or a table where the value has to be. */
int toml_set(struct str text, const struct key_path *at, struct str value, struct buf *out,
	     struct err *e);

/* Remove the value, or the head of a table in which nothing is left; without one, or if the table
 * has values, the text stays as it is. */
int toml_remove(struct str text, const struct key_path *at, struct buf *out, struct err *e);

/* The name of the i-th table or value below these keys, from 0, in the order of the text; each
 * name once. False after the last. The name is in `memory`. */
struct arena;
bool toml_name(struct str text, const struct key_path *at, size_t i, struct arena *memory,
	       struct str *name);

#endif
