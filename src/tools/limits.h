/* SPDX-License-Identifier: MIT */
/* limits: of the tools; base/limits.h has those that others share. */
#ifndef TOOLS_LIMITS_H
#define TOOLS_LIMITS_H

enum {
	/* Sessions whose shell is remembered. A new one takes the place of the one that was used
	 * least recently. */
	LIMIT_SHELLS = 64,
	/* Sessions whose shell was dropped for that, of which their next command is told; 32 KB. */
	LIMIT_SHELLS_DROPPED = 4096,
	/* What a shell leaves for the next one: variables and functions. Version managers define
	 * some hundred kilobytes of functions. */
	LIMIT_SHELL_STATE = 1 << 20,
	/* Jobs that a restart of the shell ends: the last that its commands left running. */
	LIMIT_SHELL_JOBS = 16,
	/* How often a call that waits for its turn in a shell looks whether it is still wanted. */
	LIMIT_SHELL_LOOK_MS = 100,
	/* Entries of a directory that its listing looks at, those included that it leaves out. */
	LIMIT_VIEW_SEEN = 10000,
	/* Changes that an undo_edit reads to find the one that it takes back. */
	LIMIT_UNDO_LOOKED = 100,
	/* Lines that the message about a text that occurs several times names. */
	LIMIT_LINES_NAMED = 20,
	/* Commands in one call of OpenAI's shell. Models send a few. */
	LIMIT_SHELL_COMMANDS = 64,
};

#endif
