/* SPDX-License-Identifier: MIT */
/* aliases: take arguments by the names that models learned elsewhere. */

#include "tools/aliases.h"

#include "base/own.h"

/* How the value of an alias becomes that of the argument. */
enum conversion {
	SAME,
	FIRST_LINE,   /* some count lines from 0: the first line is 1 */
	LINE_COUNT,   /* the last line follows from the first one */
	MILLISECONDS, /* below 1000 nobody means these, but seconds */
	NOTHING,      /* the argument only tells people what the call is for */
};

/* The first row counts whose argument the tool has. */
static const struct alias {
	const char *name, *means;
	enum conversion conversion;
} aliases[] = {
	{ "file_path", "path" },
	{ "filePath", "path" },
	{ "absolute_path", "path" },
	{ "dir_path", "path" },
	{ "directory", "path" },
	{ "directory", "cwd" },
	{ "workdir", "cwd" },
	{ "dir_path", "cwd" },
	{ "file_text", "content" },
	{ "old_string", "old_text" },
	{ "oldString", "old_text" },
	{ "old_str", "old_text" },
	{ "new_string", "new_text" },
	{ "newString", "new_text" },
	{ "new_str", "new_text" },
	{ "replaceAll", "replace_all" },
	{ "query", "pattern" },
	{ "glob", "file_pattern" },
	{ "include", "file_pattern" },
	{ "cmd", "command" },
	{ "is_background", "background" },
	{ "run_in_background", "background" },
	{ "description", "command", NOTHING },
	{ "timeout", "timeout_ms", MILLISECONDS },
	{ "offset", "start_line", FIRST_LINE },
	{ "limit", "end_line", LINE_COUNT },
};

/* What a member stands for; NULL if it is no alias here. */
static const struct alias *alias_find(const struct arg *table, const struct json *arguments,
				      struct str name)
{
	if (arg_find(table, name))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(aliases); i++) {
		const struct alias *a = &aliases[i];
		if (!str_eq(str_of(a->name), name) || !arg_find(table, str_of(a->means)))
			continue;
		return a->conversion != NOTHING && json_get(arguments, str_of(a->means)) ? NULL : a;
	}
	return NULL;
}

/* The first line that is asked for, by either name. */
static int64_t first_line(const struct json *arguments)
{
	const int64_t first =
		json_int(arguments, STR("start_line"), json_int(arguments, STR("offset"), 1));

	return first < 1 ? 1 : first;
}

/* A whole number; small models quote numbers. */
static bool whole_of(const struct json *v, int64_t *ret)
{
	if (v->type == JSON_STRING)
		return str_int(str_trim(v->string), ret);
	if (v->type != JSON_NUMBER || !v->whole)
		return false;
	*ret = v->integer;
	return true;
}

static int64_t converted(enum conversion how, int64_t value, const struct json *arguments)
{
	switch (how) {
	case FIRST_LINE:
		return value == 0 ? 1 : value;
	case LINE_COUNT: {
		const int64_t first = first_line(arguments);
		return value < INT64_MAX - first ? first + value - 1 : INT64_MAX;
	}
	case MILLISECONDS:
		return value > 0 && value < 1000 ? value * 1000 : value;
	case SAME:
	case NOTHING:
		break;
	}
	return value;
}

/* The value of an alias, as a member of the name that it means. */
static void rename_member(struct json *v, const struct alias *a, const struct json *arguments)
{
	int64_t value;

	v->name = str_of(a->means);
	if (a->conversion == SAME || !whole_of(v, &value))
		return;
	v->type = JSON_NUMBER;
	v->whole = true;
	v->integer = converted(a->conversion, value, arguments);
	v->number = (double)v->integer;
}

/* Whether anything is to be renamed, here or in the items of an argument. */
static bool has_alias(const struct arg *table, const struct json *arguments)
{
	for (const struct json *v = arguments->first; v; v = v->next) {
		const struct arg *a = arg_find(table, v->name);
		if (alias_find(table, arguments, v->name))
			return true;
		for (const struct json *item = a && a->of && v->type == JSON_ARRAY ? v->first
										   : NULL;
		     item; item = item->next)
			if (item->type == JSON_OBJECT && has_alias(a->of, item))
				return true;
	}
	return false;
}

/* The items of an argument that is an array of objects, each by the right names. */
static struct json *resolve_items(const struct arg *table, const struct json *list,
				  struct arena *arena)
{
	struct json *first = NULL, **end = &first;

	for (const struct json *item = list->first; item; item = item->next) {
		struct json *copy = arena_array(arena, 1, sizeof(struct json));
		if (!copy)
			return NULL;
		*copy = item->type == JSON_OBJECT ? *aliases_resolve(table, item, arena) : *item;
		copy->next = NULL;
		*end = copy;
		end = &copy->next;
	}
	return first;
}

const struct json *aliases_resolve(const struct arg *table, const struct json *arguments,
				   struct arena *arena)
{
	if (arguments->type != JSON_OBJECT || !has_alias(table, arguments))
		return arguments;
	struct json *ret = arena_array(arena, 1, sizeof(struct json));
	if (!ret)
		return arguments;
	*ret = *arguments;
	struct json **end = &ret->first;
	for (const struct json *v = arguments->first; v; v = v->next) {
		const struct alias *alias = alias_find(table, arguments, v->name);
		const struct arg *a = arg_find(table, v->name);
		if (alias && alias->conversion == NOTHING)
			continue;
		struct json *copy = arena_array(arena, 1, sizeof(struct json));
		if (!copy)
			return arguments;
		*copy = *v;
		if (alias)
			rename_member(copy, alias, arguments);
		else if (a && a->of && v->type == JSON_ARRAY)
			copy->first = resolve_items(a->of, v, arena);
		*end = copy;
		end = &copy->next;
	}
	*end = NULL;
	return ret;
}
