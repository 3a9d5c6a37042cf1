/* SPDX-License-Identifier: MIT */
/* parse: from the text of a pattern to its tree. */
#ifndef REGEX_PARSE_H
#define REGEX_PARSE_H

#include "regex/ast.h"
#include "regex/options.h"

/* The tree of a pattern, or of plain text (regex_options.literal); its memory is the arena's.
 * Fails with INVALID_REGEX. */
int regex_parse(struct str pattern, const struct regex_options *o, struct arena *a,
		struct ast_pattern *ret, struct err *e);

#endif
