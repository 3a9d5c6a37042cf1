/* SPDX-License-Identifier: MIT */
/* tool: every tool there is, and what all of them ask of the call that they carry out. */

#include "tools/tool.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utf8.h"
#include "exec/proc.h"
#include "scrub/scrub.h"
#include "workspace/text.h"
#include "workspace/workspace.h"

extern const struct tool tool_read, tool_write, tool_edit, tool_ls, tool_find, tool_grep,
	tool_search, tool_bash;
extern const struct tool tool_read_file, tool_write_file, tool_list_directory, tool_run_command,
	tool_search_files, tool_edit_file, tool_multi_edit, tool_find_files, tool_job_list,
	tool_job_output, tool_job_stop;

/* One line each, in the order in which models see them. */
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

bool tool_is_slow(const struct tool *t, const struct json *object)
{
	if (!(t->flags & TOOL_SLOW) || !t->slow_with)
		return t->flags & TOOL_SLOW;
	const struct json *v = json_get(object, str_of(t->slow_with));
	return v && v->type != JSON_NULL && !(v->type == JSON_BOOL && !v->boolean);
}

int tool_bind(const struct tool *t, const struct json *object, void *args, struct err *e)
{
	return t->flags & (TOOL_WIRE | TOOL_ROUTE)
		       ? args_bind_wire(t->args, object, args, e)
		       : args_bind_model(t->name, t->args, object, args, e);
}

int tool_call(const struct tool *t, struct call *c, const struct json *object, struct err *e)
{
	void *args = arena_array(c->arena, 1, t->args_size);

	if (tool_is_slow(t, object) && call_before_slow(c, e) < 0)
		return -1;
	if (!args)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	if (tool_bind(t, object, args, e) < 0)
		return -1;
	return t->run(c, args, e);
}

void call_limit(struct call *c, int64_t bytes)
{
	if (bytes > 0)
		c->max_bytes = bytes;
}

int64_t call_room(const struct call *c)
{
	const size_t used = c->text ? c->text->text->n : jw_length(c->out);

	if (!c->max_bytes)
		return INT64_MAX;
	const int64_t left = c->max_bytes - LIMIT_RESULT_NOTES - (int64_t)used;
	return left > 0 ? left : 0;
}

void call_note(const struct call *c, const char *fmt, ...)
{
	struct buf *text = c->text->text;
	char room[LIMIT_RESULT_NOTES];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(room, sizeof room, fmt, ap);
	va_end(ap);
	if (text->n && text->p[text->n - 1] != '\n')
		buf_addc(text, '\n');
	buf_addf(text, "[%.*s]", (int)utf8_whole(str_of(room)), room);
}

int call_before_slow(const struct call *c, struct err *e)
{
	if (!c->before_slow || c->before_slow(c->before_slow_arg))
		return 0;
	return err_set(e, ERR_TOO_BUSY, "Too many calls take long already, try again later");
}

int call_may_go_on(void *call, struct err *e)
{
	const struct call *c = call;

	if (call_before_slow(c, e) < 0)
		return -1;
	return cancel_asked(c->cancel) ? err_set(e, ERR_EXECUTION_ERROR, "The call was cancelled")
				       : 0;
}

int64_t call_deadline(const struct call *c)
{
	return c->search_ms > 0 ? io_now_ms() + c->search_ms : 0;
}

int call_path(const struct call *c, struct str requested, struct path *ret, struct err *e)
{
	return ws_resolve(c->ws, requested, c->policy, ret, e);
}

int call_may_run(const struct call *c, struct err *e)
{
	if (c->runner)
		return 0;
	if (c->read_only)
		return err_set(e, ERR_READ_ONLY,
			       "Commands are refused in read-only mode here: %.*s",
			       STR_FMT(c->no_commands));
	return err_set(e, ERR_SPAWN_FAILED, "%.*s", STR_FMT(c->no_commands));
}

const struct run_times run_times_model = { LIMIT_RUN_MS, LIMIT_COMMAND_MS };
const struct run_times run_times_mcp = { LIMIT_MCP_RUN_MS, LIMIT_MCP_COMMAND_MS };

