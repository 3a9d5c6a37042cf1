/* SPDX-License-Identifier: MIT */
/* changes: what calls have changed: a list, one of them with its paths, and as a diff. */

#include "base/limits.h"
#include "base/own.h"
#include "changes/limits.h"
#include "changes/settle.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/tool.h"
#include "workspace/path.h"

struct changes_args {
	int64_t id, since, before, limit, offset;
	struct str session, tool, path;
};

int call_has_journal(const struct call *c, struct err *e)
{
	if (!c->shared->journal)
		return err_set(e, ERR_CHANGE_NOT_FOUND, "Changes are not kept: %.*s",
			       STR_FMT(c->shared->no_journal));
	(void)settle_all(c->shared->journal);
	return 0;
}

static int no_memory(struct err *e)
{
	return err_set(e, ERR_TOO_BUSY, "Not enough memory to list the changes");
}

/* Whether a change was about that path, or something below it. */
static bool touches_path(const struct change *ch, struct str path)
{
	struct str below;

	for (size_t i = 0; i < ch->item_count; i++)
		if (ch->items[i].kind != ITEM_TIMES &&
		    (path_within(path, ch->items[i].path, &below) ||
		     path_within(path, item_was(&ch->items[i]), &below)))
			return true;
	return path.n == 0;
}

/* Whether the change is one of those that are asked for, by what only its record says. */
static bool is_asked_for(const struct call *c, const struct changes_args *a, struct str path,
			 struct change_entry *entry)
{
	AUTO_ARENA memory = { .max = LIMIT_CALL_MEMORY };
	struct change ch;
	struct err e;

	if (a->session.n && entry->session != journal_session(a->session))
		return false;
	if (!a->tool.n && !a->path.n)
		return true;
	if (journal_read(c->shared->journal, entry, a->path.n > 0, &memory, &ch, &e) < 0)
		return false;
	return (!a->tool.n || str_eq(a->tool, ch.tool)) && (!a->path.n || touches_path(&ch, path));
}

/* The entries that are asked for: those of the page are *count from *ret on, and *list says what
 * else there is. */
static int list_entries(const struct call *c, const struct changes_args *a,
			struct change_entry **ret, size_t *count, struct change_list *list,
			struct err *e)
{
	const size_t most = (size_t)a->limit;
	struct change_entry *all = arena_array(c->arena, LIMIT_CHANGES + 1, sizeof *all);
	struct path path = { .base = PATH_WORKSPACE };

	if (!all)
		return no_memory(e);
	if (a->path.n && call_path(c, a->path, &path, e) < 0)
		return -1;
	const size_t known = journal_list(c->shared->journal, 0, all, LIMIT_CHANGES);
	size_t n = 0, after = 0, end = 0;
	for (size_t i = 0; i < known && i < LIMIT_CHANGES; i++) {
		if (!is_asked_for(c, a, str_of(path.name), &all[i]))
			continue;
		all[n] = all[i];
		after += a->since >= 0 && all[n].id <= (uint64_t)a->since;
		end += !a->before || all[n].id < (uint64_t)a->before;
		n++;
	}
	/* Without a place to begin at, the newest ones. */
	const size_t first = a->since >= 0 ? after : end > most ? end - most : 0;
	const size_t last = end > first + most ? first + most : end;
	*ret = all + first;
	*count = last > first ? last - first : 0;
	list->total = n;
	list->more = last < n;
	list->older = first > 0 && *count ? all[first].id : 0;
	return 0;
}

static int changes_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	struct change_entry *entries;
	size_t count = 0;

	ret->kind = RESULT_CHANGES;
	ret->changes = (struct change_list){ .count = 0 };
	if (call_has_journal(c, e) < 0 ||
	    list_entries(c, args, &entries, &count, &ret->changes, e) < 0)
		return -1;
	struct known_change *list = arena_array(c->arena, count + 1, sizeof *list);
	if (!list)
		return no_memory(e);
	ret->changes.list = list;
	for (size_t i = 0; i < count; i++) {
		struct known_change *known = &list[ret->changes.count];
		struct err gone;
		known->entry = entries[i];
		if (journal_read(c->shared->journal, &entries[i], false, c->arena, &known->change,
				 &gone) == 0)
			ret->changes.count++;
	}
	return 0;
}

