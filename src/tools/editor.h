/* SPDX-License-Identifier: MIT */
/*
 * editor: view, create, str_replace and insert, as Anthropic's models were trained on them.
 *
 * Each command is one of our own tools with other names of arguments; what the model reads is what
 * the provider documents, followed by what ours say more: the diff, and why a text was not found.
 * The text editor works on the workspace, the memory tool (memory.c) on a directory of its own; for
 * both a struct editor says which file is meant and what the model calls it.
 */
#ifndef TOOLS_EDITOR_H
#define TOOLS_EDITOR_H

#include "tools/tool.h"

struct editor {
	struct str path;  /* for our tools */
	struct str shown; /* as the model wrote it */
	bool memory;	  /* it is a memory: nothing is overwritten, and it is called so */
};

/* The arguments of both tools. Those that were not given are empty, or NULL. */
struct editor_args {
	int64_t command;
	struct str path;
	const struct json *view_range; /* [first, last]; -1: to the end */
	struct str file_text, old_str, new_str, insert_text;
	int64_t insert_line; /* EDITOR_NO_LINE: not given */
	struct str old_path, new_path;
};

enum { EDITOR_NO_LINE = -1 };

/* What both tools can do, in this order in their lists of commands. */
enum editor_command {
	EDITOR_VIEW,
	EDITOR_CREATE,
	EDITOR_STR_REPLACE,
	EDITOR_INSERT,
	EDITOR_OTHERS, /* the first that only one of them has */
};

/* The rows of an argument table that both have. */
#define EDITOR_ARGS                                                                                \
	A_STR(struct editor_args, path, "path", NONBLANK, "File or directory"),                    \
		A_JSON(struct editor_args, view_range, "view_range", 0, "First and last line"),    \
		A_STR(struct editor_args, file_text, "file_text", 0, "The whole content"),         \
		A_STR(struct editor_args, old_str, "old_str", 0, "Text to replace"),               \
		A_STR(struct editor_args, new_str, "new_str", 0, "Text in its place"),             \
		A_INT(struct editor_args, insert_line, "insert_line", EDITOR_NO_LINE, 0,           \
		      INT64_MAX, "Line after which it comes"),                                     \
		A_STR(struct editor_args, insert_text, "insert_text", 0, "Lines to insert")

/* Do one of the commands above. */
int editor_run(struct call *c, const struct editor *to, const struct editor_args *a,
	       struct result *ret, struct err *e);

/* "Missing `name` parameter for command: word". Returns -1. */
int editor_missing(struct err *e, const char *name, const char *command);

#endif
