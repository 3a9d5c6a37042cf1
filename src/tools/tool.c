/* SPDX-License-Identifier: MIT */
/* tool: every tool there is, from a JSON object to its argument struct, and what it may do. */

#include "tools/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"
#include "exec/proc.h"
#include "guard/guard.h"
#include "scrub/scrub.h"
#include "tools/limits.h"
#include "workspace/workspace.h"

extern const struct tool tool_read, tool_write, tool_edit, tool_ls, tool_find, tool_grep,
	tool_search, tool_bash, tool_patch, tool_stat, tool_mkdir, tool_rename, tool_copy;
extern const struct tool tool_read_file, tool_write_file, tool_list_directory, tool_run_command,
	tool_search_files, tool_edit_file, tool_multi_edit, tool_find_files, tool_job_list,
	tool_job_output, tool_job_stop, tool_list_changes, tool_undo_change, tool_apply_patch;

/* One line each, in the order in which models see them. */
static const struct tool *const tools[] = {
	/* clang-format off */
	&tool_read, &tool_write, &tool_edit, &tool_patch, &tool_ls, &tool_find, &tool_grep, &tool_search, &tool_bash,
	&tool_stat, &tool_exists, &tool_mkdir, &tool_rename, &tool_remove, &tool_copy,
	&tool_read_file,
	&tool_write_file,
	&tool_list_directory,
	&tool_run_command,
	&tool_search_files,
	&tool_edit_file,
	&tool_multi_edit,
	&tool_apply_patch,
	&tool_find_files,
	&tool_job_list,
	&tool_job_output,
	&tool_job_stop,
	&tool_list_changes,
	&tool_undo_change,
	&tool_changes, &tool_change, &tool_change_diff, &tool_undo,
	&tool_jobs, &tool_job, &tool_stop_job, &tool_execute,
	&tool_upload, &tool_download, &tool_list, &tool_get_file, &tool_put_file,
	&tool_validate_path, &tool_allowed_paths, &tool_policy,
	&tool_text_editor, &tool_shell_session, &tool_memory, &tool_shell, &tool_local_shell,
	&tool_patch_operation,
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

const struct tool *tool_for_model(struct str name, unsigned set, struct err *e)
{
	const struct tool *t = tool_by_name(name, set);
	char room[512];
	struct buf names = buf_over(room, sizeof room);

	if (t)
		return t;
	tool_names(set, &names);
	(void)err_set(e, ERR_UNKNOWN_TOOL, "There is no tool \"%.*s\".",
		      STR_FMT(str_upto(name, 100)));
	(void)err_advise(e, "The tools are: %.*s", STR_FMT(buf_str(&names)));
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

/* Where the value of an argument goes. */
static void *slot(const struct arg *a, void *args)
{
	return (char *)args + a->offset;
}

static void set_default(const struct arg *a, void *args)
{
	if (a->type == ARG_INT || a->type == ARG_CHOICE)
		*(int64_t *)slot(a, args) = a->def;
	else if (a->type == ARG_NUM)
		*(double *)slot(a, args) = (double)a->def;
	else if (a->type == ARG_BOOL)
		*(bool *)slot(a, args) = a->def != 0;
}

static bool bind_str(const struct arg *a, const struct json *v, bool coerce, void *to)
{
	(void)coerce;
	if (v->type != JSON_STRING)
		return false;
	if (a->flags & NONBLANK && str_trim(v->string).n == 0)
		return false;
	if (a->flags & NO_NUL && str_index(v->string, '\0') >= 0)
		return false;
	*(struct str *)to = v->string;
	return true;
}

/* A decimal number as text: not "0x10" and not "inf". */
static bool parse_number(struct str s, double *ret)
{
	char text[32], *end;

	if (s.n == 0 || s.n >= sizeof text)
		return false;
	(void)snprintf(text, sizeof text, "%.*s", STR_FMT(s));
	*ret = strtod(text, &end);
	return strspn(text, "+-.0123456789eE") == s.n && *end == '\0';
}

/* A number, or with `coerce` a string that is one: small models quote numbers. */
static bool as_number(const struct json *v, bool coerce, double *ret)
{
	if (v->type == JSON_NUMBER) {
		*ret = v->number;
		return !isnan(v->number);
	}
	return coerce && v->type == JSON_STRING && parse_number(str_trim(v->string), ret);
}

static bool bind_num(const struct arg *a, const struct json *v, bool coerce, void *to)
{
	double number;

	if (!as_number(v, coerce, &number) || number < (double)a->min || number > (double)a->max)
		return false;
	*(double *)to = number;
	return true;
}

static bool bind_int(const struct arg *a, const struct json *v, bool coerce, void *to)
{
	double number;

	if (!as_number(v, coerce, &number))
		return false;
	/* The wire's clients may send 2.5 or 1e300, which becomes the nearest integer towards zero.
	 * Models must send what they mean. */
	const double cut = trunc(number);
	if (coerce && (cut != number || cut < (double)a->min || cut > (double)a->max))
		return false;
	*(int64_t *)to = cut >= 9.2e18 ? INT64_MAX : cut <= -9.2e18 ? INT64_MIN : (int64_t)cut;
	return true;
}

static bool bind_bool(const struct arg *a, const struct json *v, bool coerce, void *to)
{
	const bool quoted = coerce && v->type == JSON_STRING;
	const bool yes = quoted && str_eq_nocase(v->string, STR("true"));

	(void)a;
	if (v->type != JSON_BOOL && !yes && !(quoted && str_eq_nocase(v->string, STR("false"))))
		return false;
	*(bool *)to = v->type == JSON_BOOL ? v->boolean : yes;
	return true;
}

static bool bind_choice(const struct arg *a, const struct json *v, bool coerce, void *to)
{
	(void)coerce;
	for (int64_t i = 0; v->type == JSON_STRING && a->choices[i]; i++) {
		if (!str_eq_nocase(str_of(a->choices[i]), v->string))
			continue;
		*(int64_t *)to = i;
		return true;
	}
	return false;
}

static bool bind_array(const struct arg *a, const struct json *v, bool coerce, void *to)
{
	const enum json_type each = a->type == ARG_OBJECTS ? JSON_OBJECT : JSON_STRING;

	(void)coerce;
	if (v->type != JSON_ARRAY && !(a->type == ARG_PAIRS && v->type == JSON_OBJECT))
		return false;
	for (const struct json *item = v->first; item; item = item->next)
		if (item->type != each)
			return false;
	*(const struct json **)to = v;
	return true;
}

static bool bind_json(const struct arg *a, const struct json *v, bool coerce, void *to)
{
	(void)a;
	(void)coerce;
	if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
		return false;
	*(const struct json **)to = v;
	return true;
}

static const struct {
	bool (*bind)(const struct arg *a, const struct json *v, bool coerce, void *to);
	const char *wanted;
} types[] = {
	[ARG_STR] = { bind_str, "a string" },
	[ARG_INT] = { bind_int, "an integer" },
	[ARG_NUM] = { bind_num, "a number" },
	[ARG_BOOL] = { bind_bool, "true or false" },
	[ARG_JSON] = { bind_json, "an array or object" },
	[ARG_CHOICE] = { bind_choice, "one of" },
	[ARG_STRINGS] = { bind_array, "an array of strings" },
	[ARG_PAIRS] = { bind_array, "an array of \"NAME=value\" strings" },
	[ARG_OBJECTS] = { bind_array, "an array of objects" },
};

static bool bind_one(const struct arg *a, const struct json *v, bool coerce, void *args)
{
	return types[a->type].bind(a, v, coerce, slot(a, args));
}

static const char *wanted(const struct arg *a)
{
	return a->flags & NONBLANK ? "a non-empty string" : types[a->type].wanted;
}

static int bind_wire(const struct arg *table, const struct json *object, void *args, struct err *e)
{
	for (const struct arg *a = table; a->name; a++) {
		const struct json *v = json_get(object, str_of(a->name));
		set_default(a, args);
		if (v && bind_one(a, v, false, args))
			continue;
		if (a->flags & REQUIRED)
			return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid %s", a->name);
	}
	return 0;
}

/* What is wrong with the arguments of one call, as far as it fits one message. */
struct complaint {
	struct buf text;
	const char *where; /* before each name: "edits[1]." */
};

static void complain(struct complaint *c, struct str name)
{
	buf_addf(&c->text, "%s%s%.*s ", c->text.n ? "; " : "", c->where,
		 STR_FMT(str_upto(name, 60)));
}

static void describe_wrong(struct complaint *c, const struct arg *a, const struct json *v)
{
	const bool number = a->type == ARG_INT || a->type == ARG_NUM;
	struct buf *b = &c->text;

	complain(c, str_of(a->name));
	if (a->flags & NO_NUL && v->type == JSON_STRING && str_index(v->string, '\0') >= 0) {
		buf_add(b, STR("must not contain a NUL byte"));
		return;
	}
	buf_addf(b, "must be %s", wanted(a));
	if (number && a->min > INT64_MIN)
		buf_addf(b, " from %lld", (long long)a->min);
	if (number && a->max < INT64_MAX)
		buf_addf(b, " to %lld", (long long)a->max);
	for (size_t i = 0; a->type == ARG_CHOICE && a->choices[i]; i++)
		buf_addf(b, "%s %s", i ? "," : "", a->choices[i]);
	if (v->type == JSON_STRING)
		buf_addf(b, ", not \"%.*s\"", STR_FMT(str_upto(v->string, 60)));
	else if (v->type == JSON_NUMBER && v->whole)
		buf_addf(b, ", not %lld", (long long)v->integer);
	else if (v->type == JSON_NUMBER)
		buf_addf(b, ", not %.15g", v->number);
	else if (v->type != JSON_ARRAY || types[a->type].bind != bind_array)
		buf_addf(b, ", not %s", json_type_name(v)); /* else only its items are wrong */
}

const struct arg *arg_find(const struct arg *table, struct str name)
{
	for (const struct arg *a = table; a->name; a++)
		if (str_eq(str_of(a->name), name))
			return a;
	return NULL;
}

static void describe_unknown(struct complaint *c, const struct arg *table, struct str name)
{
	complain(c, name);
	buf_addf(&c->text, "is not an argument (there are%s", table->name ? "" : " none");
	for (const struct arg *a = table; a->name; a++)
		buf_addf(&c->text, "%s %s", a == table ? "" : ",", a->name);
	buf_addc(&c->text, ')');
}

/* What models send for an optional argument that they do not want to give: null, or an empty string
 * where that has no meaning. */
static bool means_absent(const struct arg *a, const struct json *v)
{
	const bool has_meaning = a->flags & REQUIRED || !(a->flags & NONBLANK);

	return v->type == JSON_NULL ||
	       (v->type == JSON_STRING && !has_meaning && str_trim(v->string).n == 0);
}

static void bind_members(const struct arg *table, const struct json *object, void *args,
			 struct complaint *c)
{
	for (const struct arg *a = table; a->name; a++) {
		const struct json *v = json_get(object, str_of(a->name));
		set_default(a, args);
		if (v && means_absent(a, v))
			v = NULL;
		if (v && !bind_one(a, v, true, args)) {
			describe_wrong(c, a, v);
		} else if (!v && a->flags & REQUIRED) {
			complain(c, str_of(a->name));
			buf_addf(&c->text, "is missing (%s)", wanted(a));
		}
	}
	for (const struct json *v = object->first; v; v = v->next)
		if (!arg_find(table, v->name) && !str_eq(v->name, STR("sessionId")))
			describe_unknown(c, table, v->name);
}

/* The items of an ARG_OBJECTS argument are bound when the tool asks for them, but what is wrong
 * with them is said now, with everything else. */
static void check_items(const struct arg *a, const struct json *list, struct complaint *c)
{
	_Alignas(16) char item[ARG_ITEM_SIZE] = { 0 };
	char where[80];
	size_t i = 0;

	for (const struct json *v = list->first; v && !c->text.failed; v = v->next, i++) {
		(void)snprintf(where, sizeof where, "%s[%zu].", a->name, i);
		c->where = where;
		bind_members(a->of, v, item, c);
	}
	c->where = "";
}

static int bind_model(const struct tool *t, const struct json *object, void *args, struct err *e)
{
	char text[800];
	struct complaint c = { buf_over(text, sizeof text), "" };

	bind_members(t->args, object, args, &c);
	for (const struct arg *a = t->args; a->name; a++)
		if (a->type == ARG_OBJECTS && *(const struct json **)slot(a, args))
			check_items(a, *(const struct json **)slot(a, args), &c);
	if (c.text.n)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Invalid arguments for %s: %.*s%s",
			       t->name, STR_FMT(buf_str(&c.text)), c.text.failed ? " ..." : "");
	return 0;
}

void tool_bind_item(const struct arg *table, const struct json *item, void *args)
{
	char text[8];
	struct complaint ignored = { buf_over(text, sizeof text), "" };

	bind_members(table, item, args, &ignored);
}

int tool_bind(const struct tool *t, const struct json *object, void *args, struct err *e)
{
	return t->flags & (TOOL_WIRE | TOOL_ROUTE) ? bind_wire(t->args, object, args, e)
						   : bind_model(t, object, args, e);
}

int tool_call(const struct tool *t, struct call *c, const struct json *object, struct result *ret,
	      struct err *e)
{
	void *args = arena_array(c->arena, 1, t->args_size);

	if (!args)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	if (tool_bind(t, object, args, e) < 0)
		return -1;
	if (tool_is_slow(t, object) &&
	    (t->flags & TOOL_WORKS ? call_before_work(c, e) : call_before_slow(c, e)) < 0)
		return -1;
	return t->run(c, args, ret, e);
}

int call_before_slow(const struct call *c, struct err *e)
{
	if (!c->thread.before_slow || c->thread.before_slow(c->thread.arg))
		return 0;
	return err_set(e, ERR_TOO_BUSY, "Too many calls take long already, try again later");
}

int call_before_work(const struct call *c, struct err *e)
{
	const int64_t deadline = call_deadline(c);
	const bool waits = c->thread.turn && !c->thread.turn->held;

	/* A call that cannot wait is refused before a thread is started for others. */
	if ((waits && turn_check(c->thread.turn, e) < 0) || call_before_slow(c, e) < 0)
		return -1;
	if (!waits)
		return 0;
	return turn_take(c->thread.turn, c->cancel, deadline ? deadline : IO_FOREVER, e);
}

int call_before_bytes(const struct call *c, int64_t bytes, struct err *e)
{
	return bytes > LIMIT_AT_ONCE ? call_before_work(c, e) : 0;
}

bool call_may_work(const struct call *c)
{
	struct err ignored;

	return call_before_slow(c, &ignored) == 0 &&
	       (!c->thread.turn || c->thread.turn->held || turn_more(c->thread.turn, 1));
}

unsigned call_threads(const struct call *c)
{
	return c->thread.turn && c->thread.turn->held
		       ? 1 + turn_more(c->thread.turn, c->shared->threads - 1)
		       : 1;
}

int call_may_go_on(void *call, struct err *e)
{
	const struct call *c = call;

	if (call_before_work(c, e) < 0)
		return -1;
	return cancel_asked(c->cancel)
		       ? err_set(e, ERR_EXECUTION_ERROR, "%s", cancel_sentence(c->cancel))
		       : 0;
}

int64_t call_deadline(const struct call *c)
{
	return c->shared->search_ms > 0 ? c->began_ms + c->shared->search_ms : 0;
}

int call_path(const struct call *c, struct str requested, struct path *ret, struct err *e)
{
	return ws_resolve(c->shared->ws, requested, c->policy, ret, e);
}

int call_may_run(const struct call *c, struct err *e)
{
	if (c->shared->runner)
		return 0;
	if (c->shared->read_only)
		return err_set(e, ERR_READ_ONLY,
			       "Commands are refused in read-only mode here: %.*s",
			       STR_FMT(c->shared->no_commands));
	return err_set(e, ERR_SPAWN_FAILED, "%.*s", STR_FMT(c->shared->no_commands));
}

const struct run_times run_times_model = { LIMIT_RUN_MS, LIMIT_COMMAND_MS };
const struct run_times run_times_mcp = { LIMIT_MCP_RUN_MS, LIMIT_MCP_COMMAND_MS };

struct proc_request call_command(const struct call *c)
{
	static const struct proc_limits none;

	return (struct proc_request){
		.cwd_fd = -1,
		.umask = 022,
		.env = c->shared->variables,
		.env_count = c->for_model ? c->shared->variable_count : 0,
		.survivors = c->shared->survivors,
		.limits = c->shared->limits ? *c->shared->limits : none,
		.call = c->about.number,
	};
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

int call_permits(const struct call *c, const struct path *p, struct err *e)
{
	char name[2 * PATH_MAX];

	if (!c->guarded || !c->shared->guard)
		return 0;
	(void)ws_absolute(c->shared->ws, p, name);
	return guard_permits_name(c->shared->guard, name, e);
}

int call_may_change(const struct call *c, struct err *e)
{
	if (!c->shared->read_only)
		return 0;
	return err_set(e, ERR_READ_ONLY,
		       "The workspace is read-only: nothing can be written, edited or created");
}

int call_may_write(const struct call *c, struct str content, struct str old, struct err *e)
{
	if (!c->scrub || !scrub_mark_added(content, old))
		return 0;
	(void)err_set(e, ERR_REDACTED_CONTENT,
		      "The content carries a [REDACTED:...] mark, which stands for a secret you "
		      "were not shown: writing it would destroy the secret.");
	return err_advise(e, "Leave those lines out of the change.");
}