#define SUMMARY_FIELDS                                                                             \
	{ "id", "Its number", FIELD_INT }, { "time", "When it began", FIELD_STR },                 \
		{ "tool", "The tool that made it", FIELD_STR },                                    \
		{ "subject", "The path or command it was called with", FIELD_STR },                \
		{ "session", "The session that made it, or empty", FIELD_STR },                    \
		{ "created", "How many paths are new", FIELD_INT },                                \
		{ "modified", "How many were changed", FIELD_INT },                                \
		{ "deleted", "How many are gone", FIELD_INT },                                     \
		{ "renamed", "How many have another name", FIELD_INT },                            \
		{ "complete", "Whether everything is known that it changed", FIELD_BOOL },         \
		{ "open", "Whether something of its command still runs", FIELD_BOOL },             \
		{ "undoable", "Whether what was there is saved", FIELD_BOOL },                     \
	{                                                                                          \
		"undone_by", "The change that undid it, or null", FIELD_INT, FIELD_NULLABLE        \
	}

static const struct field summary_fields[] = { SUMMARY_FIELDS, F_END };

static const struct field changes_fields[] = {
	{ "changes", "Oldest first", FIELD_OBJECT, FIELD_LIST, summary_fields },
	{ "more", "Whether there are newer ones: ask for those since the last id", FIELD_BOOL },
	{ "total", "How many there are of those that were asked for", FIELD_INT },
	{ "older", "If there are older ones: ask for those before this id; else null", FIELD_INT,
	  FIELD_NULLABLE },
	F_END,
};

static const struct arg changes_table[] = {
	A_INT(struct changes_args, since, "since", -1, -1, INT64_MAX,
	      "Only after this number; default: the newest"),
	A_INT(struct changes_args, before, "before", 0, 0, INT64_MAX, "Only before this number"),
	A_INT(struct changes_args, limit, "limit", LIMIT_CHANGES_PAGE, 1, LIMIT_CHANGES_MOST,
	      "Most changes"),
	A_STR(struct changes_args, session, "session", 0, "Only of this session"),
	A_STR(struct changes_args, tool, "tool", 0, "Only by this tool"),
	A_STR(struct changes_args, path, "path", 0, "Only of this path, or what is below it"),
	A_END,
};

const struct tool tool_changes = {
	.name = "changes",
	.about = "List the changes that calls have made.",
	.args = changes_table,
	.args_size = sizeof(struct changes_args),
	.fields = changes_fields,
	.flags = TOOL_ROUTE | TOOL_READ_ONLY,
	.run = changes_run,
};

const struct tool tool_list_changes = {
	.name = "list_changes",
	.title = "List changes",
	.about = "List what tools and commands have changed; undo_change takes it back.",
	.args = changes_table,
	.args_size = sizeof(struct changes_args),
	.fields = changes_fields,
	.flags = TOOL_MODEL | TOOL_READ_ONLY | TOOL_IDEMPOTENT,
	.run = changes_run,
};

static int change_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct changes_args *a = args;
	struct known_change *known = &ret->change.known;

	if (call_has_journal(c, e) < 0 ||
	    journal_find(c->shared->journal, (uint64_t)a->id, &known->entry, e) < 0)
		return -1;
	ret->kind = RESULT_CHANGE;
	ret->change.offset = a->offset;
	ret->change.limit = a->limit;
	return journal_read(c->shared->journal, &known->entry, true, c->arena, &known->change, e);
}

