/* SPDX-License-Identifier: MIT */
/* registry: every tool there is, one line each, in the order models see them. */

#include "base/own.h"
#include "tools/tool.h"

extern const struct tool tool_read, tool_write, tool_edit, tool_ls, tool_find, tool_grep,
	tool_search, tool_bash;
extern const struct tool tool_read_file, tool_write_file, tool_list_directory, tool_run_command,
	tool_search_files, tool_edit_file, tool_multi_edit, tool_find_files, tool_job_list,
	tool_job_output, tool_job_stop;

static const struct tool *const tools[] = {
	/* clang-format off */
	&tool_read, &tool_write, &tool_edit, &tool_ls, &tool_find, &tool_grep, &tool_search, &tool_bash,
	&tool_read_file,
	&tool_write_file,
	&tool_list_directory,
	&tool_run_command,
	&tool_search_files,
	&tool_edit_file,
	&tool_multi_edit,
	&tool_find_files,
	&tool_job_list,
	&tool_job_output,
	&tool_job_stop,
	&tool_jobs, &tool_job, &tool_stop_job, &tool_execute,
	&tool_upload, &tool_download, &tool_list, &tool_exists, &tool_get_file, &tool_put_file,
	&tool_delete_file,
	/* clang-format on */
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

const struct tool *tool_for_model(struct str name, struct err *e)
{
	const struct tool *t = tool_by_name(name, TOOL_MODEL);
	char room[512];
	struct buf names = buf_over(room, sizeof room);

	if (t)
		return t;
	tool_names(TOOL_MODEL, &names);
	(void)err_set(e, ERR_UNKNOWN_TOOL, "There is no tool \"%.*s\". The tools are: %.*s",
		      STR_FMT(str_upto(name, 100)), STR_FMT(buf_str(&names)));
	return NULL;
}

void tool_names(unsigned flags, struct buf *out)
{
	const char *separator = "";

	for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
		if (!(tools[i]->flags & flags))
			continue;
		buf_addf(out, "%s%s", separator, tools[i]->name);
		separator = ", ";
	}
}
