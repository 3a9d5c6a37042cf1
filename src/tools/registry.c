/* SPDX-License-Identifier: MIT */
/* registry: every tool there is, one line each, in the order models see them. */

#include "base/own.h"
#include "tools/tool.h"

extern const struct tool tool_read, tool_write, tool_edit, tool_ls, tool_find, tool_grep, tool_bash;

static const struct tool *const tools[] = {
	&tool_read, &tool_write, &tool_edit, &tool_ls, &tool_find, &tool_grep, &tool_bash,
};

const struct tool *tool_at(size_t i)
{
	return i < ARRAY_LEN(tools) ? tools[i] : NULL;
}

const struct tool *tool_by_name(struct str name, unsigned flags)
{
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		if (tools[i]->flags & flags && str_eq(str_of(tools[i]->name), name))
			return tools[i];
	return NULL;
}
