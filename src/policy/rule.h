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
 *
 * A rule that refuses a program altogether still lets it tell its version and its help.
 */
#ifndef POLICY_RULE_H
#define POLICY_RULE_H

#include "base/err.h"
#include "policy/shell_command.h"

/* What is known about a command besides its words. */
struct rule_scene {
	struct str root; /* the absolute path of the workspace */
	bool shared;	 /* commands see the processes of others */
	bool unsure;	 /* the text may set what leads programs elsewhere (policy/loopback.h) */
	bool grows;	 /* words are added to it when it runs */
	bool looked_up;	 /* the text looks processes up by name */
};

struct rule {
	struct str name, arguments; /* the pattern's two parts */
	struct str reason;	    /* what the refusal calls the rule */
	struct str advice;	    /* what to do instead, a sentence; may be empty */
	bool bare;		    /* a relative path such as bin/NAME is another program */
	bool h_acts;		    /* -h is not a request for help */
	bool shared;		    /* only where commands see the processes of others */
	/* Refuses only then; NULL: always. */
	bool (*when)(const struct shell_command *c, const struct rule_scene *s);
	/* Does not refuse then, if the whole of it can be read; NULL: never. */
	bool (*unless)(const struct shell_command *c);
};

/* The default list. */
const struct rule *rule_defaults(size_t *n);

/* Read one line that is neither empty nor a comment; the rule points into it. 0, or -1 with
 * INVALID_ARGUMENTS. */
int rule_parse(struct str line, struct rule *ret, struct err *e);

/* Does the rule refuse the command? */
bool rule_refuses(const struct rule *r, const struct shell_command *c, const struct rule_scene *s);

#endif
