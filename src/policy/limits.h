/* SPDX-License-Identifier: MIT */
/* limits: every number that limits judging commands, with its reason. */
#ifndef POLICY_LIMITS_H
#define POLICY_LIMITS_H

enum {
	/* Nesting of a judged command: substitutions, subshells, `bash -c` in `env` in `xargs` …
	 * The reader recurses once per level; people never write ten. */
	LIMIT_SHELL_DEPTH = 64,
	/* Text of all words that one judged command may produce: a command has at most 1 MiB, and
	 * every step makes the text shorter. */
	LIMIT_SHELL_TEXT = 64 << 20,

	/* Memory for judging one command. The worst megabyte (`a;a;a…`) takes about 60 MiB. */
	LIMIT_POLICY_MEMORY = 128 << 20,
	/* The text of all command rules that the operator sets. */
	LIMIT_POLICY_RULES = 256 << 10,
};

#endif
