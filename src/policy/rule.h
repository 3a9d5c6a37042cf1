/* SPDX-License-Identifier: MIT */
/*
 * rule: one line that says which commands are refused.
 *
 *	NAME [ARGUMENT …] [# REASON]
 *
 * NAME is the command's name, without a directory. A command is refused when its name matches and
 * every ARGUMENT is found among its arguments, in any order. In both, * stands for any text, ?
 * for one byte, [+=] for one of these, and a|b for either. Some arguments mean more:
 *
 *	-x		the option x, alone or in a bundle: -x, -vxf
 *	--long		the option, also shortened or with a value: --long, --lo, --long=3
 *	@outside	a path outside the workspace: absolute, or beginning with ~ or $HOME
 *
 * After -- there are no options.
 */
#ifndef POLICY_RULE_H
#define POLICY_RULE_H

#include "base/err.h"
#include "policy/shell_command.h"

struct rule {
	struct str name, arguments; /* the pattern's two parts */
	struct str reason;	    /* what the refusal calls the rule */
	struct str advice;	    /* what to do instead, a sentence; may be empty */
	bool bare;		    /* a relative path such as bin/NAME is another program */
};

/* The default list. */
const struct rule *rule_defaults(size_t *n);

/* Read one line that is neither empty nor a comment; the rule points into it. 0, or -1 with
 * INVALID_ARGUMENTS. */
int rule_parse(struct str line, struct rule *ret, struct err *e);

/* Does the rule refuse the command? `root` is the absolute path of the workspace. */
bool rule_matches(const struct rule *r, const struct shell_command *c, struct str root);

/* The last part of a command's name: sudo for /usr/bin/sudo. */
struct str rule_basename(struct str name);

#endif
