/* SPDX-License-Identifier: MIT */
/*
 * shell_command: one simple command of a shell text, as a list of words.
 *
 * The words of a command are as the program would get them, without quotes and escapes; only braces
 * {a,b} and patterns are as they are written. What is only known at run time ($VAR, a substitution)
 * is one NUL byte in the text; $HOME is known well enough to be written ~.
 *
 * Of such a command wrapper.c says what it runs, loopback.c whether it reaches further than this
 * machine, and rule.c whether it is refused.
 */
#ifndef POLICY_SHELL_COMMAND_H
#define POLICY_SHELL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
	SHELL_QUOTED = 1 << 0,	/* part of it was quoted: not a keyword */
	SHELL_UNKNOWN = 1 << 1, /* parts are known only at run time */
	SHELL_ASSIGN = 1 << 2,	/* has the form NAME=…, NAME+=… or NAME[…]=… */
};

struct shell_word {
	struct str text;
	unsigned flags;
};

struct shell_command {
	struct shell_word *words; /* never empty */
	size_t n;
	const struct str *input; /* its here-document or here-string, or NULL */
	struct shell_command *next;
};

/*
 * wrapper: commands that run other commands.
 *
 * `timeout 5 env A=1 xargs sudo` runs sudo. Opening a command tells what it would run next: other
 * words of its own (env, nohup, xargs, find -exec …) or a text in the shell's language (bash -c,
 * eval, trap, a here-document that feeds a shell). It opens one layer; the caller opens the result
 * again.
 */

/* One thing a wrapper runs. */
struct wrapped {
	struct shell_command command; /* with words if it is a command */
	struct str text;	      /* otherwise: shell text */
	bool grows;		      /* words are added to it when it runs */
	struct wrapped *next;
};

/* What the command runs besides itself, in the arena; NULL if it runs nothing that is known. */
struct wrapped *wrapper_open(const struct shell_command *c, struct arena *a);

/*
 * loopback: commands that reach no further than this machine.
 *
 * A model that has started a server wants to look at it. A command passes if all of it can be read,
 * and everything that it names is a loopback address in one of its usual spellings: localhost,
 * 127.0.0.0/8 with four decimal numbers, [::1]. Every other spelling (0x7f.1, 2130706433,
 * [::ffff:127.0.0.1]), a user before the host, an expansion, and an option that is unknown here and
 * may lead elsewhere count as not readable.
 *
 * A server on the loopback may answer with a redirection to another one, which curl -L and wget
 * follow. That is not seen here: the server is the model's own.
 */

/* A curl or wget that names at least one URL, and only such on the loopback. */
bool loopback_fetches(const struct shell_command *c);

/* A python -m http.server that listens on the loopback only, or only prints its help. */
bool loopback_serves(const struct shell_command *c);

/* Is there a variable in the text, or something like its name, that leads these programs elsewhere:
 * a proxy, or another configuration? */
bool loopback_is_diverted(struct str text);

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

/* What is known about a command besides its words. */
struct rule_scene {
	struct str root;     /* the absolute path of the workspace */
	struct str writable; /* more that commands may write (policy.h) */
	bool shared;	     /* commands see the processes of others */
	bool unsure;	/* the text may set what leads programs elsewhere (policy/loopback.c) */
	bool grows;	/* words are added to it when it runs */
	bool looked_up; /* the text looks processes up by name */
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

/* The name in the rule's list that the command has; p is NULL if it has none. */
struct str rule_name(const struct rule *r, struct str command);

/* Does the rule refuse the command? */
bool rule_refuses(const struct rule *r, const struct shell_command *c, const struct rule_scene *s);

#endif
