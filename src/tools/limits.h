/* SPDX-License-Identifier: MIT */
/* limits: of the tools; base/limits.h has those that others share. */
#ifndef TOOLS_LIMITS_H
#define TOOLS_LIMITS_H

#include "base/limits.h"

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

	/* What one answer shows of a text: the wire contract. */
	LIMIT_HEAD_LINES = 2000,
	LIMIT_HEAD_BYTES = 50 << 10,

	/* Results of a search unless the caller asks for another number: the wire contract. */
	LIMIT_FIND_RESULTS = 1000,
	LIMIT_GREP_MATCHES = 100,
	/* Characters shown of a matching line: the wire contract. */
	LIMIT_GREP_LINE = 500,

	/* The time for a command in the wire contract. */
	LIMIT_BASH_MS = 300 * 1000,

	/* How long one request for the output of a job may wait. */
	LIMIT_JOB_NEWS_MS = 60000,

	/* An image is sent as base64 in one answer. */
	LIMIT_IMAGE_BYTES = 20 << 20,

	/* An image that a model is shown: what providers take. */
	LIMIT_MODEL_IMAGE = 5 * 1000 * 1000,

	/* Largest file in which a failed edit looks for similar text, in nine times the memory. */
	LIMIT_EDIT_HINT_BYTES = 4 << 20,
	/* Largest file that is edited or replaced, which happens in memory. */
	LIMIT_EDIT_BYTES = 64 << 20,

	/* Bytes, and names of a directory, that are looked at without a turn: some 0.1 ms, so that
	 * what is small never waits for what is large. */
	LIMIT_AT_ONCE = 256 << 10,
	LIMIT_AT_ONCE_NAMES = 4096,

	/* What a model reads of a file in one call; a larger file is read by lines. */
	LIMIT_READ_FILE = 1 << 20,

	/* What is kept of stdout and stderr of a command, each: about 13,000 tokens. */
	LIMIT_COMMAND_OUTPUT = 50 << 10,

	/* A line of a command's output while it can still be redrawn; the columns of the terminal
	 * that a program may think it has; the first bytes by which binary output is known; and
	 * what LIMIT_OUTPUT_CHUNK bytes can become: eight of them fill a line with blanks. */
	LIMIT_SCREEN_LINE = 16 << 10,
	LIMIT_SCREEN_COLUMNS = 240,
	LIMIT_SCREEN_SAMPLE = 8 << 10,
	LIMIT_SCREEN_ASIDE = 4 << 20,

	/* What is shown of a line that does not fit into a result. */
	LIMIT_LONG_LINE = 16000,

	/* Of such a result: what is kept free for the lines about the result itself. */
	LIMIT_RESULT_NOTES = 600,

	/* The whole output of commands that results could not show: of one command, of all
	 * together, how many, and how much of one is collected before it gets a file. */
	LIMIT_KEPT_OUTPUT = 16 << 20,
	LIMIT_KEPT_ALL = 64 << 20,
	LIMIT_KEPT = 256,
	LIMIT_KEPT_EARLY = 128 << 10,

	/* Time for a model's command unless it asks for another: the model waits for it. By MCP it
	 * waits longer, and may ask for the third. */
	LIMIT_RUN_MS = 30 * 1000,
	LIMIT_MCP_RUN_MS = 120 * 1000,
	LIMIT_MCP_COMMAND_MS = 3600 * 1000,

	/* Names looked at, in one directory and in the whole workspace, to suggest a file in the
	 * place of one that is not there. */
	LIMIT_SUGGEST_NAMES = 10000,
	LIMIT_SUGGEST_WALK = 20000,

	/* Entries of a model's listing, and how many levels of directories it may show. */
	LIMIT_LIST_ENTRIES = 500,
	LIMIT_LIST_DEPTH = 5,

	/* A model's search: matches unless it asks for another number, the most it may ask for, and
	 * lines of context on each side. */
	LIMIT_SEARCH_MATCHES = 50,
	LIMIT_SEARCH_MOST = 1000,
	LIMIT_SEARCH_AROUND = 20,

	/* One page of /search: its matches; its globs and types, each. */
	LIMIT_PAGE_MATCHES = 10000,
	LIMIT_SEARCH_FILTERS = 64,

	/* Edits of one file in one call. */
	LIMIT_EDITS = 1000,

	/* What is kept of each output of a program whose caller wants all of it: both fit into one
	 * answer even if every byte has to be escaped. */
	LIMIT_EXECUTE_OUTPUT = 3 << 20,

	/* Changes, or paths of a change, in one answer: usually, and at most. */
	LIMIT_CHANGES_PAGE = 100,
	LIMIT_CHANGES_MOST = 1000,

	/* The contents of all files of one patch, which are in memory together; and what is told of
	 * them: the diff of one file, of all, and of all for a model. */
	LIMIT_PATCH_CONTENT = 128 << 20,
	LIMIT_PATCH_DIFF = 1 << 20,
	LIMIT_PATCH_DIFFS = 16 << 20,
	LIMIT_PATCH_SHOWN = 256 << 10,
};

#endif
