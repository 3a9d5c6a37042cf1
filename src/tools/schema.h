/* SPDX-License-Identifier: MIT */
/*
 * schema: the definitions of the tools for models and clients, in nine dialects, most of them
 * written from the tables of the tools.
 *
 *	ollama			short: its server drops defaults and limits, and small models do
 *				better without rare arguments
 *	openai			for chat completions
 *	openai-strict		the same with "strict": every property is required, and optional
 *				ones are nullable
 *	openai-responses	without the inner object "function"
 *	anthropic		with "input_schema"
 *	gemini			one group of "functionDeclarations"
 *	mcp			with annotations, as in tools/list; with an output schema if
 *				results are structured
 *	anthropic-native	the provider's own tools, which it knows by type and name …
 *	openai-native		… or by type alone; the full set has an older one, too
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
	SCHEMA_ANTHROPIC_NATIVE,
	SCHEMA_OPENAI_NATIVE,
	SCHEMA_DIALECTS,
};

/* The names of the dialects, and of the sets of tools; both end with NULL. */
extern const char *const schema_formats[], *const schema_sets[];

/* TOOL_CORE for models; TOOL_MODEL, all tools, for MCP, because its clients choose themselves. */
unsigned schema_default_set(enum schema_dialect d);

/* What is offered, and how. */
struct schema_offer {
	enum schema_dialect dialect;
	unsigned set; /* TOOL_CORE or TOOL_MODEL: all tools that have the flag */
	struct run_times times;
	bool structured;      /* MCP: results have structured content, and a schema for it */
	int64_t result_bytes; /* MCP: the longest result */
	bool memory;	      /* anthropic-native: there is a place for memories */
};

/* Write the array for a request to a model. */
void schema_write(struct jw *w, const char *name, const struct schema_offer *offer);

/* The definition of one tool for models; the dialect is not a native one. */
void schema_write_one(struct jw *w, const struct tool *t, const struct schema_offer *offer);

/*
 * Choose by names: `format` names a dialect, empty for ollama; `set_name` is "core" or "full",
 * empty for `set`, or for the dialect's default set if that is 0. If `set` is TOOL_CORE there are
 * no other tools, whatever the name says. INVALID_ARGUMENTS for any other name. The rest is as it
 * is unless the operator sets something else.
 */
int schema_choose(struct str format, struct str set_name, unsigned set, struct schema_offer *ret,
		  struct err *e);

/* For the description of the HTTP API: write the schema of one argument, of an object of arguments
 * (which may have other members), of an object of fields, and of a tool's observation. */
void schema_arg(struct jw *w, const char *name, const struct arg *a);
void schema_args(struct jw *w, const char *name, const struct arg *table);
void schema_fields(struct jw *w, const char *name, const struct field *table);
void schema_observation(struct jw *w, const char *name, const struct tool *t);

/* For people: docs/tools.md, and the list of tools in sidecar(1). */
void schema_write_markdown(struct buf *out);
void schema_write_mdoc(struct buf *out);

#endif
