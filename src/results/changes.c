/* SPDX-License-Identifier: MIT */
/* changes: what calls have changed: a list of it, one change with its paths or as a diff, and what
 * was taken back. */

#include <stdio.h>

#include "base/own.h"
#include "base/utc.h"
#include "base/utf8.h"
#include "changes/content.h"
#include "changes/entry.h"
#include "changes/limits.h"
#include "guard/hidden.h"
#include "results/limits.h"
#include "results/results.h"

static void write_time(struct jw *w, int64_t ms)
{
	char text[UTC_TEXT];

	jw_str(w, "time", utc_iso(ms / 1000, (int)(ms % 1000), text));
}

static bool is_undoable(const struct change_entry *entry)
{
	return !(entry->flags & (CHANGE_UNSAVED | CHANGE_OPEN));
}

static void write_summary(struct jw *w, const struct known_change *known)
{
	const struct change_entry *entry = &known->entry;
	const struct change *ch = &known->change;

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

int changes_members(const struct way *out, struct result *r, struct err *e)
{
	struct jw *w = out->members;

	(void)e;
	jw_array(w, "changes");
	for (size_t i = 0; i < r->changes.count; i++) {
		jw_object(w, NULL);
		write_summary(w, &r->changes.list[i]);
		jw_end(w);
	}
	jw_end(w);
	jw_bool(w, "more", r->changes.more);
	jw_int(w, "total", (int64_t)r->changes.total);
	if (r->changes.older)
		jw_int(w, "older", (int64_t)r->changes.older);
	else
		jw_null(w, "older");
	return 0;
}

int changes_text(const struct way *out, struct result *r, struct err *e)
{
	struct buf *text = out->text->text;

	(void)e;
	if (r->changes.count == 0)
		buf_add(text, STR("[no changes]\n"));
	for (size_t i = 0; i < r->changes.count; i++) {
		const struct change_entry *entry = &r->changes.list[i].entry;
		const struct change *ch = &r->changes.list[i].change;
		char time[UTC_TEXT];
		buf_addf(text, "%llu  %.*s  %.*s  %.*s ", (unsigned long long)entry->id,
			 STR_FMT(utc_iso(entry->time_ms / 1000, 0, time)), STR_FMT(ch->tool),
			 STR_FMT(str_upto(ch->subject, 100)));
		for (int kind = 0; kind < ITEM_TIMES; kind++)
			if (entry->counts[kind])
				buf_addf(text, " %u %s", entry->counts[kind],
					 item_kind_name((enum item_kind)kind));
		if (entry->flags & CHANGE_OPEN)
			buf_add(text, STR(" (goes on)"));
		if (entry->undone_by)
			buf_addf(text, " (undone by %llu)", (unsigned long long)entry->undone_by);
		if (entry->flags & CHANGE_UNSAVED)
			buf_add(text, STR(" (cannot be undone)"));
		buf_addc(text, '\n');
	}
	if (r->changes.older)
		buf_addf(text, "[%zu of %zu; older ones: before=%llu]\n", r->changes.count,
			 r->changes.total, (unsigned long long)r->changes.older);
	return 0;
}

static void write_state(const struct way *out, const struct change_item *item, bool after)
{
	struct jw *w = out->members;
	const char *name = after ? "after" : "before";
	const struct path_state *s = after ? &item->after : &item->before;
	uint8_t digest[SHA256_SIZE];
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
	if (content_digest(out->c->shared->journal, item, after, digest))
		jw_str(w, "hash", sha256_text(digest, text));
	else
		jw_null(w, "hash");
	jw_end(w);
}

/* Whether undo can restore what was there. */
static bool is_saved(const struct call *c, const struct change_item *item)
{
	const struct entry_store s = { .blobs = journal_blobs(c->shared->journal) };

	if (item->before.type != STATE_FILE)
		return true;
	return entry_is_kept(&s, &item->before) || entry_same_content(&item->before, &item->after);
}

/* Its content is not for those who ask. */
static bool is_hidden(const struct way *out, const struct change_item *item)
{
	struct hidden *h = out->c->shared->hidden;

	return h && (hidden_path(h, item->path) || hidden_path(h, item_was(item)));
}

static void write_item(const struct way *out, const struct change_item *item)
{
	struct jw *w = out->members;

	jw_object(w, NULL);
	jw_str(w, "path", item->path);
	jw_str(w, "kind", str_of(item_kind_name(item->kind)));
	if (item->from.n)
		jw_str(w, "from", item->from);
	if (is_hidden(out, item)) {
		jw_null(w, "before");
		jw_null(w, "after");
		jw_bool(w, "hidden", true);
	} else {
		write_state(out, item, false);
		write_state(out, item, true);
	}
	jw_bool(w, "saved", is_saved(out->c, item));
	jw_end(w);
}

int change_wire(const struct way *out, struct result *r, struct err *e)
{
	const struct change_shown *shown = &r->change;
	const struct change *ch = &shown->known.change;
	int64_t n = 0;

	(void)e;
	write_summary(out->members, &shown->known);
	jw_array(out->members, "paths");
	for (size_t i = 0; i < ch->item_count; i++) {
		if (ch->items[i].kind == ITEM_TIMES)
			continue;
		if (n >= shown->offset && n - shown->offset < shown->limit)
			write_item(out, &ch->items[i]);
		n++;
	}
	jw_end(out->members);
	jw_bool(out->members, "more", n - shown->limit > shown->offset);
	return 0;
}

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
	buf_addf(out, "%s %s: %.*s", what, item_kind_name(item->kind), STR_FMT(item->path));
	if (item->from.n)
		buf_addf(out, " (was %.*s)", STR_FMT(item->from));
	if (item->kind == ITEM_MODIFIED && item->before.mode != item->after.mode)
		buf_addf(out, " (mode %04o, was %04o)", item->after.mode, item->before.mode);
	buf_addc(out, '\n');
}