struct proc_request call_command(const struct call *c)
{
	static const struct proc_limits none;

	return (struct proc_request){
		.cwd_fd = -1,
		.umask = 022,
		.env = c->variables,
		.env_count = c->variable_count,
		.keep_survivors = c->keep_survivors,
		.limits = c->limits ? *c->limits : none,
	};
}

struct str call_shown_command(const struct call *c, const char *command, size_t size)
{
	const struct str text = str_of(command);

	/* Up to three bytes of a broken character have been left out already. */
	if (!c->scrub || text.n + 4 < size)
		return text;
	return str_upto(text, scrub_decided(c->scrub, text));
}

const char *const call_encodings[] = { [CALL_UTF8] = "utf-8", [CALL_BASE64] = "base64", NULL };

int call_decode(const struct call *c, const char *name, struct str text, int64_t encoding,
		struct str *ret, struct err *e)
{
	if (encoding != CALL_BASE64) {
		*ret = text;
		return 0;
	}
	char *bytes = arena_alloc(c->arena, base64_room(text.n) + 1);
	if (!bytes)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	const ptrdiff_t n = base64_decode(text, bytes);
	if (n < 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid %s", name);
	*ret = (struct str){ bytes, (size_t)n };
	return 0;
}

int call_may_change(const struct call *c, struct err *e)
{
	if (!c->read_only)
		return 0;
	return err_set(e, ERR_READ_ONLY,
		       "The workspace is read-only: nothing can be written, edited or created");
}

int call_may_write(const struct call *c, struct str content, struct str old, struct err *e)
{
	if (!c->scrub || !scrub_mark_added(content, old))
		return 0;
	return err_set(
		e, ERR_REDACTED_CONTENT,
		"The content carries a [REDACTED:...] mark, which stands for a secret you were not "
		"shown: writing it would destroy the secret. Leave those lines out of the change.");
}

int call_reserve(const struct call *c, struct err *e)
{
	enum { NUMBERS = 128 }; /* two of them, with their names */

	if (!jw_failed(c->out) && buf_room(jw_buf(c->out), NUMBERS + LIMIT_ENVELOPE_END))
		return 0;
	return err_set(e, ERR_TOO_BUSY, "Not enough memory for the answer, try again");
}

static const char *const cut_words[] = { "lines", "bytes", NULL };

const struct field truncation_fields[] = {
	{ "content", "What is left of the text", FIELD_STR },
	{ "truncated", "Whether something was left out", FIELD_BOOL },
	{ "truncatedBy", "Which limit came first", FIELD_STR, FIELD_NULLABLE,
	  .choices = cut_words },
	{ "totalLines", "Lines of the selected part", FIELD_INT },
	{ "totalBytes", "Its bytes", FIELD_INT },
	{ "outputLines", "Lines that are left", FIELD_INT },
	{ "outputBytes", "Bytes that are left", FIELD_INT },
	{ "lastLinePartial", "Never: lines are whole", FIELD_BOOL },
	{ "firstLineExceedsLimit", "Whether the first line alone is too long", FIELD_BOOL },
	{ "maxLines", "The limit of lines", FIELD_INT },
	{ "maxBytes", "The limit of bytes", FIELD_INT },
	F_END,
};

void call_write_truncation(const struct call *c, const struct text *t, int64_t max_lines,
			   int64_t max_bytes)
{
	struct jw *w = c->out;

	if (t->cut == TEXT_WHOLE)
		return;
	jw_object(w, "truncation");
	jw_str(w, "content", t->content);
	jw_bool(w, "truncated", true);
	jw_str(w, "truncatedBy", t->cut == TEXT_CUT_LINES ? STR("lines") : STR("bytes"));
	jw_int(w, "totalLines", t->lines);
	jw_int(w, "totalBytes", t->bytes);
	jw_int(w, "outputLines", t->out_lines);
	jw_int(w, "outputBytes", t->out_bytes);
	jw_bool(w, "lastLinePartial", false);
	jw_bool(w, "firstLineExceedsLimit", t->first_too_long);
	jw_int(w, "maxLines", max_lines);
	jw_int(w, "maxBytes", max_bytes);
	jw_end(w);
}
