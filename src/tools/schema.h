/* SPDX-License-Identifier: MIT */
/*
 * schema: the tools as models and clients want them described, in seven dialects, all from the one
 * table of each tool.
 *
 *	ollama			reduced: its server drops defaults and limits, and small models
 *				are better off without rare arguments
 *	openai			chat completions
 *	openai-strict		the same with "strict": every property required, optional ones
 *				nullable
 *	openai-responses	flat
 *	anthropic		input_schema
 *	gemini			one group of functionDeclarations
 *	mcp			with output schema and annotations, as in tools/list
 */
#ifndef TOOLS_SCHEMA_H
#define TOOLS_SCHEMA_H

#include <stdbool.h>

#include "base/str.h"
#include "tools/tool.h"

enum schema_dialect {
	SCHEMA_OLLAMA,
	SCHEMA_OPENAI,
	SCHEMA_OPENAI_STRICT,
	SCHEMA_OPENAI_RESPONSES,
	SCHEMA_ANTHROPIC,
	SCHEMA_GEMINI,
	SCHEMA_MCP,
	SCHEMA_DIALECTS,
};

/* The names of the dialects, and of the sets of tools; NULL behind the last. */
extern const char *const schema_formats[], *const schema_sets[];

/* TOOL_CORE for models; TOOL_MODEL, which is all, for MCP, whose clients choose themselves. */
unsigned schema_default_set(enum schema_dialect d);

/* The array to put into a model's request, with all tools that have one of the flags (TOOL_CORE or
 * TOOL_MODEL). */
void schema_write(struct jw *w, const char *name, enum schema_dialect d, unsigned set);

/*
 * The same for somebody who asks by words: a dialect's name, empty for ollama; "core", "full", or
 * empty for `set`, or for the dialect's own when that is 0. INVALID_ARGUMENTS for another word.
 */
int schema_ask(struct jw *w, struct str format, struct str words, unsigned set, struct err *e);

/* For the description of the HTTP API: the schema of one argument, of an object with arguments
 * (others are ignored there), of an object with fields, and of what models get from a tool. */
void schema_arg(struct jw *w, const char *name, const struct arg *a);
void schema_args(struct jw *w, const char *name, const struct arg *table);
void schema_fields(struct jw *w, const char *name, const struct field *table);
void schema_observation(struct jw *w, const char *name, const struct tool *t);

/* The type of an argument as JSON Schema names it. */
const char *schema_type(const struct arg *a);

#endif
