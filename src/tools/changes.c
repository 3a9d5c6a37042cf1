/* SPDX-License-Identifier: MIT */
/* changes: what calls have changed: a list, one of them with its paths, and as a diff. */

#include <stdio.h>

#include "base/own.h"
#include "base/utc.h"
#include "base/utf8.h"
#include "changes/content.h"
#include "changes/entry.h"
#include "changes/journal.h"
#include "changes/limits.h"
#include "tools/changed.h"
#include "tools/limits.h"
#include "tools/tool.h"
#include "workspace/diff.h"

struct changes_args {
	int64_t id, since, limit, offset;
};

int call_has_journal(const struct call *c, struct err *e)
{
	return c->journal ? 0
			  : err_set(e, ERR_CHANGE_NOT_FOUND, "Changes are not kept: %.*s",
				    STR_FMT(c->no_journal));
}

static void write_time(struct jw *w, int64_t ms)
{
	char text[UTC_TEXT];

	jw_str(w, "time", utc_iso(ms / 1000, (int)(ms % 1000), text));
}

static bool is_undoable(const struct change_entry *entry)
{
	return !(entry->flags & (CHANGE_UNSAVED | CHANGE_OPEN));
}

static void write_summary(struct jw *w, const struct change_entry *entry, const struct change *ch)
{
	jw_int(w, "id", (int64_t)entry->id);
	write_time(w, entry->time_ms);
	jw_str(w, "tool", ch->tool);
	jw_str(w, "subject", str_upto(ch->subject, utf8_whole(ch->subject)));
	jw_str(w, "session", str_upto(ch->session, utf8_whole(ch->session)));
	changed_write_counts(w, entry->counts);
	jw_bool(w, "complete", !(entry->flags & CHANGE_INCOMPLETE));
	jw_bool(w, "open", entry->flags & CHANGE_OPEN);
	jw_bool(w, "undoable", is_undoable(entry));
	if (entry->undone_by)
		jw_int(w, "undone_by", (int64_t)entry->undone_by);
	else
		jw_null(w, "undone_by");
}

/* The entries that are asked for; `more` says whether there are others after them. */
static int list_entries(const struct call *c, const struct changes_args *a,
			struct change_entry **ret, size_t *count, bool *more, struct err *e)
{
	const size_t most = (size_t)a->limit;
	struct change_entry *all = arena_array(c->arena, LIMIT_CHANGES + 1, sizeof *all);

	if (!all)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to list the changes");
	size_t n =
		journal_list(c->journal, a->since > 0 ? (uint64_t)a->since : 0, all, LIMIT_CHANGES);
	if (n > LIMIT_CHANGES)
		n = LIMIT_CHANGES;
	/* Without a place to begin at, the newest ones. */
	const size_t first = a->since < 0 && n > most ? n - most : 0;
	*ret = all + first;
	*count = n - first < most ? n - first : most;
	*more = first + *count < n;
	return 0;
}

static void show_list(const struct call *c, struct change_entry *entries, size_t count)
{
	struct buf *out = c->text->text;

	if (count == 0)
		buf_add(out, STR("[no changes]\n"));
	for (size_t i = 0; i < count; i++) {
		char time[UTC_TEXT];
		struct change ch;
		struct err e;
		if (journal_read(c->journal, &entries[i], false, c->arena, &ch, &e) < 0)
			continue;
		buf_addf(out, "%llu  %.*s  %.*s  %.*s ", (unsigned long long)entries[i].id,
			 STR_FMT(utc_iso(entries[i].time_ms / 1000, 0, time)), STR_FMT(ch.tool),
			 STR_FMT(str_upto(ch.subject, 100)));
		for (int kind = 0; kind < ITEM_TIMES; kind++)
			if (entries[i].counts[kind])
				buf_addf(out, " %u %s", entries[i].counts[kind],
					 changed_kind((enum item_kind)kind));
		if (entries[i].flags & CHANGE_OPEN)
			buf_add(out, STR(" (goes on)"));
		if (entries[i].undone_by)
			buf_addf(out, " (undone by %llu)",
				 (unsigned long long)entries[i].undone_by);
		buf_addc(out, '\n');
	}
}

