/* SPDX-License-Identifier: MIT */
/*
 * policy: which commands are refused before they run.
 *
 * A command is read as bash would read it (shell.h), wrappers are opened (shell_command.h), and every
 * simple command that is found is compared with a list of rules (shell_command.h). This is a guard rail for
 * honest models: it sees names, not what a program does. A script file, a variable ($X), a name
 * that is bound to something else all pass. The sandbox is what stops a hostile command.
 *
 * A program is known by the last part of its name, so /usr/bin/sudo and ./sudo are sudo, even if
 * there is a function or alias of that name.
 *
 * A policy does not change once it is made, and any number of threads may ask it. Judging does no
 * I/O, takes time linear in the command, and frees its memory before it returns.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/err.h"
#include "base/str.h"

enum policy_mode {
	POLICY_OFF,	/* everything passes */
	POLICY_DEFAULT, /* the rules */
	POLICY_STRICT,	/* and one simple command only: no ; && || | & newline $( ) ( ) if … */
};

struct policy;

struct policy_options {
	enum policy_mode mode;
	struct str root;     /* the absolute path of the workspace */
	struct str writable; /* more directories that commands may write, with colons between */
	struct str rules;
	bool shared_processes; /* commands see the processes of others: none is ended by its name */
};

/*
 * A new policy. `rules` extends the default list: lines
 * (or parts between ;) in the form of rule (shell_command.h); "!NAME" removes the rules for that name, "!*" all
 * rules before it; empty lines and lines that begin with # are skipped. The texts are copied.
 * NULL and INVALID_ARGUMENTS if a line cannot be understood.
 */
struct policy *policy_new(const struct policy_options *o, struct err *e);
void policy_free(struct policy *p);

/* May this shell text run? `diverted`: policy_diverts is true for a variable that it gets. 0; or -1
 * with COMMAND_BLOCKED, which names the word and the rule. A text that bash cannot parse is judged
 * as far as it can be read; the shell will say what is wrong. */
int policy_check(const struct policy *p, struct str command, bool diverted, struct err *e);

/* May this program with these arguments run, without a shell? */
int policy_check_argv(const struct policy *p, const struct str *argv, size_t n, bool diverted,
		      struct err *e);

/* Does a variable, NAME=value, lead programs elsewhere than their arguments say, as a proxy does?
 */
bool policy_diverts(struct str variable);

#endif