static const struct field state_fields[] = {
	{ "type", "file, directory, link …", FIELD_STR },
	{ "size", "Its bytes", FIELD_INT },
	{ "mode", "Its permissions, in octal", FIELD_STR },
	{ "hash", "SHA-256 of a file's content; null if it is not known", FIELD_STR,
	  FIELD_NULLABLE },
	F_END,
};

static const struct field path_fields[] = {
	{ "path", "Where it is now; of a deleted one, where it was", FIELD_STR },
	{ "kind", "created, modified, deleted or renamed", FIELD_STR },
	{ "from", "Where it was before, if that is another path", FIELD_STR, FIELD_OPTIONAL },
	{ "before", "What was there; null if nothing was", FIELD_OBJECT, FIELD_NULLABLE,
	  state_fields },
	{ "after", "What is there then; null if nothing is", FIELD_OBJECT, FIELD_NULLABLE,
	  state_fields },
	{ "saved", "Whether what was there can be restored", FIELD_BOOL },
	{ "hidden", "It is hidden from agents: what it was and is is not shown", FIELD_BOOL,
	  FIELD_OPTIONAL },
	F_END,
};

static const struct field change_fields[] = {
	SUMMARY_FIELDS,
	{ "paths", "What it changed", FIELD_OBJECT, FIELD_LIST, path_fields },
	{ "more", "Whether there are more paths: ask with offset", FIELD_BOOL },
	F_END,
};

static const struct arg change_table[] = {
	A_INT(struct changes_args, id, "id", 0, 0, INT64_MAX, "Which change"),
	A_INT(struct changes_args, offset, "offset", 0, 0, INT64_MAX, "Leave out this many paths"),
	A_INT(struct changes_args, limit, "limit", LIMIT_CHANGES_MOST, 1, LIMIT_CHANGES_MOST,
	      "At most this many paths"),
	A_END,
};

const struct tool tool_change = {
	.name = "change",
	.about = "One change with the paths that it changed.",
	.args = change_table,
	.args_size = sizeof(struct changes_args),
	.fields = change_fields,
	.flags = TOOL_ROUTE | TOOL_READ_ONLY | TOOL_SLOW | TOOL_WORKS,
	.run = change_run,
};

static const struct arg diff_table[] = {
	A_INT(struct changes_args, id, "id", 0, 0, INT64_MAX, "Which change"),
	A_END,
};

/* The same as text, which is a diff. */
const struct tool tool_change_diff = {
	.name = "change_diff",
	.about = "What a change did to the content of files, as a unified diff.",
	.args = diff_table,
	.args_size = sizeof(struct changes_args),
	.flags = TOOL_ROUTE | TOOL_READ_ONLY | TOOL_SLOW | TOOL_WORKS,
	.run = change_run,
};

static const struct field changed_path_fields[] = {
	{ "path", "Where it is, or was", FIELD_STR },
	{ "kind", "created, modified, deleted or renamed", FIELD_STR },
	{ "from", "Where it was before it was renamed", FIELD_STR, FIELD_OPTIONAL },
	{ "saved", "False if its old content was not kept", FIELD_BOOL, FIELD_OPTIONAL },
	F_END,
};

const struct field changed_fields[] = {
	{ "id", "The change, for undo_change", FIELD_INT },
	{ "created", "How many paths are new", FIELD_INT },
	{ "modified", "How many are different", FIELD_INT },
	{ "deleted", "How many are gone", FIELD_INT },
	{ "renamed", "How many have another name", FIELD_INT },
	{ "open", "It goes on: something of the command still runs", FIELD_BOOL, FIELD_OPTIONAL },
	{ "complete", "False: more may have changed than is known", FIELD_BOOL, FIELD_OPTIONAL },
	{ "undoable", "False if some old content was not kept", FIELD_BOOL, FIELD_OPTIONAL },
	{ "paths", "The first 50 of them", FIELD_OBJECT, FIELD_LIST, changed_path_fields },
	F_END,
};
