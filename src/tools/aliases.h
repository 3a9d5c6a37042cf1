/* SPDX-License-Identifier: MIT */
/*
 * aliases: what models call the arguments of other programs' tools.
 *
 * Models were trained on tools that name the same things otherwise: file_path for path, old_string
 * for old_text. Such a name has one meaning, so that it is taken as what it means; refusing it would
 * cost a turn. It is in no schema. An argument that the tool itself has is never taken for another
 * one, and a name whose meaning was given as well is left to be refused.
 */
#ifndef TOOLS_ALIASES_H
#define TOOLS_ALIASES_H

#include "base/arena.h"
#include "base/json.h"
#include "tools/args.h"

/* The arguments by the names that the table has: the same object, or a copy in the arena. */
const struct json *aliases_resolve(const struct arg *table, const struct json *arguments,
				   struct arena *arena);

#endif