static int changes_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	struct change_entry *entries;
	size_t count;
	bool more;

	if (call_has_journal(c, e) < 0 || list_entries(c, args, &entries, &count, &more, e) < 0)
		return -1;
	if (c->text) {
		show_list(c, entries, count);
		return 0;
	}
	jw_array(c->out, "changes");
	for (size_t i = 0; i < count; i++) {
		struct change ch;
		if (journal_read(c->journal, &entries[i], false, c->arena, &ch, e) < 0)
			continue;
		jw_object(c->out, NULL);
		write_summary(c->out, &entries[i], &ch);
		jw_end(c->out);
	}
	jw_end(c->out);
	jw_bool(c->out, "more", more);
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
	{ "more", "Whether there are newer ones", FIELD_BOOL },
	F_END,
};

static const struct arg changes_table[] = {
	A_INT(struct changes_args, since, "since", -1, -1, INT64_MAX,
	      "Only after this number; default: the newest"),
	A_INT(struct changes_args, limit, "limit", LIMIT_CHANGES_PAGE, 1, LIMIT_CHANGES_MOST,
	      "Most changes"),
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

static void write_state(struct jw *w, const char *name, const struct path_state *s)
{
	static const char *const types[STATE_TYPES] = {
		[STATE_NONE] = "none",	   [STATE_FILE] = "file",
		[STATE_DIR] = "directory", [STATE_LINK] = "link",
		[STATE_FIFO] = "fifo",	   [STATE_SOCKET] = "socket",
		[STATE_DEVICE] = "device", [STATE_BLOCK_DEVICE] = "device",
	};
	char text[SHA256_TEXT];

	if (s->type == STATE_NONE) {
		jw_null(w, name);
		return;
	}
	jw_object(w, name);
	jw_str(w, "type", str_of(types[s->type]));
	jw_int(w, "size", s->size);
	(void)snprintf(text, sizeof text, "%04o", s->mode);
	jw_str(w, "mode", str_of(text));
	if (s->hashed)
		jw_str(w, "hash", sha256_text(s->hash, text));
	else
		jw_null(w, "hash");
	jw_end(w);
}

/* Whether undo can restore what was there. */
static bool is_saved(const struct call *c, const struct change_item *item)
{
	const struct entry_store s = { .blobs = journal_blobs(c->journal) };

	if (item->before.type != STATE_FILE)
		return true;
	return entry_is_kept(&s, &item->before) || entry_same_content(&item->before, &item->after);
}

static void write_item(const struct call *c, struct change_item *item)
{
	content_hash_after(c->journal, item);
	jw_object(c->out, NULL);
	jw_str(c->out, "path", item->path);
	jw_str(c->out, "kind", str_of(changed_kind(item->kind)));
	if (item->from.n)
		jw_str(c->out, "from", item->from);
	write_state(c->out, "before", &item->before);
	write_state(c->out, "after", &item->after);
	jw_bool(c->out, "saved", is_saved(c, item));
	jw_end(c->out);
}

static int read_change(const struct call *c, const struct changes_args *a,
		       struct change_entry *entry, struct change *ret, struct err *e)
{
	if (call_has_journal(c, e) < 0 || journal_find(c->journal, (uint64_t)a->id, entry, e) < 0)
		return -1;
	return journal_read(c->journal, entry, true, c->arena, ret, e);
}

static int change_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct changes_args *a = args;
	struct change_entry entry;
	struct change ch;
	int64_t n = 0;

	if (read_change(c, a, &entry, &ch, e) < 0)
		return -1;
	write_summary(c->out, &entry, &ch);
	jw_array(c->out, "paths");
	for (size_t i = 0; i < ch.item_count; i++) {
		if (ch.items[i].kind == ITEM_TIMES)
			continue;
		if (n >= a->offset && n - a->offset < a->limit)
			write_item(c, &ch.items[i]);
		n++;
	}
	jw_end(c->out);
	jw_bool(c->out, "more", n - a->limit > a->offset);
	return 0;
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
	A_INT(struct changes_args, offset, "offset", 0, 0, INT64_MAX, "Leave out so many paths"),
	A_INT(struct changes_args, limit, "limit", LIMIT_CHANGES_MOST, 1, LIMIT_CHANGES_MOST,
	      "At most so many paths"),
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

static bool is_text(const struct buf *b)
{
	return str_index(buf_str(b), '\0') < 0;
}

static void show_names(struct buf *out, const struct change_item *item)
{
	if (item->before.type == STATE_NONE)
		buf_add(out, STR("--- /dev/null\n"));
	else
		buf_addf(out, "--- a/%.*s\n", STR_FMT(item_was(item)));
	if (item->after.type == STATE_NONE)
		buf_add(out, STR("+++ /dev/null\n"));
	else
		buf_addf(out, "+++ b/%.*s\n", STR_FMT(item->path));
}

/* What cannot be shown line by line is named. */
static void show_named(struct buf *out, const struct change_item *item, const char *what)
{
	buf_addf(out, "%s %s: %.*s", what, changed_kind(item->kind), STR_FMT(item->path));
	if (item->from.n)
		buf_addf(out, " (was %.*s)", STR_FMT(item->from));
	if (item->kind == ITEM_MODIFIED && item->before.mode != item->after.mode)
		buf_addf(out, " (mode %04o, was %04o)", item->after.mode, item->before.mode);
	buf_addc(out, '\n');
}

static int show_diff(const struct call *c, const struct change_item *item, struct err *e)
{
	AUTO_BUF old = { .max = LIMIT_DIFF_FILE }, new = { .max = LIMIT_DIFF_FILE };
	struct buf *out = c->text->text;
	const bool files = item->before.type == STATE_FILE || item->after.type == STATE_FILE;

	if (item->kind == ITEM_TIMES)
		return 0;
	if (!files) {
		show_named(out, item,
			   item->after.type == STATE_DIR || item->before.type == STATE_DIR
				   ? "Directory"
				   : "Special file");
		return 0;
	}
	if (item->kind != ITEM_CREATED && item->kind != ITEM_DELETED &&
	    entry_same_content(&item->before, &item->after)) {
		show_named(out, item, "File");
		return 0;
	}
	if (item->before.size >= LIMIT_DIFF_FILE || item->after.size >= LIMIT_DIFF_FILE) {
		show_named(out, item, "Large file");
		return 0;
	}
	if (!content_before(c->journal, item, &old) || !content_after(c->journal, item, &new)) {
		show_named(out, item, "File whose content is not kept");
		return 0;
	}
	if (!is_text(&old) || !is_text(&new)) {
		show_named(out, item, "Binary file");
		return 0;
	}
	show_names(out, item);
	return diff_unified(buf_str(&old), buf_str(&new), c->arena, out, e);
}

static int diff_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	struct change_entry entry;
	struct change ch;

	if (read_change(c, args, &entry, &ch, e) < 0)
		return -1;
	for (size_t i = 0; i < ch.item_count; i++)
		if (show_diff(c, &ch.items[i], e) < 0)
			return -1;
	return 0;
}

static const struct arg diff_table[] = {
	A_INT(struct changes_args, id, "id", 0, 0, INT64_MAX, "Which change"),
	A_END,
};

/* Its result is text alone. */
const struct tool tool_change_diff = {
	.name = "change_diff",
	.about = "What a change did to the content of files, as a unified diff.",
	.args = diff_table,
	.args_size = sizeof(struct changes_args),
	.flags = TOOL_ROUTE | TOOL_READ_ONLY | TOOL_SLOW | TOOL_WORKS,
	.run = diff_run,
};
