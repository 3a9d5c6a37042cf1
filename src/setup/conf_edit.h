/* SPDX-License-Identifier: MIT */
/*
 * conf_edit: change one value in a text of JSON or TOML, and nothing else.
 *
 * Both functions read a text and write a new one: what they do not change stays byte for byte,
 * comments, line ends and a byte order mark included. The new text is read again before they
 * return: an agent that cannot read its file has lost all of it.
 *
 * What is added to JSON looks like the text around it. An empty text, or one with comments only,
 * counts as {}. Values are given as compact JSON.
 *
 * In TOML a new value goes where a person would put it: into its table, after the dotted keys of
 * the same name, into an inline table, or into a new table at the end. Values are given as TOML
 * that fits on a line.
 */
#ifndef SETUP_CONF_EDIT_H
#define SETUP_CONF_EDIT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "setup/conf.h"

/* Give the value at these keys, or add the item, which is then the value; what is missing around it
 * is made. INVALID_CONFIG if something else is in the way. */
int conf_set(enum conf_form form, struct str text, const struct key_path *at, struct str value,
	     struct buf *out, struct err *e);

/* Remove the value or item, or the head of a table in which nothing is left; without one, or if the table
 * has values, the text stays as it is. */
int conf_remove(enum conf_form form, struct str text, const struct key_path *at, struct buf *out,
		struct err *e);

#endif