static int show_diff(const struct way *way, const struct change_item *item, struct err *e)
{
	AUTO_BUF old = { .max = LIMIT_DIFF_FILE }, new = { .max = LIMIT_DIFF_FILE };
	struct buf *out = way->text->text;
	struct journal *j = way->c->shared->journal;
	const bool files = item->before.type == STATE_FILE || item->after.type == STATE_FILE;

	if (item->kind == ITEM_TIMES)
		return 0;
	if (is_hidden(way, item)) {
		show_named(out, item, "Hidden file");
		return 0;
	}
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
	if (!content_before(j, item, &old) || !content_after(j, item, &new)) {
		show_named(out, item, "File whose content is not kept");
		return 0;
	}
	if (!is_text(&old) || !is_text(&new)) {
		show_named(out, item, "Binary file");
		return 0;
	}
	show_names(out, item);
	return diff_unified(buf_str(&old), buf_str(&new), way->c->arena, out, e);
}

/* A unified diff. */
int change_text(const struct way *out, struct result *r, struct err *e)
{
	const struct change *ch = &r->change.known.change;

	for (size_t i = 0; i < ch->item_count; i++)
		if (show_diff(out, &ch->items[i], e) < 0)
			return -1;
	return 0;
}

static void write_paths(struct jw *w, const char *name, const char *count_name,
			const struct str *paths, size_t count)
{
	jw_array(w, name);
	for (size_t i = 0; i < count && i < LIMIT_UNDO_PATHS; i++)
		jw_str(w, NULL, paths[i]);
	jw_end(w);
	jw_int(w, count_name, (int64_t)count);
}

static void write_conflicts(struct jw *w, const struct undo_check *said)
{
	jw_array(w, "conflicts");
	for (size_t i = 0; i < said->conflict_count && i < LIMIT_UNDO_PATHS; i++) {
		jw_object(w, NULL);
		jw_str(w, "path", said->conflicts[i].path);
		jw_str(w, "why", str_of(said->conflicts[i].why));
		jw_end(w);
	}
	jw_end(w);
	jw_int(w, "conflict_count", (int64_t)said->conflict_count);
}

int undone_members(const struct way *out, struct result *r, struct err *e)
{
	const struct undo_result *did = &r->undone.did;
	const struct undo_check *said = &did->said;
	struct jw *w = out->members;

	(void)e;
	if (did->change)
		jw_int(w, "change", (int64_t)did->change);
	else
		jw_null(w, "change");
	write_paths(w, "restored", "restored_count", said->restored, said->restored_count);
	write_paths(w, "removed", "removed_count", said->removed, said->removed_count);
	jw_array(w, "renamed");
	for (size_t i = 0; i < said->renamed_count && i < LIMIT_UNDO_PATHS; i++) {
		jw_object(w, NULL);
		jw_str(w, "from", said->renamed[i].from);
		jw_str(w, "to", said->renamed[i].to);
		jw_end(w);
	}
	jw_end(w);
	jw_int(w, "renamed_count", (int64_t)said->renamed_count);
	write_conflicts(w, said);
	jw_bool(w, "complete", !did->incomplete);
	return 0;
}

void results_write_details(const struct result *r, const struct err *e, struct buf *out)
{
	struct jw w = jw_members_to(out);

	if (r->kind == RESULT_UNDONE && e->code == ERR_CONFLICT)
		write_conflicts(&w, &r->undone.did.said);
	if (r->kind == RESULT_UNDONE && e->code == ERR_NOT_SAVED)
		write_paths(&w, "paths", "path_count", r->undone.did.said.unsaved,
			    r->undone.did.said.unsaved_count);
}

static void show_more(struct buf *out, const char *word, size_t count)
{
	if (count > LIMIT_CHANGED_PATHS)
		buf_addf(out, "%s %zu more\n", word, count - LIMIT_CHANGED_PATHS);
}

static void show_paths(struct buf *out, const char *word, const struct str *paths, size_t count)
{
	for (size_t i = 0; i < count && i < LIMIT_CHANGED_PATHS; i++)
		buf_addf(out, "%s %.*s\n", word, STR_FMT(paths[i]));
	show_more(out, word, count);
}

int undone_text(const struct way *way, struct result *r, struct err *e)
{
	const struct undo_check *said = &r->undone.did.said;
	struct buf *out = way->text->text;

	(void)e;
	if (r->undone.dry_run)
		buf_add(out, STR("[nothing was changed; this would be done]\n"));
	if (r->undone.did.incomplete)
		buf_add(out, STR("[not everything that was changed is known: this is a part of it, "
				 "perhaps not all]\n"));
	show_paths(out, "restored", said->restored, said->restored_count);
	show_paths(out, "removed", said->removed, said->removed_count);
	for (size_t i = 0; i < said->renamed_count && i < LIMIT_CHANGED_PATHS; i++)
		buf_addf(out, "renamed %.*s back to %.*s\n", STR_FMT(said->renamed[i].from),
			 STR_FMT(said->renamed[i].to));
	show_more(out, "renamed", said->renamed_count);
	for (size_t i = 0; i < said->conflict_count && i < LIMIT_CHANGED_PATHS; i++)
		buf_addf(out, "conflict: %.*s %s\n", STR_FMT(said->conflicts[i].path),
			 said->conflicts[i].why);
	show_more(out, "conflicts:", said->conflict_count);
	return 0;
}
